// Short ways into a Value by path, for code that reads and fills objects of a known kind:
//
//   if (StringAt(service, "spec", "type") == "NodePort") ...
//   for (const Value& port : ArrayAt(service, "spec", "ports")) Use(IntAt(port, "port"));
//   SetAt(service, {"spec", "sessionAffinity"}, "None");
//
// Readers never fail: a value that is missing or of another kind reads as the empty value.
// Where "not set" and "empty" differ, use FindAt, which returns null. References stay valid
// as long as those of Object.
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

/// Returns the text of a value that may be null; "" if it is not a string.
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

/// Returns an empty object of static duration if there is no object at the path.
template <typename... Keys>
const Object& ObjectAt(const Value& root, const Keys&... keys) {
  static const Object empty;
  const Value* value = FindAt(root, keys...);
  const Object* object = value == nullptr ? nullptr : value->AsObject();
  return object == nullptr ? empty : *object;
}

/// Returns an empty array of static duration if there is no array at the path.
template <typename... Keys>
const Array& ArrayAt(const Value& root, const Keys&... keys) {
  static const Array empty;
  const Value* value = FindAt(root, keys...);
  const Array* array = value == nullptr ? nullptr : value->AsArray();
  return array == nullptr ? empty : *array;
}

/// Sets the value at the path, and makes the objects on the way that are missing. A new member goes
/// to the end of its object: encoders write in the message's order anyway.
Value& SetAt(Value& root, std::initializer_list<std::string_view> path, Value value);

/// Returns whether there was a value at the path.
bool EraseAt(Value& root, std::initializer_list<std::string_view> path);

/// Makes the field of `to` equal to that of `from`, whether it is present or absent.
void CopyAt(Value& to, const Value& from, std::initializer_list<std::string_view> path);

/// Returns the strings of a list. An element that is not a string reads as "".
std::vector<std::string> Texts(const Array& list);

/// Returns the same as a set, for lookups. It is valid as long as the list.
std::set<std::string_view> TextSet(const Array& list);

/// Returns whether both are present and equal, or both are absent.
bool Same(const Value* a, const Value* b);

}  // namespace berth::codec
