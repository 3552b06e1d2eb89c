#include "merge/restore.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "merge/go_value.h"

namespace berth::merge {
namespace {

using codec::Array;
using codec::Kind;
using codec::Member;
using codec::Object;
using codec::Value;

using Fault = std::optional<std::string>;

Fault CheckMembers(const Object& object, const api::Message& message);

// Checks a text, whose type in Go is `type`.
Fault CheckText(const Value& value, std::string_view type) {
  if (value.AsString() != nullptr) return std::nullopt;
  // Go could convert a number to text, so it refuses a number with another message.
  if (value.GetKind() == Kind::kInt) return fmt::format("cannot convert int64 to {}", type);
  return "unrecognized type: string";
}

Fault CheckNumber(const Value& value, std::string_view type) {
  if (value.GetKind() == Kind::kInt) return std::nullopt;
  if (const auto number = value.AsDouble()) {
    if (*number == std::trunc(*number)) return std::nullopt;
    return fmt::format("cannot convert float64 to {}", type);
  }
  return fmt::format("unrecognized type: {}", type);
}

Fault CheckOne(const Value& value, const api::Field& field) {
  switch (field.type) {
    case api::Type::kString:
      return CheckText(value, field.go_type.empty() ? "string" : field.go_type);
    case api::Type::kBool:
      if (value.GetKind() == Kind::kBool) return std::nullopt;
      return "unrecognized type: bool";
    case api::Type::kInt32:
      return CheckNumber(value, "int32");
    case api::Type::kInt64:
      return CheckNumber(value, "int64");
    case api::Type::kTime:
    case api::Type::kMicroTime:
    case api::Type::kIntOrString:
    case api::Type::kFieldsV1:
    case api::Type::kQuantity:
      return std::nullopt;  // These types decode JSON themselves.
    case api::Type::kMessage:
      break;
  }
  const Object* object = value.AsObject();
  if (object != nullptr) return CheckMembers(*object, *field.message);
  return fmt::format("cannot restore struct from: {}", GoKindName(value));
}

Fault CheckField(const Value& value, const api::Field& field) {
  if (value.IsNull()) return std::nullopt;
  if (field.shape == api::Shape::kOne) return CheckOne(value, field);
  if (field.shape == api::Shape::kList) {
    const Array* list = value.AsArray();
    if (list == nullptr) return fmt::format("cannot restore slice from {}", GoKindName(value));
    for (const Value& item : *list) {
      if (item.IsNull()) continue;
      if (auto fault = CheckOne(item, field)) return fault;
    }
    return std::nullopt;
  }
  const Object* map = value.AsObject();
  if (map == nullptr) return fmt::format("cannot restore map from {}", GoKindName(value));
  for (const Member& member : *map) {
    if (member.value.IsNull()) continue;
    if (auto fault = CheckOne(member.value, field)) return fault;
  }
  return std::nullopt;
}

Fault CheckMembers(const Object& object, const api::Message& message) {
  for (const api::Field& field : message.fields) {
    const Value* value = object.Find(field.name);
    if (value == nullptr) continue;
    if (auto fault = CheckField(*value, field)) return fault;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> RestoreFault(const Value& document, const api::Message& message) {
  const Object* object = document.AsObject();
  if (object == nullptr) return std::nullopt;
  for (const std::string_view name : {"kind", "apiVersion"}) {
    const Value* value = object->Find(name);
    if (value == nullptr || value->IsNull()) continue;
    if (auto fault = CheckText(*value, "string")) return fault;
  }
  return CheckMembers(*object, message);
}

}  // namespace berth::merge
