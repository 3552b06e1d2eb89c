#include "state/split_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "state/packed_text.h"
#include "state/sized_bytes.h"
#include "state/time_gaps.h"

namespace berth::state {
namespace {

/// What happens at a place of the text that is left. At the same place in this order.
enum class Step : uint16_t {
  kManagedEnd,
  kMetadata,
  kVersion,
  kManagedBegin,
  // Parts.
  kText,
  kUuid,
  kTime,
  kName,
  kAgain,  // Like an earlier one.
};

struct Stop {
  uint32_t place = 0;
  Step step = Step::kText;
  uint16_t earlier = 0;  // kAgain: which of those that are kept.
};
static_assert(std::has_unique_object_representations_v<Stop>);

constexpr size_t kMostStops = OwnParts::kMost + kMostTimes + static_cast<size_t>(Step::kText);
static_assert(kMostStops <= UINT8_MAX);

/// So many of those that are kept are looked at for a later one that is alike.
constexpr size_t kMostEarlier = 8;

/// What was appended as it is.
template <typename T>
T ValueAt(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.substr(at, sizeof value).data(), sizeof value);
  return value;
}

// A shape is a byte with the number of stops, the stops, and the text that is left.
size_t CountOf(std::string_view shape) { return static_cast<unsigned char>(shape.front()); }

Stop StopAt(std::string_view shape, size_t index) {
  return ValueAt<Stop>(shape, 1 + index * sizeof(Stop));
}

std::string_view TextOf(std::string_view shape) {
  return shape.substr(1 + CountOf(shape) * sizeof(Stop));
}

/// Something at a place of the whole text.
struct Point {
  size_t at;
  size_t size;
  Step step;
};

/// All of them, in order.
class Points {
 public:
  explicit Points(const WireText& wire) {
    Add({.at = wire.metadata_at, .size = 0, .step = Step::kMetadata});
    Add({.at = wire.version_at, .size = 0, .step = Step::kVersion});
    for (size_t i = 0; i < wire.own.count; ++i) {
      Add({.at = wire.own.parts[i].at, .size = wire.own.parts[i].size, .step = Step::kText});
    }
    if (wire.managed_size > 0) AddManagedFields(wire);
  }

  const Point* begin() const { return points_.data(); }
  const Point* end() const { return points_.data() + count_; }
  size_t Count() const { return count_; }

 private:
  void AddManagedFields(const WireText& wire) {
    const size_t end = wire.managed_at + wire.managed_size;
    Add({.at = wire.managed_at, .size = 0, .step = Step::kManagedBegin});
    Add({.at = end, .size = 0, .step = Step::kManagedEnd});
    const std::string_view text = std::string_view(wire.text).substr(0, end);
    size_t at = FindTime(text, wire.managed_at);
    for (size_t times = 0; at != std::string_view::npos && times < kMostTimes; ++times) {
      Add({.at = at, .size = kTimeSize, .step = Step::kText});
      at = FindTime(text, at + kTimeSize);
    }
  }

  /// Behind all that belong before it; most come in order.
  void Add(const Point& point) {
    size_t place = count_++;
    for (; place > 0 && IsBefore(point, points_[place - 1]); --place) {
      points_[place] = points_[place - 1];
    }
    points_[place] = point;
  }
  static bool IsBefore(const Point& a, const Point& b) {
    return a.at != b.at ? a.at < b.at : a.step < b.step;
  }

  std::array<Point, kMostStops> points_;  // Not set from count_ on.
  size_t count_ = 0;
};

class Splitter {
 public:
  Splitter(const WireText& wire, std::string_view name) : name_(name) {
    const std::string_view text = wire.text;
    const Points points(wire);
    const size_t stops_size = points.Count() * sizeof(Stop);
    shape_.reserve(1 + stops_size + text.size());
    shape_.push_back(static_cast<char>(points.Count()));
    shape_.resize(1 + stops_size);
    size_t stop_at = 1;
    size_t from = 0;
    for (const Point& point : points) {
      shape_.append(text, from, point.at - from);
      from = point.at + point.size;
      Stop stop{.place = static_cast<uint32_t>(shape_.size() - 1 - stops_size), .step = point.step};
      if (point.step == Step::kText) Keep(text.substr(point.at, point.size), stop);
      std::memcpy(shape_.data() + stop_at, &stop, sizeof stop);
      stop_at += sizeof stop;
    }
    shape_.append(text, from);
  }

  SplitText Take() && { return {.shape = std::move(shape_), .own = std::move(own_)}; }

