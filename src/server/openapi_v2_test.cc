#include "server/openapi_v2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codec/json.h"
#include "codec/read.h"
#include "server/openapi_v3.h"

namespace berth::server {
namespace {

using codec::Array;
using codec::Member;
using codec::Object;
using codec::ObjectAt;
using codec::StringAt;
using codec::Value;
using ::testing::ElementsAre;

// The part of google/gnostic's OpenAPIv2.proto that the document needs: for each message and field
// number, the JSON name and how to read the field. A field that is not here fails the test.
enum class How {
  kText,
  kTexts,
  kBool,
  kAny,        // JSON text inside a message Any.
  kOne,        // A message.
  kEach,       // Repeated messages: an array.
  kMap,        // Repeated messages of name and value: members of the object itself.
  kSelf,       // A message whose members are those of the object itself, such as one of a choice.
  kFirstText,  // A message with one string, which is the value.
};
struct Rule {
  std::string name;
  How how = How::kText;
  std::string message = {};
};
const std::map<std::string, std::map<uint64_t, Rule>>& Rules() {
  static const std::map<std::string, std::map<uint64_t, Rule>> rules = {
      {"Document",
       {{1, {"swagger"}},
        {2, {"info", How::kOne, "Info"}},
        {8, {"paths", How::kOne, "Paths"}},
        {9, {"definitions", How::kOne, "Schemas"}},
        {10, {"parameters", How::kOne, "Parameters"}}}},
      {"Info", {{1, {"title"}}, {2, {"version"}}}},
      {"Paths", {{2, {"", How::kMap, "PathItem"}}}},
      {"Schemas", {{1, {"", How::kMap, "Schema"}}}},
      {"Parameters", {{1, {"", How::kMap, "Parameter"}}}},
      {"Responses", {{1, {"", How::kMap, "ResponseValue"}}}},
      {"PathItem",
       {{2, {"get", How::kOne, "Operation"}},
        {3, {"put", How::kOne, "Operation"}},
        {4, {"post", How::kOne, "Operation"}},
        {5, {"delete", How::kOne, "Operation"}},
        {8, {"patch", How::kOne, "Operation"}},
        {9, {"parameters", How::kEach, "ParametersItem"}}}},
      {"Operation",
       {{1, {"tags", How::kTexts}},
        {3, {"description"}},
        {5, {"operationId"}},
        {6, {"produces", How::kTexts}},
        {7, {"consumes", How::kTexts}},
        {8, {"parameters", How::kEach, "ParametersItem"}},
        {9, {"responses", How::kOne, "Responses"}},
        {13, {"", How::kMap, "Any"}}}},
      {"ParametersItem",
       {{1, {"", How::kSelf, "Parameter"}}, {2, {"", How::kSelf, "JsonReference"}}}},
      {"JsonReference", {{1, {"$ref"}}}},
      {"Parameter",
       {{1, {"", How::kSelf, "BodyParameter"}}, {2, {"", How::kSelf, "NonBodyParameter"}}}},
      {"BodyParameter",
       {{2, {"name"}},
        {3, {"in"}},
        {4, {"required", How::kBool}},
        {5, {"schema", How::kOne, "Schema"}}}},
      {"NonBodyParameter",
       {{3, {"", How::kSelf, "QueryParameter"}}, {4, {"", How::kSelf, "PathParameter"}}}},
      {"QueryParameter",
       {{1, {"required", How::kBool}},
        {2, {"in"}},
        {3, {"description"}},
        {4, {"name"}},
        {6, {"type"}}}},
      {"PathParameter",
       {{1, {"required", How::kBool}},
        {2, {"in"}},
        {3, {"description"}},
        {4, {"name"}},
        {5, {"type"}}}},
      {"ResponseValue", {{1, {"", How::kSelf, "Response"}}}},
      {"Response", {{1, {"description"}}, {2, {"schema", How::kOne, "SchemaItem"}}}},
      {"SchemaItem", {{1, {"", How::kSelf, "Schema"}}}},
      {"AdditionalProperties", {{1, {"", How::kSelf, "Schema"}}}},
      {"Items", {{1, {"", How::kSelf, "Schema"}}}},
      {"Schema",
       {{1, {"$ref"}},
        {2, {"format"}},
        {4, {"description"}},
        {5, {"default", How::kAny}},
        {19, {"required", How::kTexts}},
        {21, {"additionalProperties", How::kOne, "AdditionalProperties"}},
        {22, {"type", How::kFirstText}},
        {23, {"items", How::kOne, "Items"}},
        {25, {"properties", How::kOne, "Schemas"}},
        {31, {"", How::kMap, "Any"}}}},
  };
  return rules;
}

struct WireField {
  uint64_t number = 0;
  uint64_t varint = 0;
  std::string_view bytes = {};
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool Next(WireField& field) {
    if (rest_.empty()) return false;
    const uint64_t key = Varint();
    field = {.number = key >> 3};
    if ((key & 7) == 0) {
      field.varint = Varint();
      return true;
    }
    EXPECT_EQ(key & 7, 2U);
    const uint64_t size = Varint();
    EXPECT_LE(size, rest_.size());
    field.bytes = rest_.substr(0, size);
    rest_.remove_prefix(field.bytes.size());
    return true;
  }

