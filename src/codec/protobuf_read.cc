#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/escape.h"
#include "codec/decode_walk.h"
#include "codec/fields.h"
#include "codec/json_dom.h"
#include "codec/proto_wire.h"
#include "codec/protobuf.h"
#include "codec/quantity.h"
#include "codec/sources.h"
#include "codec/timestamp.h"

namespace berth::codec {
namespace {

constexpr uint64_t kTypeInt = 0;
constexpr uint64_t kTypeString = 1;

bool IsUtf8(std::string_view text) {
  unsigned char any = 0;  // Nearly every text is ASCII, which is quick to check.
  for (const char c : text) any |= static_cast<unsigned char>(c);
  return any < 0x80 || base::FindInvalidUtf8(text) == std::string_view::npos;
}

// Returns whether JSON text certainly has no white space between tokens and
// nothing that Go escapes.
bool IsCompact(std::string_view json) {
  return std::none_of(json.begin(), json.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '<' || c == '>' || c == '&';
  });
}

WireType WireTypeOf(const api::Field& field) {
  const bool number = field.type == api::Type::kBool || field.type == api::Type::kInt32 ||
                      field.type == api::Type::kInt64;
  return number ? WireType::kVarint : WireType::kBytes;
}

// Decodes one message and the messages inside it. Messages do not contain themselves,
// so the tables bound the depth.
class Decoder {
 public:
  bool Failed() const { return fault_.has_value(); }
  std::string TakeFault() { return std::move(*fault_); }

  Object ReadMessage(std::string_view bytes, const api::Message& message) {
    MemberFiller filler(message, message.fields.size());
    std::string unknown;
    size_t next = 0;  // Index in by_number: fields mostly come in this order.
    ProtoReader reader(bytes);
    ProtoReader::Field part;
    while (!Failed() && reader.Next(part)) {
      const api::Field* field = FindNumber(message, part.number, next);
      if (field == nullptr) {
        unknown += part.whole;
      } else if (part.type != WireTypeOf(*field)) {
        Fail(fmt::format("proto: wrong wireType = {} for field {}.{}", static_cast<int>(part.type),
                         message.Name(), field->name));
      } else {
        ReadField(part, *field, message.PositionOf(*field), filler);
      }
    }
    if (reader.Failed()) Fail(fmt::format("proto: {} is cut off or malformed", message.Name()));
    Object object = filler.Finish();
    if (!unknown.empty()) object.Set(std::string(kUnknownFields), std::move(unknown));
    return object;
  }

 private:
  static const api::Field* FindNumber(const api::Message& message, uint32_t number, size_t& next) {
    for (; next < message.by_number.size(); ++next) {
      const api::Field& field = message.fields[message.by_number[next]];
      if (field.number == number) return &field;
      if (field.number > number) break;
    }
    return message.FindNumber(number);
  }

  void ReadField(const ProtoReader::Field& part, const api::Field& field, size_t position,
                 MemberFiller& filler) {
    const bool again = filler.MarkSeen(position);
    if (field.shape == api::Shape::kOne) {
      if (again) filler.Withdraw(position);
      Value& value = filler.Put(position);
      ReadOne(part, field, value);
      if (IsUnset(value, field)) filler.Unput();
      return;
    }
    Value* entries = again ? filler.Find(position) : nullptr;
    const bool is_map = field.shape == api::Shape::kMap;
    if (entries == nullptr) {
      entries = &filler.Put(position);
      if (is_map) {
        entries->MakeObject();
      } else {
        entries->MakeArray();
      }
    }
    if (is_map) {
      ReadMapEntry(part.content, field, *entries);
    } else {
      ReadOne(part, field, entries->AsArray()->emplace_back());
    }
  }

  void ReadMapEntry(std::string_view bytes, const api::Field& field, Value& map) {
    std::string_view key;
    std::string_view value;
    ProtoReader reader(bytes);
    ProtoReader::Field part;
    while (reader.Next(part)) {
      if (part.type != WireType::kBytes) continue;
      if (part.number == 1) key = part.content;
      if (part.number == 2) value = part.content;
    }
    if (reader.Failed()) Fail("proto: an entry of a map is cut off or malformed");
    const bool is_quantity = field.type == api::Type::kQuantity;
    map.Set(std::string(Text(key)), is_quantity ? ReadQuantity(value) : Value(Text(value)));
  }

  // Fills `out`, which is null at first, and leaves it null for "not set".
  void ReadOne(const ProtoReader::Field& part, const api::Field& field, Value& out) {
    switch (field.type) {
      case api::Type::kString:
        out.MakeString(Text(part.content));
        return;
      case api::Type::kBool:
        out = part.varint != 0;
        return;
      case api::Type::kInt32:
        out = static_cast<int32_t>(part.varint);
        return;
      case api::Type::kInt64:
        out = static_cast<int64_t>(part.varint);
        return;
      case api::Type::kTime:
        out = ReadTime(part.content, false);
        return;
      case api::Type::kMicroTime:
        out = ReadTime(part.content, true);
        return;
      case api::Type::kIntOrString:
        out = ReadIntOrString(part.content);
        return;
      case api::Type::kFieldsV1:
        out = ReadFieldsV1(part.content);
        return;
      case api::Type::kQuantity:
        out = ReadQuantity(part.content);
        return;
      case api::Type::kMessage:
        out.MakeObject() = ReadMessage(part.content, *field.message);
        return;
    }
  }

