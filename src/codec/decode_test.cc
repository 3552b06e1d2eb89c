#include "codec/decode.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core.h"
#include "api/meta.h"
#include "codec/encode.h"
#include "codec/read.h"

namespace berth::codec {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Identity kServiceIdentity{.api_version = "v1", .kind = "Service"};

std::vector<std::string> Texts(const std::vector<Problem>& problems) {
  std::vector<std::string> texts;
  texts.reserve(problems.size());
  for (const Problem& problem : problems) texts.push_back(problem.text);
  return texts;
}

Decoded MustDecode(std::string_view body, const api::Message& message = api::kService) {
  auto decoded = DecodeJson(body, message);
  EXPECT_TRUE(decoded.has_value()) << body << ": " << decoded.error().message;
  return decoded.value_or(Decoded{});
}

std::string DecodeError(std::string_view body, const api::Message& message = api::kService) {
  const auto decoded = DecodeJson(body, message);
  if (decoded) return "no error";
  EXPECT_EQ(decoded.error().reason, base::Reason::kBadRequest);
  return decoded.error().message;
}

std::string ServerErrorOf(std::string_view body) {
  const auto decoded =
      DecodeJson(body, api::kService, {.limits = {}, .expected = kServiceIdentity});
  return decoded ? "no error" : decoded.error().message;
}

TEST(DecodeJson, CanonicalOrderAndTypes) {
  const Decoded decoded = MustDecode(
      R"({"spec":{"type":"NodePort","ports":[{"targetPort":"http","port":80,"nodePort":30080}]},
          "metadata":{"name":"web","labels":{"b":"2","a":"1"},"creationTimestamp":null},
          "apiVersion":"v1","kind":"Service"})");
  EXPECT_EQ(decoded.kind, "Service");
  EXPECT_EQ(decoded.api_version, "v1");
  EXPECT_THAT(decoded.problems, IsEmpty());
  EXPECT_EQ(WriteJson(decoded.object),
            R"({"metadata":{"name":"web","labels":{"b":"2","a":"1"}},)"
            R"("spec":{"ports":[{"port":80,"targetPort":"http","nodePort":30080}],)"
            R"("type":"NodePort"}})");
}

TEST(DecodeJson, WhatIsNotSetIsNotThere) {
  const Decoded decoded = MustDecode(
      R"({"metadata":{"name":"","generation":0,"labels":{},"finalizers":[],"ownerReferences":null,
          "creationTimestamp":"0001-01-01T00:00:00Z","deletionTimestamp":null},
          "spec":{"ports":[],"publishNotReadyAddresses":false,"clusterIP":""},
          "status":{"loadBalancer":{}}})");
  EXPECT_EQ(decoded.object, Value(Object()));
}

TEST(DecodeJson, PointersKeepTheirEmptyValues) {
  const Decoded decoded = MustDecode(
      R"({"spec":{"allocateLoadBalancerNodePorts":false,"loadBalancerClass":"",
          "sessionAffinityConfig":{"clientIP":{"timeoutSeconds":0}}}})");
  EXPECT_EQ(WriteJson(decoded.object),
            R"({"spec":{"sessionAffinityConfig":{"clientIP":{"timeoutSeconds":0}},)"
            R"("allocateLoadBalancerNodePorts":false,"loadBalancerClass":""}})");
}

TEST(DecodeJson, EntriesOfListsAndMapsStay) {
  const Decoded decoded =
      MustDecode(R"({"metadata":{"labels":{"a":"","b":null},"finalizers":["",null]},
                     "spec":{"ports":[{},null]}})");
  EXPECT_EQ(WriteJson(decoded.object),
            R"({"metadata":{"labels":{"a":"","b":""},"finalizers":["",""]},)"
            R"("spec":{"ports":[{},{}]}})");
}

TEST(DecodeJson, IntOrStringKeepsItsKind) {
  const Decoded decoded = MustDecode(
      R"({"spec":{"ports":[{"targetPort":0},{"targetPort":""},{"targetPort":"80"},
          {"targetPort":80}]}})");
  EXPECT_EQ(WriteJson(decoded.object),
            R"({"spec":{"ports":[{},{"targetPort":""},{"targetPort":"80"},{"targetPort":80}]}})");
}

