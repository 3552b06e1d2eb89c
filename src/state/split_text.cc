#include "state/split_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/packed_uuid.h"
#include "state/packed_text.h"
#include "state/sized_bytes.h"
#include "state/time_gaps.h"

namespace berth::state {
namespace {

/// What belongs at a position of a text. Several at the same position are in this order.
enum class AnchorKind : uint16_t {
  kManagedEnd,
  kMetadata,
  kVersion,
  kManagedBegin,
  // Own parts.
  kText,
  kUuid,
  kTime,
  kName,
  kAgain,  // The same value as an earlier part.
};

/// A position in the shape's text, and what belongs there.
struct ShapeAnchor {
  uint32_t offset = 0;
  AnchorKind kind = AnchorKind::kText;
  uint16_t earlier = 0;  // For kAgain, the index of the earlier part among those kept.
};
static_assert(std::has_unique_object_representations_v<ShapeAnchor>);

constexpr size_t kMostAnchors =
    OwnParts::kMost + kMostTimes + static_cast<size_t>(AnchorKind::kText);
static_assert(kMostAnchors <= UINT8_MAX);

/// How many of the kept values a later one is compared with.
constexpr size_t kMostEarlier = 8;

/// Returns a value whose bytes were appended unchanged.
template <typename T>
T ValueAt(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.substr(at, sizeof value).data(), sizeof value);
  return value;
}

// A shape is a byte with the number of anchors, then the anchors, then the text that remains.
size_t AnchorCount(std::string_view shape) { return static_cast<unsigned char>(shape.front()); }

ShapeAnchor AnchorAt(std::string_view shape, size_t index) {
  return ValueAt<ShapeAnchor>(shape, 1 + index * sizeof(ShapeAnchor));
}

std::string_view ShapeText(std::string_view shape) {
  return shape.substr(1 + AnchorCount(shape) * sizeof(ShapeAnchor));
}

/// A position in the whole text, how many bytes of it are taken out there, and what they are.
struct TextAnchor {
  size_t at;
  size_t size;
  AnchorKind kind;
};

/// All anchors of a text, in order.
class TextAnchors {
 public:
  explicit TextAnchors(const WireText& wire) {
    Add({.at = wire.metadata_at, .size = 0, .kind = AnchorKind::kMetadata});
    Add({.at = wire.version_at, .size = 0, .kind = AnchorKind::kVersion});
    for (size_t i = 0; i < wire.own.count; ++i) {
      Add({.at = wire.own.parts[i].at, .size = wire.own.parts[i].size, .kind = AnchorKind::kText});
    }
    if (wire.managed_size > 0) AddManagedFields(wire);
  }

  const TextAnchor* begin() const { return anchors_.data(); }
  const TextAnchor* end() const { return anchors_.data() + count_; }
  size_t Count() const { return count_; }

 private:
  void AddManagedFields(const WireText& wire) {
    const size_t end = wire.managed_at + wire.managed_size;
    Add({.at = wire.managed_at, .size = 0, .kind = AnchorKind::kManagedBegin});
    Add({.at = end, .size = 0, .kind = AnchorKind::kManagedEnd});
    const std::string_view text = std::string_view(wire.text).substr(0, end);
    size_t at = FindTime(text, wire.managed_at);
    for (size_t times = 0; at != std::string_view::npos && times < kMostTimes; ++times) {
      Add({.at = at, .size = kTimeSize, .kind = AnchorKind::kText});
      at = FindTime(text, at + kTimeSize);
    }
  }

  /// Inserts an anchor after all those that belong before it. Most anchors are added in order.
  void Add(const TextAnchor& anchor) {
    size_t index = count_++;
    for (; index > 0 && IsBefore(anchor, anchors_[index - 1]); --index) {
      anchors_[index] = anchors_[index - 1];
    }
    anchors_[index] = anchor;
  }
  static bool IsBefore(const TextAnchor& a, const TextAnchor& b) {
    return a.at != b.at ? a.at < b.at : a.kind < b.kind;
  }

  std::array<TextAnchor, kMostAnchors> anchors_;  // Uninitialised from count_ on.
  size_t count_ = 0;
};

class Splitter {
 public:
  Splitter(const WireText& wire, std::string_view name) : name_(name) {
    const std::string_view text = wire.text;
    const TextAnchors sources(wire);
    const size_t anchors_size = sources.Count() * sizeof(ShapeAnchor);
    shape_.reserve(1 + anchors_size + text.size());
    shape_.push_back(static_cast<char>(sources.Count()));
    shape_.resize(1 + anchors_size);
    size_t anchor_at = 1;
    size_t from = 0;
    for (const TextAnchor& source : sources) {
      shape_.append(text, from, source.at - from);
      from = source.at + source.size;
      ShapeAnchor anchor{.offset = static_cast<uint32_t>(shape_.size() - 1 - anchors_size),
                         .kind = source.kind};
      if (source.kind == AnchorKind::kText) Keep(text.substr(source.at, source.size), anchor);
      std::memcpy(shape_.data() + anchor_at, &anchor, sizeof anchor);
      anchor_at += sizeof anchor;
    }
    shape_.append(text, from);
  }

  SplitText Take() && { return {.shape = std::move(shape_), .own = std::move(own_)}; }

