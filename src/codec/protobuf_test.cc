#include "codec/protobuf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core.h"
#include "api/meta.h"
#include "codec/decode.h"
#include "codec/encode.h"
#include "codec/read.h"
#include "codec/testing_text.h"

namespace berth::codec {
namespace {

using ::testing::HasSubstr;

Value CanonicalOf(std::string_view json, const api::Message& message) {
  return DecodeJson(json, message).value_or(Decoded{}).object;
}

std::string ProtoError(std::string_view bytes, const api::Message& message = api::kService) {
  const auto value = DecodeProto(bytes, message);
  if (value) return "no error";
  EXPECT_EQ(value.error().reason, base::Reason::kBadRequest);
  return value.error().message;
}

// The body that `kubectl create ns foo` sends.
const std::string kNamespaceFoo = Bytes(
    "'k8s' 00 0a0f 0a02'v1' 1209'Namespace'"
    "121b 0a13 0a03'foo' 1200 1a00 2200 2a00 3200 3800 4200 1200 1a02 0a00 1a00 2200");

TEST(Protobuf, WhatKubectlSends) {
  ASSERT_EQ(kNamespaceFoo.size(), 54u);
  const auto envelope = DecodeEnvelope(kNamespaceFoo);
  ASSERT_TRUE(envelope.has_value());
  EXPECT_EQ(envelope->api_version, "v1");
  EXPECT_EQ(envelope->kind, "Namespace");
  const auto value = DecodeProto(envelope->raw, api::kNamespace);
  EXPECT_EQ(value, Value(Object{{"metadata", Object{{"name", "foo"}}}}));
  EXPECT_EQ(WrapEnvelope("v1", "Namespace", EncodeProto(*value, api::kNamespace)), kNamespaceFoo);

  const auto decoded = DecodeProtobuf(kNamespaceFoo, api::kNamespace);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->kind, "Namespace");
  EXPECT_EQ(decoded->object, *value);
}

struct Vector {
  const api::Message* message;
  std::string json;
  std::string bytes;
};

// Made by hand from the rules: a field that is not a pointer is always written,
// in ascending order of numbers.
std::vector<Vector> Vectors() {
  return {
      {&api::kServicePort, R"({"port":80})", Bytes("0a00 1200 1850 2206 0800 1000 1a00 2800")},
      {&api::kServicePort, R"({"name":"a","appProtocol":"","port":-1,"targetPort":"x"})",
       Bytes("0a01'a' 1200 18ffffffffffffffffff01 2207 0801 1000 1a01'x' 2800 3200")},
      {&api::kServicePort, R"({"port":443,"targetPort":8080})",
       Bytes("0a00 1200 18bb03 2207 0800 10903f 1a00 2800")},
      {&api::kServiceSpec,
       R"({"selector":{"b":"2","a":""},"clusterIPs":["::1","x"],"allocateLoadBalancerNodePorts":)"
       R"(false,"sessionAffinityConfig":{}})",
       Bytes("1205 0a01'a'1200 1206 0a01'b'1201'2' 1a00 2200 3a00 4200 5200 5a00 6000 6800 7200"
             "92 01 03 '::1' 9201 01 'x' a00100")},
      {&api::kObjectMeta,
       R"({"creationTimestamp":"2026-11-15T04:35:00Z","deletionGracePeriodSeconds":0,)"
       R"("managedFields":[{"fieldsV1":{"f:a":{}}}],"generation":300})",
       Bytes("0a00 1200 1a00 2200 2a00 3200 38ac02 4208 08f4ece4d706 1000 5000"
             "8a01 18 0a00 1200 1a00 3200 3a0c 0a0a '{\"f:a\":{}}' 4200")},
      {&api::kStatusDetails, R"({"name":"w","retryAfterSeconds":1,"causes":[{"field":"f"}]})",
       Bytes("0a01'w' 1200 1a00 2207 0a00 1200 1a01'f' 2801 3200")},
      {&api::kPreconditions, R"({"uid":""})", Bytes("0a00")},
      {&api::kDeleteOptions, R"({"dryRun":["All"],"orphanDependents":true})",
       Bytes("1801 2a03'All'")},
      {&api::kDeleteOptions, "{}", ""},
  };
}

TEST(Protobuf, BytesAsUpstreamWritesThem) {
  for (const Vector& vector : Vectors()) {
    const Value object = CanonicalOf(vector.json, *vector.message);
    EXPECT_THAT(::testing::PrintToString(EncodeProto(object, *vector.message)),
                ::testing::PrintToString(vector.bytes))
        << vector.json;
    EXPECT_EQ(DecodeProto(vector.bytes, *vector.message), object) << vector.json;
  }
}

TEST(Protobuf, Times) {
  const auto round = [](std::string_view event) {
    const Value object = CanonicalOf(event, api::kEvent);
    return EncodeMessage(*DecodeProto(EncodeProto(object, api::kEvent), api::kEvent), api::kEvent);
  };
  EXPECT_THAT(round(R"({"eventTime":"2026-11-15T04:35:00.123456Z"})"),
              HasSubstr(R"("eventTime":"2026-11-15T04:35:00.123456Z")"));
  EXPECT_THAT(round(R"({"firstTimestamp":"1960-01-01T00:00:00Z"})"),
              HasSubstr(R"("firstTimestamp":"1960-01-01T00:00:00Z","lastTimestamp":null)"));
  EXPECT_THAT(round(R"({"firstTimestamp":"1970-01-01T00:00:00Z"})"),
              HasSubstr(R"("firstTimestamp":"1970-01-01T00:00:00Z")"));
  // Nanoseconds of a Time are ignored; those of a MicroTime are cut to microseconds.
  const auto value =
      DecodeProto(Bytes("3208 08f4ece4d706 1001 5209 08f4ece4d706 10e707"), api::kEvent);
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(StringAt(*value, "firstTimestamp"), "2026-11-15T04:35:00Z");
  EXPECT_EQ(StringAt(*value, "eventTime"), "2026-11-15T04:35:00.000000Z");
}

TEST(Protobuf, UnknownFieldsSurvive) {
  // Field 30 of the Service, 99 of its spec, and 50 of a port, which has another wire type.
  const std::string unknown = Bytes("f201 03 'abc'");
  const std::string port =
      EncodeProto(CanonicalOf(R"({"port":80})", api::kServicePort), api::kServicePort) +
      Bytes("9103 0102030405060708");
  const std::string spec = Bytes("0a") + static_cast<char>(port.size()) + port + Bytes("9a0601'z'");
  const std::string bytes = Bytes("12") + static_cast<char>(spec.size()) + spec + unknown;
  auto value = DecodeProto(bytes, api::kService);
  ASSERT_TRUE(value.has_value()) << value.error().message;
  EXPECT_EQ(value->Find(kUnknownFields)->AsString()->size(), unknown.size());

  const std::string again = EncodeProto(*value, api::kService);
  EXPECT_TRUE(again.ends_with(unknown));
  EXPECT_EQ(DecodeProto(again, api::kService), *value);
  EXPECT_THAT(again, HasSubstr(Bytes("9103 0102030405060708")));
  EXPECT_THAT(again, HasSubstr(Bytes("9a0601'z'")));

  // JSON does not show them.
  EXPECT_EQ(EncodeMessage(*value, api::kService),
            R"({"metadata":{},"spec":{"ports":[{"port":80,"targetPort":0}]},)"
            R"("status":{"loadBalancer":{}}})");
}

// Returns a Service with unknown fields in metadata, spec, two ports, an entry of a list without
// keys, and a message that has nothing else.
Value WithUnknownFields() {
  Value service = CanonicalOf(
      R"({"metadata":{"name":"a"},"spec":{"ports":[{"port":80},{"port":53,"protocol":"UDP"}]},)"
      R"("status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}})",
      api::kService);
  const std::string key(kUnknownFields);
  service.Find("metadata")->Set(key, "meta");
  service.Find("spec")->Set(key, "spec");
  Array& ports = *FindAt(service, "spec", "ports")->AsArray();
  ports[0].Set(key, "http");
  ports[1].Set(key, "dns");
  FindAt(service, "status", "loadBalancer", "ingress")->AsArray()->front().Set(key, "ingress");
  FindAt(service, "status", "loadBalancer")->Set(key, "balancer");
  return service;
}