 private:
  void Keep(std::string_view value, Stop& stop) {
    if (value == name_) {
      stop.step = Step::kName;
      return;
    }
    const auto end = kept_.begin() + static_cast<ptrdiff_t>(kept_count_);
    const auto earlier = std::find(kept_.begin(), end, value);
    if (earlier != end) {
      stop.step = Step::kAgain;
      stop.earlier = static_cast<uint16_t>(earlier - kept_.begin());
      return;
    }
    if (kept_count_ < kMostEarlier) kept_[kept_count_++] = value;
    if (const auto uuid = PackUuid(value)) {
      stop.step = Step::kUuid;
      own_.append(uuid->data(), uuid->size());
    } else if (const auto time = PackTime(value)) {
      stop.step = Step::kTime;
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

/// Reads the own parts in their order.
class PartReader {
 public:
  PartReader(const char* own, std::string_view name) : own_(own), name_(name) {}

  struct Part {
    Step step = Step::kText;
    std::string_view packed = {};

    size_t Size() const {
      if (step == Step::kUuid) return kUuidSize;
      return step == Step::kTime ? kTimeSize : packed.size();
    }
    void AppendTo(std::string& out) const {
      if (step == Step::kUuid) return AppendUuid(out, ValueAt<PackedUuid>(packed, 0));
      if (step == Step::kTime) return AppendTime(out, ValueAt<uint32_t>(packed, 0));
      out.append(packed);
    }
  };

  /// Of a stop that is one.
  Part Next(const Stop& stop) {
    if (stop.step == Step::kName) return {.step = Step::kText, .packed = name_};
    if (stop.step == Step::kAgain) return kept_[stop.earlier];
    const Part part{.step = stop.step, .packed = PackedAt(stop.step)};
    own_ = part.packed.data() + part.packed.size();
    if (count_ < kMostEarlier) kept_[count_++] = part;
    return part;
  }

  /// Behind the part that was read last.
  const char* At() const { return own_; }

 private:
  std::string_view PackedAt(Step step) const {
    if (step == Step::kUuid) return {own_, sizeof(PackedUuid)};
    return step == Step::kTime ? std::string_view(own_, sizeof(uint32_t)) : BytesAt(own_);
  }

  const char* own_;
  const std::string_view name_;
  std::array<Part, kMostEarlier> kept_;
  size_t count_ = 0;
};

bool IsPart(const Stop& stop) { return stop.step >= Step::kText; }

}  // namespace

bool CanSplit(const WireText& wire) {
  if (wire.own.count == 0 || wire.own.count > OwnParts::kMost) return false;
  const size_t managed_end = wire.managed_at + wire.managed_size;
  size_t from = wire.metadata_at;
  for (size_t i = 0; i < wire.own.count; ++i) {
    const size_t begin = wire.own.parts[i].at;
    const size_t end = begin + wire.own.parts[i].size;
    const auto splits = [&](size_t place) { return begin < place && place < end; };
    if (begin < from || end > wire.text.size() || splits(wire.version_at)) return false;
    if (wire.managed_size > 0 && begin < managed_end && end > wire.managed_at) return false;
    from = end;
  }
  return true;
}

SplitText Split(const WireText& wire, std::string_view name) { return Splitter(wire, name).Take(); }

size_t JoinedText::OwnSize() const {
  PartReader reader(own_, name_);
  for (size_t i = 0; i < CountOf(shape_); ++i) {
    const Stop stop = StopAt(shape_, i);
    if (IsPart(stop)) reader.Next(stop);
  }
  return static_cast<size_t>(reader.At() - own_);
}

size_t JoinedText::Size() const {
  size_t size = TextOf(shape_).size();
  PartReader reader(own_, name_);
  for (size_t i = 0; i < CountOf(shape_); ++i) {
    const Stop stop = StopAt(shape_, i);
    if (IsPart(stop)) size += reader.Next(stop).Size();
  }
  return size;
}

size_t JoinedText::AppendTo(std::string& out, const Wanted& wanted) const {
  const std::string_view text = TextOf(shape_);
  PartReader reader(own_, name_);
  size_t version_end = 0;
  size_t from = 0;
  bool shown = !wanted.from_metadata;
  for (size_t i = 0; i < CountOf(shape_); ++i) {
    const Stop stop = StopAt(shape_, i);
    if (shown) out.append(text, from, stop.place - from);
    from = stop.place;
    if (IsPart(stop)) {
      const PartReader::Part part = reader.Next(stop);
      if (shown) part.AppendTo(out);
    } else if (stop.step == Step::kVersion) {
      version_end = out.append(wanted.version).size();
    } else {
      shown = stop.step != Step::kManagedBegin || wanted.managed_fields;
    }
  }
  out.append(text, from);
  return version_end;
}

}  // namespace berth::state
