// The Sources of DecodeWalk: a node of a simdjson document or of a Value. For use inside codec.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "codec/json_dom.h"
#include "codec/value.h"

namespace berth::codec {

struct JsonSource {
  simdjson::dom::element node;

  Kind GetKind() const {
    using simdjson::dom::element_type;
    switch (node.type()) {
      case element_type::ARRAY:
        return Kind::kArray;
      case element_type::OBJECT:
        return Kind::kObject;
      case element_type::INT64:
        return Kind::kInt;
      case element_type::UINT64:
        return Kind::kUint;
      case element_type::DOUBLE:
        return Kind::kDouble;
      case element_type::STRING:
        return Kind::kString;
      case element_type::BOOL:
        return Kind::kBool;
      case element_type::NULL_VALUE:
        break;
    }
    return Kind::kNull;
  }

  bool Bool() const { return node.get_bool().value_unsafe(); }
  int64_t Int() const { return node.get_int64().value_unsafe(); }
  uint64_t Uint() const { return node.get_uint64().value_unsafe(); }
  double Double() const { return node.get_double().value_unsafe(); }
  std::string_view String() const { return node.get_string().value_unsafe(); }

  size_t Size() const {
    return node.is_array() ? node.get_array().value_unsafe().size()
                           : node.get_object().value_unsafe().size();
  }

  template <typename F>
  void Items(F f) const {
    const simdjson::dom::array items = node.get_array().value_unsafe();
    for (const simdjson::dom::element item : items) f(JsonSource{item});
  }

  template <typename F>
  void Members(F f) const {
    const simdjson::dom::object members = node.get_object().value_unsafe();
    for (const auto& [key, value] : members) f(key, JsonSource{value});
  }
};

struct ValueSource {
  const Value* value = nullptr;
  bool by_key = false;  // Visit members in the order of their keys.

  Kind GetKind() const { return value->GetKind(); }
  bool Bool() const { return *value->AsBool(); }
  int64_t Int() const { return *value->AsInt(); }
  uint64_t Uint() const { return *value->AsUint(); }
  double Double() const { return *value->AsDouble(); }
  std::string_view String() const { return *value->AsString(); }

  size_t Size() const {
    const Array* array = value->AsArray();
    return array != nullptr ? array->size() : value->AsObject()->size();
  }

  template <typename F>
  void Items(F f) const {
    for (const Value& item : *value->AsArray()) f(ValueSource{&item, by_key});
  }

  template <typename F>
  void Members(F f) const {
    const Object& object = *value->AsObject();
    if (!by_key) {
      for (const Member& member : object) f(member.key, ValueSource{&member.value, by_key});
      return;
    }
    std::vector<const Member*> sorted;
    sorted.reserve(object.size());
    for (const Member& member : object) sorted.push_back(&member);
    std::sort(sorted.begin(), sorted.end(),
              [](const Member* a, const Member* b) { return a->key < b->key; });
    for (const Member* member : sorted) f(member->key, ValueSource{&member->value, by_key});
  }
};

}  // namespace berth::codec
