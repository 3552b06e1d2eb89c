#include "state/object.h"

#include <fmt/format.h>
#include <string.h>

#include <cassert>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "state/sized_bytes.h"
#include "state/time_gaps.h"

namespace berth::state {

struct Object::TextParts {
  bool split = false;
  std::string shared;  // For shared_.
  std::string own;     // SplitText::own or TextWithGaps::times.
};

namespace {

constexpr std::string_view kVersionMember = "\"resourceVersion\":\"";

/// The size that WithTail adds to the thread's next allocation. It is not a member of the
/// allocator, because that would be kept with every object.
size_t& TailBytes() {
  thread_local size_t bytes = 0;
  return bytes;
}

/// Allocates room for the key and the text after the object, so that all of it is one allocation.
template <typename T>
struct WithTail {
  using value_type = T;  // NOLINT(readability-identifier-naming): the standard's name.

  WithTail() = default;
  template <typename U>
  explicit WithTail(const WithTail<U>& /*other*/) {}

  T* allocate(size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T) + TailBytes()));
  }
  void deallocate(T* memory, size_t /*count*/) { ::operator delete(memory); }

  bool operator==(const WithTail&) const = default;
};

/// Fills memory from front to back.
class Filler {
 public:
  explicit Filler(char* at) : at_(at) {}

  void Put(std::string_view text) { at_ += text.copy(at_, text.size()); }
  void PutWithCount(std::string_view bytes) { at_ = state::PutWithCount(at_, bytes); }

 private:
  char* at_;
};

/// Removes the member whose empty value ends at `quote`, together with one comma.
void EraseVersion(std::string& json, size_t quote) {
  size_t begin = quote - kVersionMember.size();
  size_t end = quote + 1;
  assert(json.compare(begin, kVersionMember.size(), kVersionMember) == 0);
  if (json[end] == ',') {
    ++end;
  } else if (json[begin - 1] == ',') {
    --begin;
  }
  json.erase(begin, end - begin);
}

std::string_view AfterPrefix(const Identity& identity) {
  return identity.key.substr(identity.prefix.Text().size());
}

size_t NameAt(const Identity& identity) {
  return identity.namespaced ? AfterPrefix(identity).find('/') + 1 : 0;
}

}  // namespace

ObjectPtr Object::Make(const Identity& identity, int64_t revision, const WireText& wire) {
  static_assert(sizeof(Object) == 24);
  const std::string_view key = AfterPrefix(identity);
  TextParts parts;
  size_t tail = key.size();
  if (CanSplit(wire)) {
    SplitText split = Split(wire, key.substr(NameAt(identity)));
    parts = {.split = true, .shared = std::move(split.shape), .own = std::move(split.own)};
  } else {
    tail += sizeof(TextLayout) + wire.text.size() - wire.managed_size;
    if (wire.managed_size > 0) {
      TextWithGaps managed =
          TakeTimesOut(std::string_view(wire.text).substr(wire.managed_at, wire.managed_size));
      parts = {.shared = std::move(managed.gapped), .own = std::move(managed.times)};
    }
  }
  tail += parts.own.size();
  if (!wire.protobuf.empty()) tail += SizeWithCount(wire.protobuf);
  if (!wire.hidden.empty()) tail += SizeWithCount(wire.hidden);
  TailBytes() = tail;
  return std::allocate_shared<Object>(WithTail<Object>(), Private{}, identity, revision, wire,
                                      parts);
}

Object::Object(Private /*only_make*/, const Identity& identity, int64_t revision,
               const WireText& wire, const TextParts& parts)
    : revision_(revision),
      shared_(parts.shared),
      prefix_(identity.prefix),
      key_size_(static_cast<uint16_t>(AfterPrefix(identity).size())),
      name_at_(static_cast<uint16_t>(NameAt(identity))),
      resource_(identity.resource & 0xfffU),
      split_(parts.split),
      has_protobuf_(!wire.protobuf.empty()),
      has_hidden_(!wire.hidden.empty()) {
  assert(wire.version_at <= wire.text.size() && wire.metadata_at <= wire.version_at);
  assert(wire.text.size() <= UINT32_MAX);
  assert(wire.managed_size == 0 || wire.managed_at > wire.version_at);
  assert(wire.managed_at + wire.managed_size <= wire.text.size());
  const std::string_view text = wire.text;
  Filler tail(reinterpret_cast<char*>(this + 1));
  tail.Put(AfterPrefix(identity));
  if (!split_) {
    const TextLayout layout{.text_size = static_cast<uint32_t>(text.size() - wire.managed_size),
                            .metadata_at = static_cast<uint32_t>(wire.metadata_at),
                            .version_at = static_cast<uint32_t>(wire.version_at),
                            .managed_at = static_cast<uint32_t>(wire.managed_at)};
    tail.Put({reinterpret_cast<const char*>(&layout), sizeof layout});
    tail.Put(text.substr(0, wire.managed_at));
    tail.Put(text.substr(wire.managed_at + wire.managed_size));
  }
  tail.Put(parts.own);
  if (has_protobuf_) tail.PutWithCount(wire.protobuf);
  if (has_hidden_) tail.PutWithCount(wire.hidden);
}