TEST(UnknownFields, AreFoundHoweverDeep) {
  EXPECT_TRUE(HasUnknownFields(WithUnknownFields()));
  EXPECT_TRUE(HasUnknownFields(ArrayAt(WithUnknownFields(), "spec", "ports")[1]));
  EXPECT_FALSE(HasUnknownFields(CanonicalOf(
      R"({"metadata":{"labels":{"a":"b"}},"spec":{"ports":[{"port":1}]}})", api::kService)));
}

TEST(UnknownFields, AreKeptWhereTheSameMessageIs) {
  const Value old = WithUnknownFields();
  Value next = CanonicalOf(
      R"({"metadata":{"labels":{"x":"y"}},"spec":{"type":"NodePort","ports":[)"
      R"({"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"},{"port":80,"protocol":"TCP"}]},)"
      R"("status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}})",
      api::kService);
  KeepUnknownFields(old, next, api::kService);
  EXPECT_EQ(StringAt(next, "metadata", kUnknownFields), "meta");
  EXPECT_EQ(StringAt(next, "spec", kUnknownFields), "spec");
  EXPECT_EQ(StringAt(next, "spec", "type"), "NodePort");
  const Array& ports = ArrayAt(next, "spec", "ports");
  EXPECT_EQ(StringAt(ports[0], kUnknownFields), "");
  EXPECT_EQ(StringAt(ports[1], kUnknownFields), "dns");
  EXPECT_EQ(StringAt(ports[2], kUnknownFields), "http");  // It had no protocol, which means TCP.
  EXPECT_EQ(StringAt(next, "status", "loadBalancer", kUnknownFields), "balancer");
  EXPECT_FALSE(HasUnknownFields(*FindAt(next, "status", "loadBalancer", "ingress")));
}

