#include "state/object.h"

#include <fmt/format.h>

#include <cassert>
#include <cstdint>
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

/// The text without the member whose value is empty.
void AppendWithoutVersion(std::string& out, std::string_view head, std::string_view tail) {
  assert(head.ends_with(kVersionMember) && tail.starts_with('"'));
  head.remove_suffix(kVersionMember.size());
  tail.remove_prefix(1);
  if (tail.starts_with(',')) {
    tail.remove_prefix(1);
  } else if (head.ends_with(',')) {
    head.remove_suffix(1);
  }
  out.append(head);
  out.append(tail);
}

void AppendWithVersion(std::string& out, std::string_view head, int64_t revision,
                       std::string_view tail) {
  const fmt::format_int digits(revision);
  out.append(head);
  out.append(digits.data(), digits.size());
  out.append(tail);
}

}  // namespace

ObjectPtr Object::Make(const Identity& identity, int64_t revision, const WireText& wire) {
  return std::allocate_shared<Object>(WithTail<Object>(identity.key.size() + wire.text.size()),
                                      Private{}, identity, revision, wire);
}

Object::Object(Private /*only_make*/, const Identity& identity, int64_t revision,
               const WireText& wire)
    : revision_(revision),
      text_size_(static_cast<uint32_t>(wire.text.size())),
      version_at_(static_cast<uint32_t>(wire.version_at)),
      metadata_at_(static_cast<uint16_t>(wire.metadata_at)),
      key_size_(static_cast<uint16_t>(identity.key.size())),
      name_at_(static_cast<uint16_t>(identity.prefix_size)),
      resource_(identity.resource & 0x7fffU),
      namespaced_(identity.namespaced) {
  assert(wire.version_at <= wire.text.size() && wire.metadata_at <= wire.version_at);
  assert(wire.metadata_at <= UINT16_MAX && wire.text.size() <= UINT32_MAX);
  char* const tail = reinterpret_cast<char*>(this + 1);
  identity.key.copy(tail, identity.key.size());
  wire.text.copy(tail + key_size_, wire.text.size());
  if (namespaced_) {
    name_at_ = static_cast<uint16_t>(identity.key.find('/', identity.prefix_size) + 1);
  }
}

std::string_view Object::Namespace() const {
  if (!namespaced_) return {};
  const std::string_view before = Key().substr(0, static_cast<size_t>(name_at_) - 1);
  return before.substr(before.rfind('/') + 1);
}

void Object::AppendJson(std::string& out, int64_t revision) const {
  if (revision == 0) {
    AppendWithoutVersion(out, JsonHead(), JsonTail());
  } else {
    AppendWithVersion(out, JsonHead(), revision, JsonTail());
  }
}

void Object::AppendListItem(std::string& out) const {
  out.push_back('{');
  AppendWithVersion(out, ListHead(), revision_, JsonTail());
}

size_t Object::Bytes() const {
  // Itself, the reference counts before it and the allocator's share.
  return sizeof(Object) + 40 + key_size_ + text_size_;
}

}  // namespace berth::state