std::string Object::Key() const {
  const std::string_view prefix = prefix_.Text();
  std::string key;
  key.reserve(prefix.size() + key_size_);
  return key.append(prefix).append(KeyAfterPrefix());
}

bool Object::KeyIs(std::string_view key) const {
  const std::string_view prefix = prefix_.Text();
  return key.starts_with(prefix) && key.substr(prefix.size()) == KeyAfterPrefix();
}

bool Object::KeyStartsWith(std::string_view begin) const {
  const std::string_view prefix = prefix_.Text();
  if (begin.size() <= prefix.size()) return prefix.starts_with(begin);
  return begin.starts_with(prefix) && KeyAfterPrefix().starts_with(begin.substr(prefix.size()));
}

int Object::CompareKey(const Object& other) const {
  if (prefix_ == other.prefix_) return KeyAfterPrefix().compare(other.KeyAfterPrefix());
  return Key().compare(other.Key());
}

std::string_view Object::Namespace() const {
  if (name_at_ == 0) return {};
  return KeyAfterPrefix().substr(0, static_cast<size_t>(name_at_) - 1);
}

Object::TextLayout Object::Layout() const {
  TextLayout layout;
  std::memcpy(&layout, AfterKey(), sizeof layout);
  return layout;
}

std::string_view Object::Text(const TextLayout& layout) const {
  return {AfterKey() + sizeof layout, layout.text_size};
}

std::string_view Object::Times(const TextLayout& layout) const {
  const std::string_view text = Text(layout);
  return {text.data() + text.size(), shared_.IsEmpty() ? 0 : TimesSize(shared_.Get())};
}

const char* Object::AfterText() const {
  if (split_) return AfterKey() + Joined().OwnSize();
  const std::string_view times = Times(Layout());
  return times.data() + times.size();
}

std::string_view Object::TextWithoutManagedFields(std::string& room) const {
  if (!split_) return Text(Layout());
  room.clear();
  room.reserve(shared_.Get().size());
  Joined().AppendTo(room, {.managed_fields = false});
  return room;
}

bool Object::MayHave(std::string_view member) const {
  // An object's own parts are values, so the member cannot be in them. A quote inside a JSON string
  // has a backslash before it, so only keys match. The key of a label may match too. The C
  // library's search is several times faster than that of std::string_view.
  const std::string_view text = split_ ? shared_.Get() : Text(Layout());
  return memmem(text.data(), text.size(), member.data(), member.size()) != nullptr;
}

std::string_view Object::Protobuf() const {
  return has_protobuf_ ? BytesAt(AfterText()) : std::string_view();
}

std::string_view Object::Hidden() const {
  if (!has_hidden_) return {};
  const std::string_view before = Protobuf();
  return BytesAt(has_protobuf_ ? before.data() + before.size() : AfterText());
}

size_t Object::Append(std::string& out, bool from_metadata, std::string_view version) const {
  if (split_) {
    return Joined().AppendTo(out, {.from_metadata = from_metadata, .version = version});
  }
  const TextLayout layout = Layout();
  const std::string_view text = Text(layout);
  const size_t from = from_metadata ? layout.metadata_at : 0;
  out.append(text, from, layout.version_at - from);
  const size_t version_end = out.append(version).size();
  if (shared_.IsEmpty()) {
    out.append(text, layout.version_at);
    return version_end;
  }
  out.append(text, layout.version_at, layout.managed_at - layout.version_at);
  AppendFilled(out, shared_.Get(), Times(layout));
  out.append(text, layout.managed_at);
  return version_end;
}

void Object::AppendJson(std::string& out, int64_t revision) const {
  if (revision == 0) return EraseVersion(out, Append(out, /*from_metadata=*/false, ""));
  const fmt::format_int digits(revision);
  Append(out, /*from_metadata=*/false, {digits.data(), digits.size()});
}

void Object::AppendListItem(std::string& out) const {
  const fmt::format_int digits(revision_);
  out.push_back('{');
  Append(out, /*from_metadata=*/true, {digits.data(), digits.size()});
}

size_t Object::JsonSize() const {
  constexpr size_t kMostDigits = std::numeric_limits<int64_t>::digits10 + 1;
  if (split_) return kMostDigits + Joined().Size();
  const size_t managed = shared_.IsEmpty() ? 0 : FilledSize(shared_.Get());
  return kMostDigits + Layout().text_size + managed;
}

size_t Object::Bytes() const {
  // The object, the reference counts before it and the allocator's overhead.
  constexpr size_t kFixed = sizeof(Object) + 32;
  return kFixed + static_cast<size_t>(AfterText() - Tail()) + Protobuf().size() + Hidden().size() +
         shared_.ShareOfBytes();
}

}  // namespace berth::state
