// Sends random objects of every kind through every format.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/kinds.h"
#include "api/meta.h"
#include "base/random.h"
#include "base/testing/base_kit.h"
#include "codec/decode.h"
#include "codec/encode.h"
#include "codec/protobuf.h"
#include "codec/storage.h"
#include "codec/timestamp.h"
#include "codec/yaml.h"

namespace berth::codec {
namespace {

// Makes canonical objects. Each field is present or absent, with values that are easy to get wrong.
class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  Object Message(const api::Message& message) {
    Object object;
    for (const api::Field& field : message.fields) {
      if (Draw(2) == 0) continue;
      Value value = Field(field);
      if (!value.IsNull()) object.Set(std::string(field.name), std::move(value));
    }
    return object;
  }

 private:
  uint64_t Draw(uint64_t bound) { return base::Uniform(random_, bound); }

  // Returns null if a canonical object would not have the value.
  Value Field(const api::Field& field) {
    if (field.shape == api::Shape::kOne) {
      Value value = One(field);
      const bool empty = value == Value("") || value == Value(0) || value == Value(false) ||
                         value == Value(Object());
      const bool kept = field.IsPointer() ||
                        (field.type == api::Type::kIntOrString && value.AsString() != nullptr);
      return empty && !kept ? Value() : value;
    }
    const uint64_t size = 1 + Draw(3);
    Value entries;
    for (uint64_t i = 0; i < size; ++i) {
      if (field.shape == api::Shape::kList) {
        entries.Append(One(field));
      } else {
        entries.Set(Text(), One(field));
      }
    }
    return entries;
  }

  Value One(const api::Field& field) {
    switch (field.type) {
      case api::Type::kString:
        return Text();
      case api::Type::kBool:
        return Draw(2) == 1;
      case api::Type::kInt32:
        return Int32();
      case api::Type::kInt64:
        return static_cast<int64_t>(random_.Next() >> Draw(64));
      case api::Type::kTime:
        return Time(false);
      case api::Type::kMicroTime:
        return Time(true);
      case api::Type::kIntOrString:
        return Draw(2) == 0 ? Value(Int32()) : Value(Text());
      case api::Type::kFieldsV1:
        return R"({"f:spec":{".":{},"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:port":{}}}})";
      case api::Type::kQuantity:
        return std::vector<const char*>{"0", "500m", "1536Mi", "-2k", "12e6"}[Draw(5)];
      case api::Type::kMessage:
        break;
    }
    return Message(*field.message);
  }

  int64_t Int32() { return static_cast<int32_t>(random_.Next()) >> Draw(32); }

  std::string Time(bool micros) {
    std::string text;
    const auto span = static_cast<uint64_t>(kLastSecond - kFirstSecond + 1);
    const Instant instant{.seconds = kFirstSecond + static_cast<int64_t>(Draw(span)),
                          .nanos = micros ? static_cast<int32_t>(Draw(1'000'000)) * 1000 : 0};
    AppendInstant(text, instant, micros);
    return text;
  }

  std::string Text() {
    static const std::vector<std::string> pieces = {"a",      "B",
                                                    "0",      "-",
                                                    ".",      "/",
                                                    " ",      "\n",
                                                    "\"",     "\\",
                                                    "<",      "&",
                                                    "é",      "😀",
                                                    "\u2028", "yes",
                                                    "1e3",    "~",
                                                    "#",      ": ",
                                                    "\t",     std::string(1, '\0'),
                                                    "\x7f",   std::string(40, 'x')};
    std::string text;
    for (uint64_t i = Draw(4); i > 0; --i) text += pieces[Draw(pieces.size())];
    return text;
  }

  base::SeededRandom random_;
};

void ExpectSameFromProtobuf(const Value& object, const api::Kind& kind, const std::string& json) {
  const api::Message& message = *kind.message;
  const std::string bytes = EncodeProto(object, message);
  const auto decoded = DecodeProto(bytes, message);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  ASSERT_EQ(*decoded, object);
  ASSERT_EQ(EncodeProto(*decoded, message), bytes);
  const Identity identity{.api_version = kind.api_version, .kind = kind.kind};
  ASSERT_EQ(EncodeMessage(*decoded, message, identity), json);
}

TEST(Objects, EveryFormatGivesTheObjectBack) {
  const uint64_t seed = base::TestSeed(20261115);
  Maker maker(seed);
  for (int64_t i = 0; i < base::LongCount(5'000); ++i) {
    for (const api::Kind* kind : api::AllKinds()) {
      const api::Message& message = *kind->message;
      const Identity identity{.api_version = kind->api_version, .kind = kind->kind};
      const Value object = maker.Message(message);
      const std::string json = EncodeMessage(object, message, identity);
      SCOPED_TRACE(fmt::format("BERTH_SEED={}: {}", seed, json));

      const auto from_json = DecodeJson(json, message);
      ASSERT_TRUE(from_json.has_value()) << from_json.error().message;
      ASSERT_EQ(from_json->object, object);
      ASSERT_TRUE(from_json->problems.empty());
      ASSERT_EQ(EncodeMessage(from_json->object, message, identity), json);

      if (kind->has_protobuf) {
        ASSERT_NO_FATAL_FAILURE(ExpectSameFromProtobuf(object, *kind, json));
      }

      const Value document = ToDocument(object, message, identity);
      ASSERT_EQ(WriteJson(document), WriteJson(ParseJson(json).value()));  // Checks the order too.
      const auto from_yaml = DecodeYaml(WriteYaml(document), message);
      ASSERT_TRUE(from_yaml.has_value()) << from_yaml.error().message;
      ASSERT_EQ(from_yaml->object, object);

      const auto pretty = DecodeJson(WriteJson(document, {.indent = 2}), message);
      ASSERT_TRUE(pretty.has_value());
      ASSERT_EQ(pretty->object, object);
    }
  }
}

}  // namespace
}  // namespace berth::codec