TEST(DecodeJson, TimesBecomeCanonical) {
  const Decoded decoded = MustDecode(
      R"({"metadata":{"creationTimestamp":"2026-11-15T05:35:00.123+01:00"},
          "eventTime":"2026-11-15T04:35:00Z","firstTimestamp":"2026-11-15T04:35:00.000Z"})",
      api::kEvent);
  EXPECT_EQ(StringAt(decoded.object, "metadata", "creationTimestamp"), "2026-11-15T04:35:00Z");
  EXPECT_EQ(StringAt(decoded.object, "eventTime"), "2026-11-15T04:35:00.000000Z");
  EXPECT_EQ(StringAt(decoded.object, "firstTimestamp"), "2026-11-15T04:35:00Z");
}

TEST(DecodeJson, ManagedFieldsKeepTheDifferenceThatResetsThem) {
  EXPECT_TRUE(HasAt(MustDecode(R"({"metadata":{"managedFields":[]}})").object, "metadata",
                    "managedFields"));
  EXPECT_FALSE(HasAt(MustDecode(R"({"metadata":{"managedFields":null}})").object, "metadata",
                     "managedFields"));
  const Decoded decoded = MustDecode(
      R"({"metadata":{"managedFields":[{"fieldsV1": {"f:a" : { } , "k:{\"p\":1}":{"<":[1,2.5]}}}]}})");
  EXPECT_EQ(StringAt(ArrayAt(decoded.object, "metadata", "managedFields").front(), "fieldsV1"),
            R"({"f:a":{},"k:{\"p\":1}":{"\u003c":[1,2.5]}})");
}

// As kube-apiserver answers, recorded in the golden scenario field-validation.
TEST(DecodeJson, UnknownFieldsAreLeftOutAndReported) {
  const Decoded decoded = MustDecode(
      R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"a","clusterName":"x","Labels":{}},
          "spec":{"selector":{"app":"web"},"ports":[{"port":80,"weird":true}],"bogus":{"a":{"a":1}},
          "clusterIp":"1.2.3.4"},"topLevel":"x"})");
  EXPECT_THAT(
      Texts(decoded.problems),
      ElementsAre("unknown field \"metadata.clusterName\"", "unknown field \"metadata.Labels\"",
                  "unknown field \"spec.ports[0].weird\"", "unknown field \"spec.bogus\"",
                  "unknown field \"spec.clusterIp\"", "unknown field \"topLevel\""));
  EXPECT_EQ(WriteJson(decoded.object),
            R"({"metadata":{"name":"a"},"spec":{"ports":[{"port":80}],"selector":{"app":"web"}}})");
}

TEST(DecodeJson, DuplicatesAreReportedAndTheLastCounts) {
  const Decoded decoded = MustDecode(
      R"({"kind":"Service","metadata":{"name":"d","name":"e"},"kind":"Service",
          "spec":{"ports":[{"port":80,"port":443}],"selector":{"a":"b","a":"c"},
          "type":"NodePort","type":"","clusterIP":"10.0.0.1","clusterIP":null}})");
  EXPECT_THAT(
      Texts(decoded.problems),
      ElementsAre("duplicate field \"metadata.name\"", "duplicate field \"kind\"",
                  "duplicate field \"spec.ports[0].port\"", "duplicate field \"spec.selector.a\"",
                  "duplicate field \"spec.type\"", "duplicate field \"spec.clusterIP\""));
  EXPECT_EQ(WriteJson(decoded.object),
            R"({"metadata":{"name":"e"},"spec":{"ports":[{"port":443}],"selector":{"a":"c"},)"
            R"("clusterIP":"10.0.0.1"}})");
}

TEST(DecodeJson, ProblemsAreBounded) {
  std::string body = R"({"again":1,"again":2)";
  for (int i = 0; i < 1000; ++i) body += fmt::format(",\"field{}\":1", i);
  const Decoded decoded = MustDecode(body + "}");
  ASSERT_EQ(decoded.problems.size(), kMostProblems);
  EXPECT_EQ(decoded.problems[0].path, "again");
  EXPECT_EQ(decoded.problems[1].path, "field0");
}