 private:
  void Keep(std::string_view value, ShapeAnchor& anchor) {
    if (value == name_) {
      anchor.kind = AnchorKind::kName;
      return;
    }
    const auto end = kept_.begin() + static_cast<ptrdiff_t>(kept_count_);
    const auto earlier = std::find(kept_.begin(), end, value);
    if (earlier != end) {
      anchor.kind = AnchorKind::kAgain;
      anchor.earlier = static_cast<uint16_t>(earlier - kept_.begin());
      return;
    }
    if (kept_count_ < kMostEarlier) kept_[kept_count_++] = value;
    if (const auto uuid = base::PackUuid(value)) {
      anchor.kind = AnchorKind::kUuid;
      own_.append(uuid->data(), uuid->size());
    } else if (const auto time = PackTime(value)) {
      anchor.kind = AnchorKind::kTime;
      own_.append(reinterpret_cast<const char*>(&*time), sizeof *time);
    } else {
      AppendWithCount(own_, value);
    }
  }

  const std::string_view name_;
  std::array<std::string_view, kMostEarlier> kept_ = {};
  size_t kept_count_ = 0;
  std::string shape_;
  std::string own_;
};

/// Reads the own parts in order.
class PartReader {
 public:
  PartReader(const char* own, std::string_view name) : own_(own), name_(name) {}

  struct Part {
    AnchorKind kind = AnchorKind::kText;
    std::string_view packed = {};

    size_t Size() const {
      if (kind == AnchorKind::kUuid) return base::kUuidSize;
      return kind == AnchorKind::kTime ? kTimeSize : packed.size();
    }
    void AppendTo(std::string& out) const {
      if (kind == AnchorKind::kUuid)
        return base::AppendUuid(out, ValueAt<base::PackedUuid>(packed, 0));
      if (kind == AnchorKind::kTime) return AppendTime(out, ValueAt<uint32_t>(packed, 0));
      out.append(packed);
    }
  };

  /// Returns the part at `anchor`, which must be the anchor of an own part.
  Part Next(const ShapeAnchor& anchor) {
    if (anchor.kind == AnchorKind::kName) return {.kind = AnchorKind::kText, .packed = name_};
    if (anchor.kind == AnchorKind::kAgain) return kept_[anchor.earlier];
    const Part part{.kind = anchor.kind, .packed = PackedAt(anchor.kind)};
    own_ = part.packed.data() + part.packed.size();
    if (count_ < kMostEarlier) kept_[count_++] = part;
    return part;
  }

  /// Returns the end of the part that was read last.
  const char* At() const { return own_; }

 private:
  std::string_view PackedAt(AnchorKind kind) const {
    if (kind == AnchorKind::kUuid) return {own_, sizeof(base::PackedUuid)};
    return kind == AnchorKind::kTime ? std::string_view(own_, sizeof(uint32_t)) : BytesAt(own_);
  }

  const char* own_;
  const std::string_view name_;
  std::array<Part, kMostEarlier> kept_;
  size_t count_ = 0;
};

bool IsPart(const ShapeAnchor& anchor) { return anchor.kind >= AnchorKind::kText; }

}  // namespace

bool CanSplit(const WireText& wire) {
  if (wire.own.count == 0 || wire.own.count > OwnParts::kMost) return false;
  const size_t managed_end = wire.managed_at + wire.managed_size;
  size_t from = wire.metadata_at;
  for (size_t i = 0; i < wire.own.count; ++i) {
    const size_t begin = wire.own.parts[i].at;
    const size_t end = begin + wire.own.parts[i].size;
    const auto splits = [&](size_t offset) { return begin < offset && offset < end; };
    if (begin < from || end > wire.text.size() || splits(wire.version_at)) return false;
    if (wire.managed_size > 0 && begin < managed_end && end > wire.managed_at) return false;
    from = end;
  }
  return true;
}

SplitText Split(const WireText& wire, std::string_view name) { return Splitter(wire, name).Take(); }

size_t JoinedText::OwnSize() const {
  PartReader reader(own_, name_);
  for (size_t i = 0; i < AnchorCount(shape_); ++i) {
    const ShapeAnchor anchor = AnchorAt(shape_, i);
    if (IsPart(anchor)) reader.Next(anchor);
  }
  return static_cast<size_t>(reader.At() - own_);
}

size_t JoinedText::Size() const {
  size_t size = ShapeText(shape_).size();
  PartReader reader(own_, name_);
  for (size_t i = 0; i < AnchorCount(shape_); ++i) {
    const ShapeAnchor anchor = AnchorAt(shape_, i);
    if (IsPart(anchor)) size += reader.Next(anchor).Size();
  }
  return size;
}

size_t JoinedText::AppendTo(std::string& out, const Wanted& wanted) const {
  const std::string_view text = ShapeText(shape_);
  PartReader reader(own_, name_);
  size_t version_end = 0;
  size_t from = 0;
  bool shown = !wanted.from_metadata;
  for (size_t i = 0; i < AnchorCount(shape_); ++i) {
    const ShapeAnchor anchor = AnchorAt(shape_, i);
    if (shown) out.append(text, from, anchor.offset - from);
    from = anchor.offset;
    if (IsPart(anchor)) {
      const PartReader::Part part = reader.Next(anchor);
      if (shown) part.AppendTo(out);
    } else if (anchor.kind == AnchorKind::kVersion) {
      version_end = out.append(wanted.version).size();
    } else {
      shown = anchor.kind != AnchorKind::kManagedBegin || wanted.managed_fields;
    }
  }
  out.append(text, from);
  return version_end;
}

}  // namespace berth::state