  Value ReadQuantity(std::string_view bytes) {
    std::string_view text = "0";
    ProtoReader reader(bytes);
    ProtoReader::Field part;
    while (reader.Next(part)) {
      if (part.number == 1 && part.type == WireType::kBytes) text = part.content;
    }
    auto quantity = ParseQuantity(text);
    if (reader.Failed() || !quantity) {
      Fail("proto: a Quantity is malformed");
      return nullptr;
    }
    return std::move(quantity->text);
  }

  std::string_view Text(std::string_view bytes) {
    if (!IsUtf8(bytes)) Fail("proto: a string is not UTF-8");
    return bytes;
  }

  // Reads a time. Empty bytes are Go's zero time.
  Value ReadTime(std::string_view bytes, bool micros) {
    if (bytes.empty()) return nullptr;
    Instant instant;
    ProtoReader reader(bytes);
    ProtoReader::Field part;
    while (reader.Next(part)) {
      if (part.type != WireType::kVarint) continue;
      if (part.number == 1) instant.seconds = static_cast<int64_t>(part.varint);
      if (part.number == 2) instant.nanos = static_cast<int32_t>(part.varint);
    }
    const bool in_range = instant.seconds >= kFirstSecond && instant.seconds <= kLastSecond &&
                          instant.nanos >= 0 && instant.nanos < 1'000'000'000;
    if (reader.Failed() || !in_range) {
      Fail("proto: a time is malformed or out of range");
      return nullptr;
    }
    if (IsZeroTime(instant, micros)) return nullptr;
    std::string text;
    AppendInstant(text, instant, micros);
    return text;
  }

  Value ReadIntOrString(std::string_view bytes) {
    uint64_t type = kTypeInt;
    int32_t number = 0;
    std::string_view text;
    ProtoReader reader(bytes);
    ProtoReader::Field part;
    while (reader.Next(part)) {
      if (part.number == 1 && part.type == WireType::kVarint) type = part.varint;
      if (part.number == 2 && part.type == WireType::kVarint) {
        number = static_cast<int32_t>(part.varint);
      }
      if (part.number == 3 && part.type == WireType::kBytes) text = Text(part.content);
    }
    if (reader.Failed() || type > kTypeString) Fail("proto: an IntOrString is malformed");
    return type == kTypeInt ? Value(number) : Value(text);
  }

  // Reads managed fields. The text is later written into JSON unchanged, so it must be JSON.
  Value ReadFieldsV1(std::string_view bytes) {
    std::string_view raw;
    ProtoReader reader(bytes);
    ProtoReader::Field part;
    while (reader.Next(part)) {
      if (part.number == 1 && part.type == WireType::kBytes) raw = part.content;
    }
    if (reader.Failed()) Fail("proto: a FieldsV1 is cut off or malformed");
    if (raw.empty() || Failed()) return nullptr;
    JsonDom dom;
    const auto root = dom.Parse(raw, {.bytes = std::numeric_limits<size_t>::max()});
    if (!root) {
      Fail("proto: a FieldsV1 is not JSON");
      return nullptr;
    }
    if (IsCompact(raw)) return raw;
    std::string text;
    AppendCompact(text, JsonSource{*root});
    return text;
  }

  void Fail(std::string what) {
    if (!fault_) fault_ = std::move(what);
  }

  std::optional<std::string> fault_;
};

}  // namespace

base::Result<Value> DecodeProto(std::string_view bytes, const api::Message& message,
                                const ProtoLimits& limits) {
  if (bytes.size() > limits.bytes) {
    return base::Fail(base::Reason::kBadRequest,
                      fmt::format("proto: {} bytes, which is more than the limit of {} bytes",
                                  bytes.size(), limits.bytes));
  }
  Decoder decoder;
  Value value = decoder.ReadMessage(bytes, message);
  if (decoder.Failed()) return base::Fail(base::Reason::kBadRequest, decoder.TakeFault());
  return value;
}

base::Result<Envelope> DecodeEnvelope(std::string_view bytes) {
  if (!bytes.starts_with(kProtobufMagic)) {
    return base::Fail(base::Reason::kBadRequest,
                      "provided data does not appear to be a protobuf message, expected prefix "
                      "[107 56 115 0]");
  }
  Envelope envelope;
  bool readable = true;
  bool encoded = false;
  ProtoReader reader(bytes.substr(kProtobufMagic.size()));
  ProtoReader::Field part;
  while (reader.Next(part)) {
    if (part.type != WireType::kBytes) continue;
    if (part.number == 1) {
      ProtoReader header(part.content);
      ProtoReader::Field name;
      while (header.Next(name)) {
        if (name.number == 1) envelope.api_version = name.content;
        if (name.number == 2) envelope.kind = name.content;
      }
      readable = readable && !header.Failed();
    }
    if (part.number == 2) envelope.raw = part.content;
    if (part.number == 3) encoded = !part.content.empty();
  }
  readable = readable && !reader.Failed() && IsUtf8(envelope.api_version) && IsUtf8(envelope.kind);
  if (!readable || encoded) {
    return base::Fail(base::Reason::kBadRequest, "proto: the envelope is cut off or malformed");
  }
  return envelope;
}

}  // namespace berth::codec