TEST(DecodeJson, StrictMessages) {
  EXPECT_EQ(StrictMessage(MustDecode(R"({"a":1,"metadata":{"b":1}})").problems),
            "strict decoding error: unknown field \"a\", unknown field \"metadata.b\"");
}

// As kube-apiserver answers, recorded in the golden scenarios http-errors and validate-ports.
TEST(DecodeJson, TypeErrorsInGoWords) {
  const struct {
    std::string_view body;
    std::string_view says;
  } rows[] = {
      {R"({"metadata":{"name":5}})",
       "number into Go struct field ObjectMeta.metadata.name of type string"},
      {R"({"metadata":{"name":"t"},"spec":"x"})",
       "string into Go struct field Service.spec of type v1.ServiceSpec"},
      {R"({"metadata":{"labels":{"a":1}}})",
       "number into Go struct field ObjectMeta.metadata.labels of type string"},
      {R"({"metadata":{"labels":["a"]}})",
       "array into Go struct field ObjectMeta.metadata.labels of type map[string]string"},
      {R"({"metadata":{"uid":true}})",
       "bool into Go struct field ObjectMeta.metadata.uid of type types.UID"},
      {R"({"spec":{"ports":[{"port":"80"}]}})",
       "string into Go struct field ServicePort.spec.ports.port of type int32"},
      {R"({"spec":{"ports":[{"port":80.5}]}})",
       "number 80.5 into Go struct field ServicePort.spec.ports.port of type int32"},
      {R"({"spec":{"ports":[{"port":1.0}]}})",
       "number 1.0 into Go struct field ServicePort.spec.ports.port of type int32"},
      {R"({"spec":{"ports":[{"port":99999999999}]}})",
       "number 99999999999 into Go struct field ServicePort.spec.ports.port of type int32"},
      {R"({"spec":{"ports":[{"port":-2147483649}]}})",
       "number -2147483649 into Go struct field ServicePort.spec.ports.port of type int32"},
      {R"({"metadata":{"generation":9223372036854775808}})",
       "number 9223372036854775808 into Go struct field ObjectMeta.metadata.generation of type "
       "int64"},
      {R"({"spec":{"ports":{"port":80}}})",
       "object into Go struct field ServiceSpec.spec.ports of type []v1.ServicePort"},
      {R"({"spec":{"ports":[80]}})",
       "number into Go struct field ServiceSpec.spec.ports of type v1.ServicePort"},
      {R"({"spec":{"ipFamilies":"IPv4"}})",
       "string into Go struct field ServiceSpec.spec.ipFamilies of type []v1.IPFamily"},
      {R"({"spec":{"ports":[{"targetPort":true}]}})",
       "bool into Go struct field ServicePort.spec.ports.targetPort of type int32"},
      {R"({"metadata":{"creationTimestamp":7}})",
       "number into Go struct field ObjectMeta.metadata.creationTimestamp of type string"},
      {R"({"spec":{"publishNotReadyAddresses":"yes"}})",
       "string into Go struct field ServiceSpec.spec.publishNotReadyAddresses of type bool"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(DecodeError(row.body), "json: cannot unmarshal " + std::string(row.says)) << row.body;
  }
  EXPECT_EQ(DecodeError(R"({"metadata":{"creationTimestamp":"now"}})"),
            "parsing time \"now\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"now\" as "
            "\"2006\"");
  EXPECT_EQ(DecodeError(R"({"gracePeriodSeconds":"1"})", api::kDeleteOptions),
            "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds "
            "of type int64");
}

TEST(DecodeJson, WholeSentencesForTheServer) {
  const std::string unrecognized =
      "the object provided is unrecognized (must be of type Service): "
      "couldn't get version/kind; json parse error: ";
  const std::string header =
      "Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind "
      "string \"json:\\\"kind,omitempty\\\"\" } ";
  EXPECT_EQ(ServerErrorOf(R"({"apiVersion":"v1","kind":"Service")"),
            unrecognized + R"(unexpected end of JSON input ({"apiVersion":"v1","kind":"Ser ...))");
  EXPECT_EQ(ServerErrorOf(""), unrecognized + "unexpected end of JSON input (<empty>)");
  EXPECT_EQ(ServerErrorOf("[]"),
            unrecognized + "json: cannot unmarshal array into " + header + "(5b5d)");
  EXPECT_EQ(ServerErrorOf("\"x\""),
            unrecognized + "json: cannot unmarshal string into " + header + "(227822)");
  EXPECT_EQ(ServerErrorOf("not json at all"),
            unrecognized +
                "invalid character 'o' in literal null (expecting 'u') "
                "(6e6f74206a736f6e20617420616c6c)");
  EXPECT_EQ(ServerErrorOf(R"({"kind":5})"),
            unrecognized +
                "json: cannot unmarshal number into Go struct field .kind of type "
                "string ({\"kind\":5})");
  EXPECT_EQ(ServerErrorOf(R"({"kind":"Service","apiVersion":"v1","metadata":{"name":5}})"),
            "Service in version \"v1\" cannot be handled as a Service: json: cannot unmarshal "
            "number into Go struct field ObjectMeta.metadata.name of type string");
}

