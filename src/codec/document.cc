#include <utility>
#include <vector>

#include "api/meta.h"
#include "codec/encode.h"
#include "codec/fields.h"
#include "codec/json.h"

namespace berth::codec {
namespace {

// Builds the tree that a reader of EncodeMessage's text would get, without writing that text.
class Builder {
 public:
  explicit Builder(const DocumentStyle& style) : style_(style) {}

  void Members(std::vector<Member>& out, const Value* value, const api::Message& message,
               uint32_t which) const {
    const FieldValues values(value, message);
    for (size_t i = 0; i < message.fields.size(); ++i) {
      if ((which >> i & 1) == 0) continue;
      const api::Field& field = message.fields[i];
      if (!style_.managed_fields && &message == &api::kObjectMeta && field.name == kManagedFields) {
        continue;
      }
      Value content = Content(field, values.At(i));
      if (!content.IsNull() || ShowsNull(field)) {
        out.push_back({std::string(field.name), std::move(content)});
      }
    }
  }

 private:
  // Returns whether the field is a time or a list that must be present though it is not set.
  static bool ShowsNull(const api::Field& field) {
    return field.presence == api::Presence::kAlways;
  }

  // Returns null if the field is omitted.
  Value Content(const api::Field& field, const Value* value) const {
    if (field.shape == api::Shape::kList) {
      return List(field, value == nullptr ? nullptr : value->AsArray());
    }
    if (field.shape == api::Shape::kMap) {
      return Map(value == nullptr ? nullptr : value->AsObject());
    }
    if (value == nullptr || !FitsType(*value, field.type)) {
      return field.presence == api::Presence::kAlways ? Default(field) : Value();
    }
    if (field.presence == api::Presence::kOmitEmpty && IsZeroValue(*value)) return nullptr;
    return One(field, *value);
  }

  Value List(const api::Field& field, const Array* source) const {
    if (source == nullptr || source->empty()) return nullptr;
    Array array;
    array.reserve(source->size());
    for (const Value& item : *source) {
      array.push_back(FitsType(item, field.type) ? One(field, item) : Default(field));
    }
    return array;
  }

  static Value Map(const Object* source) {
    if (source == nullptr || source->empty()) return nullptr;
    std::vector<Member> members;
    members.reserve(source->size());
    ForEachByKey(*source, [&](const Member& member) {
      const bool is_text = member.value.AsString() != nullptr;
      members.push_back({member.key, is_text ? member.value : Value("")});
    });
    return Object::FromUnique(std::move(members));
  }

  Value One(const api::Field& field, const Value& value) const {
    if (field.type == api::Type::kMessage) return Nested(&value, *field.message);
    if (field.type != api::Type::kFieldsV1) return value;
    return ParseJson(*value.AsString(), {.bytes = SIZE_MAX, .depth = kDeepestAllowed})
        .value_or(Value(Object()));
  }

  Value Nested(const Value* value, const api::Message& message) const {
    std::vector<Member> members;
    const Object* object = value == nullptr ? nullptr : value->AsObject();
    members.reserve(object == nullptr ? 0 : object->size());
    Members(members, value, message, kAllMembers);
    return Object::FromUnique(std::move(members));
  }

  // Returns what Go writes for a field that was never set.
  Value Default(const api::Field& field) const {
    switch (field.type) {
      case api::Type::kString:
        return "";
      case api::Type::kBool:
        return false;
      case api::Type::kInt32:
      case api::Type::kInt64:
      case api::Type::kIntOrString:
        return 0;
      case api::Type::kQuantity:
        return "0";
      case api::Type::kTime:
      case api::Type::kMicroTime:
      case api::Type::kFieldsV1:
        return nullptr;
      case api::Type::kMessage:
        break;
    }
    return Nested(nullptr, *field.message);
  }

  const DocumentStyle style_;
};

}  // namespace

Value ToDocument(const Value& canonical, const api::Message& message, const Identity& identity,
                 const DocumentStyle& style) {
  std::vector<Member> members;
  members.reserve(message.fields.size() + 2);
  if (!identity.kind.empty()) {
    members.push_back({"kind", identity.kind});
    members.push_back({"apiVersion", identity.api_version});
  }
  Builder(style).Members(members, &canonical, message, style.members);
  return Object::FromUnique(std::move(members));
}

}  // namespace berth::codec
