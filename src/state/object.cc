#include "state/object.h"

#include <fmt/format.h>

#include <cassert>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>

namespace berth::state {
namespace {

constexpr std::string_view kVersionMember = "\"resourceVersion\":\"";

/// Room behind the object for its key and text, so that all of it is one allocation.
template <typename T>
struct WithTail {
  using value_type = T;  // NOLINT(readability-identifier-naming): the standard's name.

  explicit WithTail(size_t tail_bytes) : tail(tail_bytes) {}
  template <typename U>
  explicit WithTail(const WithTail<U>& other) : tail(other.tail) {}

  T* allocate(size_t count) { return static_cast<T*>(::operator new(count * sizeof(T) + tail)); }
  void deallocate(T* memory, size_t /*count*/) { ::operator delete(memory); }

  bool operator==(const WithTail&) const = default;

  size_t tail;
};

size_t TailSize(const Identity& identity, const WireText& wire, const TextWithGaps& managed) {
  size_t size = identity.key.size() + wire.text.size() - wire.managed_size;
  if (wire.managed_size > 0) size += sizeof(uint32_t) + managed.times.size();
  if (!wire.protobuf.empty()) size += sizeof(uint32_t) + wire.protobuf.size();
  if (!wire.hidden.empty()) size += sizeof(uint32_t) + wire.hidden.size();
  return size;
}

/// Fills memory from front to back.
class Filler {
 public:
  explicit Filler(char* at) : at_(at) {}

  void Put(std::string_view text) { at_ += text.copy(at_, text.size()); }
  void Put(uint32_t number) {
    std::memcpy(at_, &number, sizeof number);
    at_ += sizeof number;
  }
  void PutSized(std::string_view bytes) {
    Put(static_cast<uint32_t>(bytes.size()));
    Put(bytes);
  }

 private:
  char* at_;
};

uint32_t NumberAt(const char* at) {
  uint32_t number = 0;
  std::memcpy(&number, at, sizeof number);
  return number;
}

/// As Filler::PutSized left them.
std::string_view SizedAt(const char* at) { return {at + sizeof(uint32_t), NumberAt(at)}; }

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

}  // namespace

ObjectPtr Object::Make(const Identity& identity, int64_t revision, const WireText& wire) {
  static_assert(sizeof(Object) == 32);
  TextWithGaps managed;
  if (wire.managed_size > 0) {
    managed = TakeTimesOut(std::string_view(wire.text).substr(wire.managed_at, wire.managed_size));
  }
  return std::allocate_shared<Object>(WithTail<Object>(TailSize(identity, wire, managed)),
                                      Private{}, identity, revision, wire, managed);
}

Object::Object(Private /*only_make*/, const Identity& identity, int64_t revision,
               const WireText& wire, const TextWithGaps& managed)
    : revision_(revision),
      managed_(managed.gapped),
      text_size_(static_cast<uint32_t>(wire.text.size() - wire.managed_size)),
      version_at_(static_cast<uint32_t>(wire.version_at)),
      metadata_at_(static_cast<uint16_t>(wire.metadata_at)),
      key_size_(static_cast<uint16_t>(identity.key.size())),
      name_at_(static_cast<uint16_t>(identity.prefix_size)),
      resource_(identity.resource & 0xfffU),
      namespaced_(identity.namespaced),
      has_protobuf_(!wire.protobuf.empty()),
      has_hidden_(!wire.hidden.empty()) {
  assert(wire.version_at <= wire.text.size() && wire.metadata_at <= wire.version_at);
  assert(wire.metadata_at <= UINT16_MAX && wire.text.size() <= UINT32_MAX);
  assert(wire.managed_size == 0 || wire.managed_at > wire.version_at);
  assert(wire.managed_at + wire.managed_size <= wire.text.size());
  const std::string_view text = wire.text;
  Filler tail(reinterpret_cast<char*>(this + 1));
  tail.Put(identity.key);
  tail.Put(text.substr(0, wire.managed_at));
  tail.Put(text.substr(wire.managed_at + wire.managed_size));
  if (HasManagedFields()) {
    tail.Put(static_cast<uint32_t>(wire.managed_at));
    tail.Put(managed.times);
  }
  if (has_protobuf_) tail.PutSized(wire.protobuf);
  if (has_hidden_) tail.PutSized(wire.hidden);
  if (namespaced_) {
    name_at_ = static_cast<uint16_t>(identity.key.find('/', identity.prefix_size) + 1);
  }
}

std::string_view Object::Namespace() const {
  if (!namespaced_) return {};
  const std::string_view before = Key().substr(0, static_cast<size_t>(name_at_) - 1);
  return before.substr(before.rfind('/') + 1);
}

const char* Object::BehindText() const { return Tail() + key_size_ + text_size_; }

const char* Object::BehindManagedFields() const {
  if (!HasManagedFields()) return BehindText();
  return BehindText() + sizeof(uint32_t) + TimesSize(managed_.Get());
}

std::string_view Object::Protobuf() const {
  return has_protobuf_ ? SizedAt(BehindManagedFields()) : std::string_view();
}

std::string_view Object::Hidden() const {
  if (!has_hidden_) return {};
  const std::string_view before = Protobuf();
  return SizedAt(has_protobuf_ ? before.data() + before.size() : BehindManagedFields());
}

void Object::AppendFrom(std::string& out, size_t from, std::string_view version) const {
  const std::string_view text = TextWithoutManagedFields();
  out.append(text, from, version_at_ - from);
  out.append(version);
  from = version_at_;
  if (HasManagedFields()) {
    const std::string_view managed = managed_.Get();
    const size_t managed_at = NumberAt(BehindText());
    out.append(text, from, managed_at - from);
    AppendFilled(out, managed, {BehindText() + sizeof(uint32_t), TimesSize(managed)});
    from = managed_at;
  }
  out.append(text, from);
}

void Object::AppendJson(std::string& out, int64_t revision) const {
  if (revision == 0) {
    const size_t begin = out.size();
    AppendFrom(out, 0, "");
    EraseVersion(out, begin + version_at_);
    return;
  }
  const fmt::format_int digits(revision);
  AppendFrom(out, 0, {digits.data(), digits.size()});
}

void Object::AppendListItem(std::string& out) const {
  const fmt::format_int digits(revision_);
  out.push_back('{');
  AppendFrom(out, metadata_at_, {digits.data(), digits.size()});
}

size_t Object::JsonSize() const {
  constexpr size_t kMostDigits = std::numeric_limits<int64_t>::digits10 + 1;
  return text_size_ + kMostDigits + (HasManagedFields() ? FilledSize(managed_.Get()) : 0);
}

size_t Object::Bytes() const {
  // Itself, the reference counts before it and the allocator's share.
  constexpr size_t kFixed = sizeof(Object) + 40;
  const size_t times = HasManagedFields() ? TimesSize(managed_.Get()) : 0;
  return kFixed + key_size_ + text_size_ + times + Protobuf().size() + Hidden().size() +
         managed_.ShareOfBytes();
}

}  // namespace berth::state
