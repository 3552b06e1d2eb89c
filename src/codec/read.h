// Short ways into a Value by path, for code that reads and fills objects of a known kind:
//
//   if (StringAt(service, "spec", "type") == "NodePort") ...
//   for (const Value& port : ArrayAt(service, "spec", "ports")) Use(IntAt(port, "port"));
//   SetAt(service, {"spec", "sessionAffinity"}, "None");
//
// Readers never fail: what is missing, or of another kind, is the empty value. Where "not set" and
// "empty" differ, ask FindAt, which gives null. References stay valid as long as those of Object.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/value.h"

namespace berth::codec {

template <typename... Keys>
const Value* FindAt(const Value& root, const Keys&... keys) {
  const Value* at = &root;
  ((at = at == nullptr ? nullptr : at->Find(keys)), ...);
  return at;
}

template <typename... Keys>
Value* FindAt(Value& root, const Keys&... keys) {
  Value* at = &root;
  ((at = at == nullptr ? nullptr : at->Find(keys)), ...);
  return at;
}

template <typename... Keys>
bool HasAt(const Value& root, const Keys&... keys) {
  return FindAt(root, keys...) != nullptr;
}

/// The text of a value that may be absent; "" if it is no string.
std::string_view Text(const Value* value);

template <typename... Keys>
std::string_view StringAt(const Value& root, const Keys&... keys) {
  return Text(FindAt(root, keys...));
}

template <typename... Keys>
int64_t IntAt(const Value& root, const Keys&... keys) {
  const Value* value = FindAt(root, keys...);
  return value == nullptr ? 0 : value->AsInt().value_or(0);
}

template <typename... Keys>
bool BoolAt(const Value& root, const Keys&... keys) {
  const Value* value = FindAt(root, keys...);
  return value != nullptr && value->AsBool().value_or(false);
}

/// An empty object of static duration if there is none.
template <typename... Keys>
const Object& ObjectAt(const Value& root, const Keys&... keys) {
  static const Object empty;
  const Value* value = FindAt(root, keys...);
  const Object* object = value == nullptr ? nullptr : value->AsObject();
  return object == nullptr ? empty : *object;
}

/// Likewise.
template <typename... Keys>
const Array& ArrayAt(const Value& root, const Keys&... keys) {
  static const Array empty;
  const Value* value = FindAt(root, keys...);
  const Array* array = value == nullptr ? nullptr : value->AsArray();
  return array == nullptr ? empty : *array;
}

/// Makes the objects on the way that are missing. A new member goes to the end of its object:
/// encoders write by the message's order anyway.
Value& SetAt(Value& root, std::initializer_list<std::string_view> path, Value value);

/// Whether it was there.
bool EraseAt(Value& root, std::initializer_list<std::string_view> path);

/// Makes the field of `to` what it is in `from`, present or absent.
void CopyAt(Value& to, const Value& from, std::initializer_list<std::string_view> path);

/// The strings of a list; an element that is none reads as "".
std::vector<std::string> Texts(const Array& list);

/// The same, to look values up in; valid as long as the list.
std::set<std::string_view> TextSet(const Array& list);

/// Whether both are there and equal, or neither is.
bool Same(const Value* a, const Value* b);

}  // namespace berth::codec