TEST(UnknownFields, AreKeptInMessagesThatHaveNothingElse) {
  Value next = CanonicalOf("{}", api::kService);
  KeepUnknownFields(WithUnknownFields(), next, api::kService);
  EXPECT_EQ(StringAt(next, "metadata", kUnknownFields), "meta");
  EXPECT_EQ(StringAt(next, "status", "loadBalancer", kUnknownFields), "balancer");
  EXPECT_FALSE(HasAt(next, "spec", "ports"));
  // An absent pointer stays absent, since its absence has a meaning.
  const Value lost = Object{{"sessionAffinityConfig", Object{{std::string(kUnknownFields), "x"}}}};
  Value spec = Object();
  KeepUnknownFields(lost, spec, api::kServiceSpec);
  EXPECT_EQ(spec, Value(Object()));
}

TEST(UnknownFields, ThoseOfTheWriterStay) {
  Value next = CanonicalOf(R"({"spec":{"ports":[{"port":80}]}})", api::kService);
  next.Find("spec")->Set(std::string(kUnknownFields), "own");
  KeepUnknownFields(WithUnknownFields(), next, api::kService);
  EXPECT_EQ(StringAt(next, "spec", kUnknownFields), "own");
  EXPECT_EQ(StringAt(ArrayAt(next, "spec", "ports")[0], kUnknownFields), "http");
}

TEST(Protobuf, OfAFieldGivenTwiceTheLastCounts) {
  EXPECT_EQ(DecodeProto(Bytes("0a01'a' 0a01'b'"), api::kObjectMeta), Value(Object{{"name", "b"}}));
  EXPECT_EQ(DecodeProto(Bytes("0a01'a' 0a00"), api::kObjectMeta), Value(Object()));
  EXPECT_EQ(DecodeProto(Bytes("5a06 0a01'k'1201'1' 5a06 0a01'k'1201'2'"), api::kObjectMeta),
            Value(Object{{"labels", Object{{"k", "2"}}}}));
  EXPECT_EQ(DecodeProto(Bytes("5a00"), api::kObjectMeta),
            Value(Object{{"labels", Object{{"", ""}}}}));
}

