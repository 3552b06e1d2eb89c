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
#include <string>
#include <string_view>
#include <utility>

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

template <typename... Keys>
std::string_view StringAt(const Value& root, const Keys&... keys) {
  const Value* value = FindAt(root, keys...);
  const std::string* text = value == nullptr ? nullptr : value->AsString();
  return text == nullptr ? std::string_view() : std::string_view(*text);
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

}  // namespace berth::codec
