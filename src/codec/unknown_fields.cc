#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "codec/json.h"
#include "codec/protobuf.h"

namespace berth::codec {
namespace {

// Returns a text that identifies an entry in its list.
std::string KeyOf(const Value& entry, const api::Field& list) {
  std::string text;
  for (const api::ListKey& key : list.list_keys) {
    const Value* value = entry.Find(key.name);
    text += value == nullptr ? std::string(key.default_text) : WriteJson(*value);
    text += ',';
  }
  return text;
}

void KeepInEntries(const Array& from, Array& to, const api::Field& list) {
  std::unordered_map<std::string, Value*> by_key;  // Filled when there is something to keep.
  for (const Value& entry : from) {
    if (!HasUnknownFields(entry)) continue;
    if (by_key.empty()) {
      for (Value& other : to) by_key.emplace(KeyOf(other, list), &other);
    }
    const auto same = by_key.find(KeyOf(entry, list));
    if (same != by_key.end()) KeepUnknownFields(entry, *same->second, *list.message);
  }
}

void KeepInField(const Value& from, Value& to, const api::Field& field) {
  Value* same = to.Find(field.name);
  if (field.shape == api::Shape::kList) {
    const Array* entries = from.AsArray();
    Array* others = same == nullptr ? nullptr : same->AsArray();
    if (field.list_kind == api::ListKind::kMap && entries != nullptr && others != nullptr) {
      KeepInEntries(*entries, *others, field);
    }
    return;
  }
  if (same != nullptr) return KeepUnknownFields(from, *same, *field.message);
  // If a message is not a pointer, an object in which nothing known is set does not contain it.
  if (field.IsPointer()) return;
  Value empty = Object();
  KeepUnknownFields(from, empty, *field.message);
  if (!empty.AsObject()->empty()) to.Set(std::string(field.name), std::move(empty));
}

}  // namespace

bool HasUnknownFields(const Value& value) {
  if (const Array* array = value.AsArray()) {
    return std::any_of(array->begin(), array->end(), HasUnknownFields);
  }
  const Object* object = value.AsObject();
  return object != nullptr && std::any_of(object->begin(), object->end(), [](const Member& member) {
           return member.key == kUnknownFields || HasUnknownFields(member.value);
         });
}

void KeepUnknownFields(const Value& from, Value& to, const api::Message& message) {
  const Object* object = from.AsObject();
  if (object == nullptr || to.AsObject() == nullptr) return;
  for (const Member& member : *object) {
    if (member.key == kUnknownFields) {
      if (to.Find(kUnknownFields) == nullptr) to.Set(member.key, member.value);
      continue;
    }
    const api::Field* field = message.Find(member.key);
    if (field != nullptr && field->type == api::Type::kMessage) {
      KeepInField(member.value, to, *field);
    }
  }
}

}  // namespace berth::codec