TEST(Protobuf, MalformedBytesAreErrors) {
  EXPECT_THAT(ProtoError(Bytes("0a")), HasSubstr("Service is cut off"));
  EXPECT_THAT(ProtoError(Bytes("0a05'x'")), HasSubstr("Service is cut off"));
  EXPECT_THAT(ProtoError(Bytes("0a03 0a05'x'")), HasSubstr("ObjectMeta is cut off"));
  EXPECT_THAT(ProtoError(Bytes("0800")),
              HasSubstr("wrong wireType = 0 for field Service.metadata"));
  EXPECT_THAT(ProtoError(Bytes("0b")), HasSubstr("cut off"));  // A group.
  EXPECT_THAT(ProtoError(Bytes("00")), HasSubstr("cut off"));  // Number 0.
  EXPECT_THAT(ProtoError(Bytes("ffffffffffffffffffff01")),
              HasSubstr("cut off"));  // Endless varint.
  EXPECT_THAT(ProtoError(Bytes("0affffffffffffffffff01")), HasSubstr("cut off"));  // Huge length.
  EXPECT_THAT(ProtoError(Bytes("0a01 ff"), api::kObjectMeta), HasSubstr("not UTF-8"));
  EXPECT_THAT(ProtoError(Bytes("4202 08ff"), api::kObjectMeta), HasSubstr("a time is malformed"));
  EXPECT_THAT(ProtoError(Bytes("420b 08ffffffffffffffff7f"), api::kObjectMeta),
              HasSubstr("cut off"));
  EXPECT_THAT(ProtoError(Bytes("420a 08ffffffffffffffff7f"), api::kObjectMeta),
              HasSubstr("out of range"));
  EXPECT_THAT(ProtoError(Bytes("2202 0802"), api::kServicePort), HasSubstr("IntOrString"));
  EXPECT_THAT(ProtoError(Bytes("3a05 0a03 '{]}'"), api::kManagedFieldsEntry),
              HasSubstr("FieldsV1 is not JSON"));
  EXPECT_THAT(ProtoError(Bytes("5a02 0a09"), api::kObjectMeta), HasSubstr("entry of a map"));
  const auto large = DecodeProto("12345", api::kService, {.bytes = 4});
  ASSERT_FALSE(large.has_value());
  EXPECT_THAT(large.error().message, HasSubstr("more than the limit of 4 bytes"));
}

TEST(Protobuf, Envelopes) {
  EXPECT_THAT(DecodeEnvelope("{}").error().message,
              HasSubstr("does not appear to be a protobuf message"));
  EXPECT_THAT(DecodeEnvelope(Bytes("'k8s' 00 0a")).error().message, HasSubstr("cut off"));
  EXPECT_THAT(DecodeEnvelope(Bytes("'k8s' 00 0a01 0a")).error().message, HasSubstr("cut off"));
  EXPECT_FALSE(DecodeEnvelope(Bytes("'k8s' 00 1a04'gzip'")).has_value());
  // Fields may be in any order.
  const std::string bytes = Bytes("'k8s' 00 2200 1203'raw' 0a05 1203'Pod'");
  const auto envelope = DecodeEnvelope(bytes);
  ASSERT_TRUE(envelope.has_value());
  EXPECT_EQ(envelope->kind, "Pod");
  EXPECT_EQ(envelope->raw, "raw");

  const DecodeOptions server{.limits = {}, .expected = {.api_version = "v1", .kind = "Namespace"}};
  EXPECT_EQ(DecodeProtobuf("xyz", api::kNamespace, server).error().message,
            "the object provided is unrecognized (must be of type Namespace): provided data does "
            "not appear to be a protobuf message, expected prefix [107 56 115 0] (78797a)");
  EXPECT_EQ(
      DecodeProtobuf(WrapEnvelope("v1", "Namespace", "x"), api::kNamespace, server).error().message,
      "Namespace in version \"v1\" cannot be handled as a Namespace: proto: Namespace is cut "
      "off or malformed");
  EXPECT_EQ(DecodeProtobuf(WrapEnvelope("v1", "Pod", "x"), api::kNamespace, server)->kind, "Pod");
}

TEST(Protobuf, LargeObjectsGrowTheBuffer) {
  Value object = Object{};
  for (int i = 0; i < 3000; ++i) {
    SetAt(object, {"metadata", "annotations", std::to_string(i)}, std::string(100, 'x'));
  }
  const std::string bytes = EncodeProto(object, api::kService);
  EXPECT_GT(bytes.size(), 300'000u);
  EXPECT_EQ(DecodeProto(bytes, api::kService), object);
}

}  // namespace
}  // namespace berth::codec