TEST(DecodeJson, NullIsAnEmptyObjectAsInGo) {
  EXPECT_EQ(MustDecode("null").object, Value(Object()));
}

TEST(DecodeJson, WhatSaysItIsSomethingElseIsNotRead) {
  const auto decoded = DecodeJson(R"({"kind":"Pod","apiVersion":"v1","spec":{"ports":7},"x":1})",
                                  api::kService, {.limits = {}, .expected = kServiceIdentity});
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->kind, "Pod");
  EXPECT_EQ(decoded->object, Value(Object()));
  EXPECT_THAT(decoded->problems, IsEmpty());
}

TEST(DecodeJson, Limits) {
  const auto nested = [](size_t depth) {
    return "{\"x\":" + std::string(depth, '[') + "1" + std::string(depth, ']') + "}";
  };
  EXPECT_TRUE(DecodeJson(nested(250), api::kService).has_value());
  EXPECT_THAT(DecodeError(nested(300)), ::testing::HasSubstr("nested more than 256 deep at byte"));
  EXPECT_THAT(DecodeError(nested(200'000)), ::testing::HasSubstr("exceeded max depth"));
  const DecodeOptions small{.limits = {.bytes = 10}};
  const auto refused = DecodeJson("{\"a\":      1}", api::kService, small);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("more than the limit of 10 bytes"));
  EXPECT_THAT(DecodeError("{\"a\":\"\xFF\"}"), ::testing::HasSubstr("not UTF-8 at byte 6"));
  EXPECT_THAT(DecodeError(R"({"a":1e400})"), ::testing::HasSubstr("out of range"));
  EXPECT_THAT(DecodeError(R"({"a":)" + std::string(400, '9') + "}"),
              ::testing::HasSubstr("out of range"));
  EXPECT_EQ(DecodeError(std::string("{\"a\":\0}", 7)),
            "couldn't get version/kind; json parse error: invalid character '\\x00' looking for "
            "beginning of value");
}

TEST(DecodeJson, NulsInStringsArePartOfThem) {
  const Decoded decoded = MustDecode(R"({"metadata":{"annotations":{"a\u0000b":"c\u0000d"}}})");
  EXPECT_EQ(StringAt(decoded.object, "metadata", "annotations", std::string_view("a\0b", 3)),
            std::string_view("c\0d", 3));
}

TEST(ReadJson, TellsOfMembersGivenTwice) {
  const auto document =
      ReadJson(R"([{"a":1,"b":{"c":1,"c":2},"a":{"d":0,"d":0,"d":1}},[{"":1,"":2}]])");
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(WriteJson(document->value), R"([{"a":{"d":1},"b":{"c":2}},[{"":2}]])");
  std::vector<std::string> texts;
  for (const Problem& problem : document->problems) texts.push_back(problem.text);
  EXPECT_THAT(texts, ElementsAre("duplicate field \"[0].b.c\"", "duplicate field \"[0].a.d\"",
                                 "duplicate field \"[0].a\"", "duplicate field \"[1][0].\""));
}

TEST(ReadJson, ErrorsInGoWords) {
  EXPECT_EQ(ReadJson("{").error().message, "unexpected end of JSON input");
  EXPECT_EQ(ReadJson("").error().message, "unexpected end of JSON input");
  EXPECT_EQ(ReadJson("[x]").error().message,
            "invalid character 'x' looking for beginning of value");
  // Texts that Go would accept.
  EXPECT_EQ(ReadJson("[[[]]]", {.depth = 2}).error().message.substr(0, 14), "invalid JSON: ");
  EXPECT_EQ(ReadJson("[1]", {.bytes = 2}).error().reason, base::Reason::kBadRequest);
}

TEST(DecodeValue, ProblemsByKeyIfAskedFor) {
  const Value document = Object{{"z", 1}, {"spec", Object{{"y", 1}, {"b", 2}}}, {"a", 1}};
  const auto paths = [&](bool by_key) {
    std::vector<std::string> found;
    const auto decoded = DecodeValue(document, api::kService, {.by_key = by_key});
    for (const Problem& problem : decoded->problems) found.push_back(problem.path);
    return found;
  };
  EXPECT_THAT(paths(false), ElementsAre("z", "spec.y", "spec.b", "a"));
  EXPECT_THAT(paths(true), ElementsAre("a", "spec.b", "spec.y", "z"));
}

TEST(DecodeValue, SameAsJson) {
  const std::string body =
      R"({"kind":"Service","spec":{"type":"NodePort","x":1,"ports":[{"port":80,"y":[]}]}})";
  const auto from_json = DecodeJson(body, api::kService);
  const auto from_value = DecodeValue(*ParseJson(body), api::kService);
  ASSERT_TRUE(from_json.has_value() && from_value.has_value());
  EXPECT_EQ(from_json->object, from_value->object);
  EXPECT_EQ(from_json->problems, from_value->problems);
  EXPECT_EQ(from_value->kind, "Service");
}

TEST(DecodeYaml, SameAsJson) {
  const auto decoded = DecodeYaml(
      "apiVersion: v1\nkind: Service\nmetadata:\n  name: y3\n  labels: {a: \"b\"}\nspec:\n"
      "  ports:\n  - name: http\n    port: 80\n    targetPort: \"8080\"\n"
      "  - {name: b, port: 0x1bb, protocol: UDP}\n",
      api::kService);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(decoded->kind, "Service");
  EXPECT_EQ(decoded->object, MustDecode(R"({"metadata":{"name":"y3","labels":{"a":"b"}},
      "spec":{"ports":[{"name":"http","port":80,"targetPort":"8080"},
                       {"name":"b","port":443,"protocol":"UDP"}]}})")
                                 .object);
}

// As kube-apiserver answers, recorded in the golden scenarios field-validation and yaml.
TEST(DecodeYaml, ProblemsAndErrorsAsUpstream) {
  const auto decoded = DecodeYaml(
      "apiVersion: v1\nkind: Service\nmetadata:\n  name: d\n  name: d\nspec:\n  bogus: 1\n"
      "  ports:\n  - port: 80\n",
      api::kService);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_THAT(Texts(decoded->problems), ElementsAre("line 5: key \"name\" already set in map",
                                                    "unknown field \"spec.bogus\""));
  EXPECT_EQ(decoded->problems[0].path, "metadata.name");
  EXPECT_EQ(StrictMessage(decoded->problems),
            "strict decoding error: yaml: unmarshal errors:\n  line 5: key \"name\" already set in "
            "map, unknown field \"spec.bogus\"");

  const DecodeOptions server{.limits = {}, .expected = kServiceIdentity};
  EXPECT_EQ(DecodeYaml("a: [", api::kService, server).error().message,
            "the object provided is unrecognized (must be of type Service): yaml: line 1: did not "
            "find expected node content (613a205b)");
  EXPECT_EQ(DecodeYaml("just text", api::kService, server).error().message,
            "the object provided is unrecognized (must be of type Service): couldn't get "
            "version/kind; json parse error: json: cannot unmarshal string into Go value of type "
            "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
            "\"json:\\\"kind,omitempty\\\"\" } (6a7573742074657874)");
  EXPECT_EQ(StrictMessage(DecodeYaml("a: 1\na: 1\na: 1", api::kService)->problems),
            "strict decoding error: yaml: unmarshal errors:\n  line 2: key \"a\" already set in "
            "map\n  line 3: key \"a\" already set in map, unknown field \"a\"");
}

}  // namespace
}  // namespace berth::codec
