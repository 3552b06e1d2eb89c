#include <vector>

#include "api/meta.h"
#include "codec/fields.h"
#include "codec/proto_wire.h"
#include "codec/protobuf.h"
#include "codec/read.h"
#include "codec/timestamp.h"

namespace berth::codec {
namespace {

// Writes everything from back to front: the last field first, the last entry first.
class Encoder {
 public:
  explicit Encoder(ProtoStyle style) : style_(style) {}

  std::string Take() const { return out_.Take(); }

  ProtoWriter& Out() { return out_; }

  void Message(const Value* value, const api::Message& message) {
    if (value != nullptr) {
      const Value* unknown = value->Find(kUnknownFields);
      if (unknown != nullptr && unknown->AsString() != nullptr) {
        out_.PrependRaw(*unknown->AsString());
      }
    }
    const FieldValues values(value, message);
    for (size_t i = message.by_number.size(); i-- > 0;) {
      const size_t position = message.by_number[i];
      const api::Field& field = message.fields[position];
      Field(field, LeftEmpty(field, message) ? nullptr : values.At(position));
    }
  }

 private:
  bool LeftEmpty(const api::Field& field, const api::Message& message) const {
    return style_.for_storage && &message == &api::kObjectMeta &&
           (field.name == "resourceVersion" || field.name == "selfLink");
  }

  void Field(const api::Field& field, const Value* value) {
    switch (field.shape) {
      case api::Shape::kList:
        if (const Array* array = value == nullptr ? nullptr : value->AsArray()) {
          for (size_t i = array->size(); i-- > 0;) Entry(field, (*array)[i]);
        }
        return;
      case api::Shape::kMap:
        if (const Object* object = value == nullptr ? nullptr : value->AsObject()) {
          Map(field, *object);
        }
        return;
      case api::Shape::kOne:
        break;
    }
    if (value != nullptr && !FitsType(*value, field.type)) value = nullptr;
    if (value != nullptr || !field.IsPointer()) One(field, value);
  }

  void Entry(const api::Field& field, const Value& item) {
    One(field, FitsType(item, field.type) ? &item : nullptr);
  }

  void Map(const api::Field& field, const Object& object) {
    std::vector<const Member*> members;
    members.reserve(object.size());
    ForEachByKey(object, [&](const Member& member) { members.push_back(&member); });
    for (size_t i = members.size(); i-- > 0;) {
      const size_t before = out_.Size();
      One(field, 2, FitsType(members[i]->value, field.type) ? &members[i]->value : nullptr);
      out_.PrependBytesField(1, members[i]->key);
      out_.PrependLength(field.number, out_.Size() - before);
    }
  }

  void One(const api::Field& field, const Value* value) { One(field, field.number, value); }

  // Writes one value. Null stands for the empty value, which is written too.
  void One(const api::Field& field, uint32_t number, const Value* value) {
    switch (field.type) {
      case api::Type::kString:
        out_.PrependBytesField(number, Text(value));
        return;
      case api::Type::kBool:
        out_.PrependVarintField(number, value != nullptr && *value->AsBool() ? 1 : 0);
        return;
      case api::Type::kInt32:
      case api::Type::kInt64:
        out_.PrependVarintField(number, NumberOf(value));
        return;
      default:
        break;
    }
    const size_t before = out_.Size();
    Content(field, value);
    out_.PrependLength(number, out_.Size() - before);
  }

  void Content(const api::Field& field, const Value* value) {
    switch (field.type) {
      case api::Type::kTime:
      case api::Type::kMicroTime:
        Time(Text(value), field.type == api::Type::kMicroTime);
        return;
      case api::Type::kIntOrString: {
        const bool is_text = value != nullptr && value->AsString() != nullptr;
        out_.PrependBytesField(3, Text(value));
        out_.PrependVarintField(2, NumberOf(value));
        out_.PrependVarintField(1, is_text ? 1 : 0);
        return;
      }
      case api::Type::kQuantity:
        out_.PrependBytesField(1, value == nullptr ? "0" : Text(value));
        return;
      case api::Type::kFieldsV1:
        if (!Text(value).empty()) out_.PrependBytesField(1, Text(value));
        return;
      default:
        Message(value, *field.message);
        return;
    }
  }

  void Time(std::string_view text, bool micros) {
    const auto instant = ParseInstant(text);
    if (!instant) return;  // The time is not set.
    const int32_t nanos = micros ? instant->nanos / 1000 * 1000 : 0;
    out_.PrependVarintField(2, static_cast<uint64_t>(nanos));
    out_.PrependVarintField(1, static_cast<uint64_t>(instant->seconds));
  }

  // A negative number takes ten bytes, as in Go.
  static uint64_t NumberOf(const Value* value) {
    return value == nullptr ? 0 : static_cast<uint64_t>(value->AsInt().value_or(0));
  }

  const ProtoStyle style_;
  ProtoWriter out_;
};

template <typename Content>
void PrependEnvelope(ProtoWriter& out, std::string_view api_version, std::string_view kind,
                     const Content& prepend_content) {
  out.PrependBytesField(4, {});  // contentType
  out.PrependBytesField(3, {});  // contentEncoding
  const size_t before_content = out.Size();
  prepend_content();
  out.PrependLength(2, out.Size() - before_content);
  const size_t before_type = out.Size();
  out.PrependBytesField(2, kind);
  out.PrependBytesField(1, api_version);
  out.PrependLength(1, out.Size() - before_type);
  out.PrependRaw(kProtobufMagic);
}

}  // namespace

std::string EncodeProto(const Value& canonical, const api::Message& message, ProtoStyle style) {
  Encoder encoder(style);
  encoder.Message(&canonical, message);
  return encoder.Take();
}

std::string WrapEnvelope(std::string_view api_version, std::string_view kind,
                         std::string_view raw) {
  ProtoWriter out;
  PrependEnvelope(out, api_version, kind, [&] { out.PrependRaw(raw); });
  return out.Take();
}

std::string EncodeEnvelope(const Value& canonical, const api::Kind& kind, ProtoStyle style) {
  Encoder encoder(style);
  PrependEnvelope(encoder.Out(), kind.api_version, kind.kind,
                  [&] { encoder.Message(&canonical, *kind.message); });
  return encoder.Take();
}

}  // namespace berth::codec
