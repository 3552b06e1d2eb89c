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

struct Object::Pieces {
  bool split = false;
  std::string shared;  // As shared_.
  std::string own;     // As SplitText::own or TextWithGaps::times.
};

namespace {

constexpr std::string_view kVersionMember = "\"resourceVersion\":\"";

/// Goes by the thread: a number in the allocator would be kept with every object.
size_t& TailBytes() {
  thread_local size_t bytes = 0;
  return bytes;
}

/// Room behind the object for its key and text, so that all of it is one allocation.
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

/// Takes the member out whose empty value ends at `quote`, with one of its commas.
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

std::string_view BehindPrefix(const Identity& identity) {
  return identity.key.substr(identity.prefix.Text().size());
}

size_t NameAt(const Identity& identity) {
  return identity.namespaced ? BehindPrefix(identity).find('/') + 1 : 0;
}

}  // namespace

ObjectPtr Object::Make(const Identity& identity, int64_t revision, const WireText& wire) {
  static_assert(sizeof(Object) == 24);
  const std::string_view key = BehindPrefix(identity);
  Pieces pieces;
  size_t tail = key.size();
  if (CanSplit(wire)) {
    SplitText split = Split(wire, key.substr(NameAt(identity)));
    pieces = {.split = true, .shared = std::move(split.shape), .own = std::move(split.own)};
  } else {
    tail += sizeof(Places) + wire.text.size() - wire.managed_size;
    if (wire.managed_size > 0) {
      TextWithGaps managed =
          TakeTimesOut(std::string_view(wire.text).substr(wire.managed_at, wire.managed_size));
      pieces = {.shared = std::move(managed.gapped), .own = std::move(managed.times)};
    }
  }
  tail += pieces.own.size();
  if (!wire.protobuf.empty()) tail += SizeWithCount(wire.protobuf);
  if (!wire.hidden.empty()) tail += SizeWithCount(wire.hidden);
  TailBytes() = tail;
  return std::allocate_shared<Object>(WithTail<Object>(), Private{}, identity, revision, wire,
                                      pieces);
}

Object::Object(Private /*only_make*/, const Identity& identity, int64_t revision,
               const WireText& wire, const Pieces& pieces)
    : revision_(revision),
      shared_(pieces.shared),
      prefix_(identity.prefix),
      key_size_(static_cast<uint16_t>(BehindPrefix(identity).size())),
      name_at_(static_cast<uint16_t>(NameAt(identity))),
      resource_(identity.resource & 0xfffU),
      split_(pieces.split),
      has_protobuf_(!wire.protobuf.empty()),
      has_hidden_(!wire.hidden.empty()) {
  assert(wire.version_at <= wire.text.size() && wire.metadata_at <= wire.version_at);
  assert(wire.text.size() <= UINT32_MAX);
  assert(wire.managed_size == 0 || wire.managed_at > wire.version_at);
  assert(wire.managed_at + wire.managed_size <= wire.text.size());
  const std::string_view text = wire.text;
  Filler tail(reinterpret_cast<char*>(this + 1));
  tail.Put(BehindPrefix(identity));
  if (!split_) {
    const Places places{.text_size = static_cast<uint32_t>(text.size() - wire.managed_size),
                        .metadata_at = static_cast<uint32_t>(wire.metadata_at),
                        .version_at = static_cast<uint32_t>(wire.version_at),
                        .managed_at = static_cast<uint32_t>(wire.managed_at)};
    tail.Put({reinterpret_cast<const char*>(&places), sizeof places});
    tail.Put(text.substr(0, wire.managed_at));
    tail.Put(text.substr(wire.managed_at + wire.managed_size));
  }
  tail.Put(pieces.own);
  if (has_protobuf_) tail.PutWithCount(wire.protobuf);
  if (has_hidden_) tail.PutWithCount(wire.hidden);
}

std::string Object::Key() const {
  const std::string_view prefix = prefix_.Text();
  std::string key;
  key.reserve(prefix.size() + key_size_);
  return key.append(prefix).append(KeyBehindPrefix());
}

bool Object::KeyIs(std::string_view key) const {
  const std::string_view prefix = prefix_.Text();
  return key.starts_with(prefix) && key.substr(prefix.size()) == KeyBehindPrefix();
}

bool Object::KeyStartsWith(std::string_view begin) const {
  const std::string_view prefix = prefix_.Text();
  if (begin.size() <= prefix.size()) return prefix.starts_with(begin);
  return begin.starts_with(prefix) && KeyBehindPrefix().starts_with(begin.substr(prefix.size()));
}

int Object::CompareKey(const Object& other) const {
  if (prefix_ == other.prefix_) return KeyBehindPrefix().compare(other.KeyBehindPrefix());
  return Key().compare(other.Key());
}

std::string_view Object::Namespace() const {
  if (name_at_ == 0) return {};
  return KeyBehindPrefix().substr(0, static_cast<size_t>(name_at_) - 1);
}

Object::Places Object::PlacesOfText() const {
  Places places;
  std::memcpy(&places, BehindKey(), sizeof places);
  return places;
}

std::string_view Object::Text(const Places& places) const {
  return {BehindKey() + sizeof places, places.text_size};
}

std::string_view Object::Times(const Places& places) const {
  const std::string_view text = Text(places);
  return {text.data() + text.size(), shared_.IsEmpty() ? 0 : TimesSize(shared_.Get())};
}

const char* Object::BehindText() const {
  if (split_) return BehindKey() + Joined().OwnSize();
  const std::string_view times = Times(PlacesOfText());
  return times.data() + times.size();
}

std::string_view Object::TextWithoutManagedFields(std::string& room) const {
  if (!split_) return Text(PlacesOfText());
  room.clear();
  room.reserve(shared_.Get().size());
  Joined().AppendTo(room, {.managed_fields = false});
  return room;
}

bool Object::MayHave(std::string_view member) const {
  // What is an object's own are values. A quote inside a JSON string has a backslash before it, so
  // only keys are found; but a label may have that key too. The C library's search is several times
  // faster than the standard's.
  const std::string_view text = split_ ? shared_.Get() : Text(PlacesOfText());
  return memmem(text.data(), text.size(), member.data(), member.size()) != nullptr;
}

std::string_view Object::Protobuf() const {
  return has_protobuf_ ? BytesAt(BehindText()) : std::string_view();
}

std::string_view Object::Hidden() const {
  if (!has_hidden_) return {};
  const std::string_view before = Protobuf();
  return BytesAt(has_protobuf_ ? before.data() + before.size() : BehindText());
}

size_t Object::Append(std::string& out, bool from_metadata, std::string_view version) const {
  if (split_) {
    return Joined().AppendTo(out, {.from_metadata = from_metadata, .version = version});
  }
  const Places places = PlacesOfText();
  const std::string_view text = Text(places);
  const size_t from = from_metadata ? places.metadata_at : 0;
  out.append(text, from, places.version_at - from);
  const size_t version_end = out.append(version).size();
  if (shared_.IsEmpty()) {
    out.append(text, places.version_at);
    return version_end;
  }
  out.append(text, places.version_at, places.managed_at - places.version_at);
  AppendFilled(out, shared_.Get(), Times(places));
  out.append(text, places.managed_at);
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
  return kMostDigits + PlacesOfText().text_size + managed;
}

size_t Object::Bytes() const {
  // Itself, the reference counts before it and the allocator's share.
  constexpr size_t kFixed = sizeof(Object) + 32;
  return kFixed + static_cast<size_t>(BehindText() - Tail()) + Protobuf().size() + Hidden().size() +
         shared_.ShareOfBytes();
}

}  // namespace berth::state
