#include "merge/field_types.h"

#include <array>
#include <charconv>
#include <utility>

namespace berth::merge {
namespace {

using codec::Value;
using Form = FieldType::Form;

Form FormOf(api::Type type) { return type == api::Type::kMessage ? Form::kStruct : Form::kScalar; }

// Defaults in the tables are plain strings and numbers.
Value DefaultOf(std::string_view text) {
  if (text.starts_with('"')) return text.substr(1, text.size() - 2);
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Returns null if the entry does not have the key.
const Value* FindKey(const api::Field& list, const Value& entry, std::string_view name,
                     Layout layout) {
  const Value* value = entry.Find(name);
  if (value != nullptr || layout == Layout::kDocument) return value;
  const api::Field* field = list.message->Find(name);
  return field->presence == api::Presence::kAlways ? &EmptyValueOf(*field) : nullptr;
}

constexpr auto kStatusOnly = std::to_array<std::string_view>({"status"});
constexpr auto kSpecOnly = std::to_array<std::string_view>({"spec"});
constexpr auto kSpecAndMetadata = std::to_array<std::string_view>({"metadata", "spec"});

}  // namespace

FieldType ObjectType(const api::Message& message) {
  return {.form = Form::kStruct, .atomic = message.atomic, .message = &message};
}

FieldType EntryTypeOf(const api::Field& field) {
  const bool is_struct = field.shape != api::Shape::kMap && FormOf(field.type) == Form::kStruct;
  if (!is_struct) return {.form = Form::kScalar, .atomic = true, .field = &field};
  return {.form = Form::kStruct,
          .atomic = field.message->atomic,
          .field = &field,
          .message = field.message};
}

FieldType TypeOf(const api::Field& field) {
  switch (field.shape) {
    case api::Shape::kList:
      return {.form = Form::kList,
              .atomic = field.list_kind == api::ListKind::kAtomic,
              .field = &field};
    case api::Shape::kMap:
      return {.form = Form::kMap, .atomic = field.atomic, .field = &field};
    case api::Shape::kOne:
      break;
  }
  return EntryTypeOf(field);
}

const Value& EmptyValueOf(const api::Field& field) {
  static const Value none;
  static const Value text = "";
  static const Value number = 0;
  static const Value no = false;
  static const Value message = codec::Object();
  if (field.shape != api::Shape::kOne) return none;  // A list or map that is not set is null.
  switch (field.type) {
    case api::Type::kString:
      return text;
    case api::Type::kBool:
      return no;
    case api::Type::kInt32:
    case api::Type::kInt64:
    case api::Type::kIntOrString:
      return number;
    case api::Type::kTime:
    case api::Type::kMicroTime:
    case api::Type::kFieldsV1:
    case api::Type::kQuantity:  // Only values of maps are quantities.
      return none;
    case api::Type::kMessage:
      break;
  }
  return message;
}

Members::Members(const Value* value, const api::Message& message, Layout layout) {
  if (value == nullptr) return;
  if (const codec::Object* object = value->AsObject()) {
    size_t hint = 0;  // Members are mostly in the message's order.
    for (const codec::Member& member : *object) {
      const api::Field* field = message.Find(member.key, hint);
      if (field == nullptr) continue;
      const size_t position = message.PositionOf(*field);
      values_[position] = &member.value;
      hint = position + 1;
    }
  }
  if (layout == Layout::kDocument) return;
  for (size_t i = 0; i < message.fields.size(); ++i) {
    const api::Field& field = message.fields[i];
    if (values_[i] == nullptr && field.presence == api::Presence::kAlways) {
      values_[i] = &EmptyValueOf(field);
    }
  }
}

PathElement EntryElement(const api::Field& list, const Value& entry, Layout layout) {
  if (list.list_kind == api::ListKind::kSet) return PathElement::Value(entry);
  ListKey key;
  key.reserve(list.list_keys.size());
  for (const api::ListKey& part : list.list_keys) {
    if (const Value* value = FindKey(list, entry, part.name, layout)) {
      key.push_back({std::string(part.name), *value});
    } else if (!part.default_text.empty()) {
      key.push_back({std::string(part.name), DefaultOf(part.default_text)});
    }
  }
  return PathElement::Key(std::move(key));
}

std::span<const std::string_view> ResetFields(const api::Kind& kind, std::string_view subresource) {
  if (kind.message->Find("status") == nullptr) return {};
  if (subresource != "status") return kStatusOnly;
  if (&kind == &api::kServiceCidrKind || kind.group == api::kIpRangeKind.group) {
    return kSpecAndMetadata;
  }
  return kSpecOnly;
}

}  // namespace berth::merge