 private:
  uint64_t Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; !rest_.empty() && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    ADD_FAILURE() << "a varint without an end";
    return value;
  }

  std::string_view rest_;
};

/// Returns the only field `number` of a message.
std::string_view Only(std::string_view bytes, uint64_t number) {
  Reader reader(bytes);
  WireField field;
  EXPECT_TRUE(reader.Next(field));
  EXPECT_EQ(field.number, number);
  WireField more;
  EXPECT_FALSE(reader.Next(more));
  return field.bytes;
}

Value Any(std::string_view bytes) {
  base::Result<Value> value = codec::ParseJson(Only(bytes, 2));
  EXPECT_TRUE(value.has_value());
  return value.has_value() ? *value : Value();
}

void ReadInto(std::string_view bytes, const std::string& message, Value& object);

Value Read(std::string_view bytes, const std::string& message) {
  if (message == "Any") return Any(bytes);
  Value object = Object();
  ReadInto(bytes, message, object);
  return object;
}

void ReadEntry(std::string_view bytes, const std::string& message, Value& object) {
  Reader reader(bytes);
  WireField name;
  WireField value;
  ASSERT_TRUE(reader.Next(name) && reader.Next(value));
  ASSERT_TRUE(name.number == 1 && value.number == 2);
  object.Set(std::string(name.bytes), Read(value.bytes, message));
}

void ReadInto(std::string_view bytes, const std::string& message, Value& object) {
  Reader reader(bytes);
  WireField field;
  const auto append = [&object](const std::string& name, Value value) {
    if (object.Find(name) == nullptr) object.Set(name, Array());
    object.Find(name)->Append(std::move(value));
  };
  while (reader.Next(field)) {
    const auto found = Rules().at(message).find(field.number);
    ASSERT_NE(found, Rules().at(message).end()) << message << " " << field.number;
    const Rule& rule = found->second;
    switch (rule.how) {
      case How::kText:
        object.Set(rule.name, field.bytes);
        break;
      case How::kTexts:
        append(rule.name, field.bytes);
        break;
      case How::kBool:
        object.Set(rule.name, field.varint == 1);
        break;
      case How::kAny:
        object.Set(rule.name, Any(field.bytes));
        break;
      case How::kOne:
        object.Set(rule.name, Read(field.bytes, rule.message));
        break;
      case How::kEach:
        append(rule.name, Read(field.bytes, rule.message));
        break;
      case How::kMap:
        ReadEntry(field.bytes, rule.message, object);
        break;
      case How::kSelf:
        ReadInto(field.bytes, rule.message, object);
        break;
      case How::kFirstText:
        object.Set(rule.name, Only(field.bytes, 1));
        break;
    }
  }
}

const OpenApiV2& AllV2() {
  static const OpenApiV2 all(api::AllKinds());
  return all;
}

const Value& Json() {
  static const Value json = codec::ParseJson(*AllV2().Json().body).value_or(Value());
  return json;
}

TEST(OpenApiV2, ProtobufSaysWhatTheJsonSays) {
  const Value decoded = Read(*AllV2().Protobuf().body, "Document");
  ASSERT_FALSE(ObjectAt(Json(), "definitions").empty());
  for (const Member& member : *Json().AsObject()) {
    const Value* same = decoded.Find(member.key);
    ASSERT_NE(same, nullptr) << member.key;
    if (member.value.AsObject() == nullptr) continue;
    for (const Member& inner : *member.value.AsObject()) {
      ASSERT_NE(same->Find(inner.key), nullptr) << inner.key;
      EXPECT_EQ(codec::WriteJson(*same->Find(inner.key)).size(),
                codec::WriteJson(inner.value).size())
          << inner.key;
    }
  }
  EXPECT_TRUE(decoded == Json());
}

/// Converts a schema of v3 to v2.
Value InV2(const Value& schema) {
  if (schema.AsArray() != nullptr) {
    Array items;
    for (const Value& item : *schema.AsArray()) items.push_back(InV2(item));
    return items;
  }
  if (schema.AsObject() == nullptr) return schema;
  Value out = Object();
  for (const Member& member : *schema.AsObject()) {
    if (member.key == "$ref") {
      const std::string& ref = *member.value.AsString();
      out.Set("$ref", "#/definitions/" + ref.substr(ref.rfind('/') + 1));
    } else if (member.key == "allOf") {
      out.Set("$ref", *InV2(member.value.AsArray()->front()).Find("$ref"));
    } else if (member.key == "oneOf") {
      out.Set("type", "string");
    } else {
      out.Set(member.key, InV2(member.value));
    }
  }
  return out;
}

TEST(OpenApiV2, DefinitionsAreTheSchemasOfAllGroups) {
  const OpenApiV3 v3(api::AllKinds());
  std::set<std::string> names;
  for (const api::Kind* kind : api::AllKinds()) {
    const Document* document =
        v3.Find((kind->group.empty() ? "api/" : "apis/") + std::string(kind->api_version));
    ASSERT_NE(document, nullptr);
    const Value parsed = codec::ParseJson(*document->body).value_or(Value());
    for (const Member& schema : ObjectAt(parsed, "components", "schemas")) {
      names.insert(schema.key);
      const Value* definition = codec::FindAt(Json(), "definitions", schema.key);
      ASSERT_NE(definition, nullptr) << schema.key;
      EXPECT_EQ(codec::WriteJson(*definition), codec::WriteJson(InV2(schema.value)));
    }
  }
  EXPECT_EQ(names.size(), ObjectAt(Json(), "definitions").size());
}

// kubectl 1.20 decides here about --dry-run=server and the kind of patch.
TEST(OpenApiV2, PatchSaysWhatKubectlLooksFor) {
  size_t patches = 0;
  for (const Member& path : ObjectAt(Json(), "paths")) {
    const Value* patch = path.value.Find("patch");
    if (patch == nullptr) continue;
    SCOPED_TRACE(path.key);
    ++patches;
    std::vector<std::string_view> names;
    for (const Value& parameter : codec::ArrayAt(*patch, "parameters")) {
      names.push_back(StringAt(parameter, "name"));
    }
    EXPECT_THAT(names, ElementsAre("dryRun", "fieldManager", "fieldValidation", "force", "body"));
    EXPECT_EQ(ObjectAt(*patch, "x-kubernetes-group-version-kind").size(), 3U);
    EXPECT_THAT(
        codec::ArrayAt(*patch, "consumes"),
        ElementsAre(Value("application/json-patch+json"), Value("application/merge-patch+json"),
                    Value("application/strategic-merge-patch+json"),
                    Value("application/apply-patch+yaml")));
  }
  EXPECT_GE(patches, api::AllKinds().size());
}

// kubectl 1.20 reads neither a definition that wraps a reference nor one that has several types.
TEST(OpenApiV2, ReferencesStandBesideTheirDescription) {
  const Value* property =
      codec::FindAt(Json(), "definitions", "io.k8s.api.core.v1.Service", "properties", "spec");
  ASSERT_NE(property, nullptr);
  EXPECT_EQ(StringAt(*property, "$ref"), "#/definitions/io.k8s.api.core.v1.ServiceSpec");
  EXPECT_FALSE(StringAt(*property, "description").empty());
  const Value* number_or_name =
      codec::FindAt(Json(), "definitions", "io.k8s.apimachinery.pkg.util.intstr.IntOrString");
  ASSERT_NE(number_or_name, nullptr);
  EXPECT_EQ(StringAt(*number_or_name, "type"), "string");
  EXPECT_EQ(StringAt(*number_or_name, "format"), "int-or-string");
}

TEST(OpenApiV2, DocumentsAreSmallStableAndNamedSoThatGoAcceptsIt) {
  EXPECT_LT(AllV2().Json().body->size(), 220'000U);
  EXPECT_LT(AllV2().Protobuf().body->size(), 180'000U);
  EXPECT_EQ(AllV2().Json().content_type, "application/json");
  EXPECT_EQ(AllV2().Protobuf().content_type.find('@'), std::string::npos);
  const OpenApiV2 again(api::AllKinds());
  EXPECT_EQ(again.Json().etag, AllV2().Json().etag);
  EXPECT_EQ(again.Protobuf().etag, AllV2().Protobuf().etag);
  EXPECT_NE(AllV2().Json().etag, AllV2().Protobuf().etag);
  EXPECT_FALSE(AllV2().Json().etag.empty());
}

}  // namespace
}  // namespace berth::server
