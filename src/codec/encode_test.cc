#include "codec/encode.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/core.h"
#include "api/kinds.h"
#include "api/meta.h"
#include "codec/json.h"
#include "codec/yaml.h"

namespace berth::codec {
namespace {

Value Canonical(std::string_view json, const api::Message& message) {
  auto decoded = DecodeJson(json, message);
  EXPECT_TRUE(decoded.has_value()) << decoded.error().message;
  return decoded ? std::move(decoded->object) : Value();
}

// Bodies in the order and with the fields of kube-apiserver's answers.
struct Body {
  const api::Kind* kind;
  std::string json;
};

const std::vector<Body>& Bodies() {
  static const std::vector<Body> bodies = {
      {&api::kServiceKind,
       R"({"kind":"Service","apiVersion":"v1","metadata":{"name":"d3","namespace":"default",)"
       R"("uid":"6f3e9a3c","resourceVersion":"3","creationTimestamp":"2026-11-15T04:35:00Z"},)"
       R"("spec":{"ports":[{"protocol":"TCP","port":80,"targetPort":80}],"selector":{"app":"web"},)"
       R"("clusterIP":"10.96.0.10","clusterIPs":["10.96.0.10"],"type":"ClusterIP",)"
       R"("sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":)"
       R"({"timeoutSeconds":10800}},"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack",)"
       R"("internalTrafficPolicy":"Cluster"},"status":{"loadBalancer":{}}})"},
      {&api::kServiceKind,
       R"({"kind":"Service","apiVersion":"v1","metadata":{"resourceVersion":"1"},)"
       R"("spec":{"ports":[{"port":0,"targetPort":0}]},"status":{"loadBalancer":{}}})"},
      {&api::kNamespaceKind,
       R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a","uid":"u",)"
       R"("resourceVersion":"7","labels":{"kubernetes.io/metadata.name":"a"}},)"
       R"("spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})"},
      {&api::kNamespaceKind,
       R"({"kind":"Namespace","apiVersion":"v1","metadata":{"resourceVersion":"7"},"spec":{},)"
       R"("status":{"conditions":[{"type":"A","status":"True","lastTransitionTime":null}]}})"},
      {&api::kEventKind,
       R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"e1","resourceVersion":"2"},)"
       R"("involvedObject":{"kind":"Service","namespace":"default","name":"web",)"
       R"("apiVersion":"v1"},"reason":"PortOutOfRange","message":"something",)"
       R"("source":{"component":"berth"},"firstTimestamp":"2024-01-01T00:00:00Z",)"
       R"("lastTimestamp":"2024-01-01T00:00:00Z","count":3,"type":"Warning","eventTime":null,)"
       R"("reportingComponent":"","reportingInstance":""})"},
      {&api::kEventKind,
       R"({"kind":"Event","apiVersion":"v1","metadata":{"resourceVersion":"2"},)"
       R"("involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,)"
       R"("eventTime":"2024-02-02T00:00:00.000001Z","series":{"count":4,)"
       R"("lastObservedTime":"2024-02-02T00:00:00.000000Z"},"reportingComponent":"",)"
       R"("reportingInstance":""})"},
      {&api::kEventsEventKind,
       R"({"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"resourceVersion":"2"},)"
       R"("eventTime":null,"series":{"count":0,"lastObservedTime":null},"regarding":{},)"
       R"("deprecatedSource":{},"deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null})"},
      {&api::kLeaseKind,
       R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"l",)"
       R"("resourceVersion":"2"},"spec":{"holderIdentity":"","leaseDurationSeconds":0,)"
       R"("renewTime":"2026-11-15T04:35:00.250000Z"}})"},
      {&api::kServiceCidrKind,
       R"({"kind":"ServiceCIDR","apiVersion":"networking.k8s.io/v1","metadata":)"
       R"({"name":"kubernetes","resourceVersion":"2"},"spec":{"cidrs":["10.96.0.0/16"]},)"
       R"("status":{"conditions":[{"type":"Ready","status":"True",)"
       R"("lastTransitionTime":"2026-11-15T04:35:00Z","reason":"","message":"Ready"}]}})"},
      {&api::kIpAddressKind,
       R"({"kind":"IPAddress","apiVersion":"networking.k8s.io/v1","metadata":)"
       R"({"name":"10.96.0.10","resourceVersion":"2"},"spec":{"parentRef":)"
       R"({"resource":"services","namespace":"default","name":"web"}}})"},
  };
  return bodies;
}

TEST(EncodeJson, ShapesOfTheReferenceServer) {
  for (const Body& body : Bodies()) {
    const api::Kind& kind = *body.kind;
    const Identity identity{.api_version = kind.api_version, .kind = kind.kind};
    const Value object = Canonical(body.json, *kind.message);
    EXPECT_EQ(EncodeMessage(object, *kind.message, identity), body.json);
    EXPECT_EQ(ToDocument(object, *kind.message, identity), *ParseJson(body.json));

    const WireJson wire = EncodeJson(object, *kind.message, identity);
    const std::string version(
        object.Find("metadata")->Find("resourceVersion")->AsString()->c_str());
    EXPECT_EQ(std::string(wire.text).insert(wire.version_at, version), body.json);
    EXPECT_TRUE(wire.text.substr(wire.metadata_at).starts_with("\"metadata\":{"));
    EXPECT_TRUE(wire.text.substr(0, wire.version_at).ends_with("\"resourceVersion\":\""));
    EXPECT_TRUE(ParseJson("{" + wire.text.substr(wire.metadata_at)).has_value());
  }
}

TEST(EncodeJson, SaysWhereTheManagedFieldsAre) {
  const std::string managed =
      R"(,"managedFields":[{"manager":"m","fieldsV1":{"f:managedFields":[]}}])";
  for (const std::string_view before : {"", R"("name":"a",)"}) {
    const std::string metadata = R"({"metadata":{)" + std::string(before) + R"("uid":"u")";
    const Value object = Canonical(metadata + managed + "}}", api::kNamespace);
    WireJson wire = EncodeJson(object, api::kNamespace, {.api_version = "v1", .kind = "X"});
    EXPECT_EQ(wire.text.substr(wire.managed_at, wire.managed_size), managed);
    const WireJson without = EncodeJson(Canonical(metadata + "}}", api::kNamespace),
                                        api::kNamespace, {.api_version = "v1", .kind = "X"});
    wire.text.erase(wire.managed_at, wire.managed_size);
    EXPECT_EQ(wire.text, without.text);
    EXPECT_EQ(without.managed_at, 0u);
    EXPECT_EQ(without.managed_size, 0u);
  }
}

TEST(EncodeJson, DecodeWireIsTheWayBack) {
  for (const Body& body : Bodies()) {
    const api::Message& message = *body.kind->message;
    const Value object = Canonical(body.json, message);
    EXPECT_EQ(DecodeWire(body.json, message), object);
    Value without = object;
    without.Find("metadata")->AsObject()->Erase("resourceVersion");
    if (without.Find("metadata")->AsObject()->empty()) without.AsObject()->Erase("metadata");
    const WireJson wire = EncodeJson(object, message, {.api_version = "v1", .kind = "X"});
    EXPECT_EQ(DecodeWire(wire.text, message), without);
  }
  EXPECT_FALSE(DecodeWire("{", api::kService).has_value());
  EXPECT_FALSE(DecodeWire("[]", api::kService).has_value());
  EXPECT_FALSE(DecodeWire(R"({"spec":1})", api::kService).has_value());
}

TEST(EncodeJson, TheObjectsOwnVersionIsNotWritten) {
  const Value object =
      Canonical(R"({"metadata":{"name":"a","resourceVersion":"99"}})", api::kNamespace);
  const WireJson wire =
      EncodeJson(object, api::kNamespace, {.api_version = "v1", .kind = "Namespace"});
  EXPECT_EQ(wire.text, R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a",)"
                       R"("resourceVersion":""},"spec":{},"status":{}})");
}

TEST(EncodeJson, MapsAreSortedAndOrderIsTheMessages) {
  const Value object =
      Object{{"spec", Object{{"type", "NodePort"}, {"selector", Object{{"b", "2"}, {"a", "1"}}}}},
             {"metadata", Object{{"name", "web"}}}};
  EXPECT_EQ(EncodeMessage(object, api::kService),
            R"({"metadata":{"name":"web"},"spec":{"selector":{"a":"1","b":"2"},"type":"NodePort"},)"
            R"("status":{"loadBalancer":{}}})");
}

TEST(EncodeJson, WhatDoesNotFitIsNotWritten) {
  const Value object = Object{{"metadata", Object{{"name", 5}, {"labels", "x"}, {"bogus", 1}}},
                              {"spec", Object{{"ports", Array{1, Object{{"port", "x"}}}}}},
                              {"status", nullptr}};
  EXPECT_EQ(EncodeMessage(object, api::kService),
            R"({"metadata":{},"spec":{"ports":[{"port":0,"targetPort":0},)"
            R"({"port":0,"targetPort":0}]},"status":{"loadBalancer":{}}})");
  EXPECT_EQ(EncodeMessage(nullptr, api::kServicePort), R"({"port":0,"targetPort":0})");
}

TEST(EncodeJson, EmptyValuesThatCodeHasSetAreLeftOut) {
  const Value object =
      Object{{"metadata", Object{{"name", ""}, {"generation", 0}, {"labels", Object()}}},
             {"spec", Object{{"ports", Array()},
                             {"publishNotReadyAddresses", false},
                             {"allocateLoadBalancerNodePorts", false},
                             {"loadBalancerClass", ""}}}};
  EXPECT_EQ(EncodeMessage(object, api::kService),
            R"({"metadata":{},"spec":{"allocateLoadBalancerNodePorts":false,)"
            R"("loadBalancerClass":""},"status":{"loadBalancer":{}}})");
}

TEST(EncodeJson, StatusAndItsDetails) {
  const Value status = Object{{"status", "Failure"},
                              {"message", "services \"web\" not found"},
                              {"reason", "NotFound"},
                              {"details", Object{{"name", "web"}, {"kind", "services"}}},
                              {"code", 404}};
  EXPECT_EQ(EncodeMessage(status, api::kStatus, {.api_version = "v1", .kind = "Status"}),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
            R"("message":"services \"web\" not found","reason":"NotFound",)"
            R"("details":{"name":"web","kind":"services"},"code":404})");
}

TEST(EncodeJson, FieldsV1IsWrittenAsItIs) {
  const std::string text = R"({"metadata":{"managedFields":[{"manager":"m","time":)"
                           R"("2026-11-15T04:35:00Z","fieldsV1":{"f:spec":{"f:type":{}}}}]}})";
  const Value object = Canonical(text, api::kLease);
  EXPECT_EQ(EncodeMessage(object, api::kLease), text.substr(0, text.size() - 1) + R"(,"spec":{}})");
}

TEST(GoJsonString, EscapesAsGo) {
  const auto quoted = [](std::string_view text) {
    std::string out;
    AppendGoJsonString(out, text);
    return out;
  };
  EXPECT_EQ(quoted(""), R"("")");
  EXPECT_EQ(quoted("a<b>&c"), R"("a\u003cb\u003e\u0026c")");
  EXPECT_EQ(quoted("\"\\\b\f\n\r\t/"), R"("\"\\\b\f\n\r\t/")");
  EXPECT_EQ(quoted(std::string_view("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\x7f\"");
  EXPECT_EQ(quoted("é€😀\u2028\u2029\u0085"), "\"é€😀\\u2028\\u2029\u0085\"");
  EXPECT_EQ(quoted("a\xFF\xE2\x82z\xC3"), R"("a\ufffd\ufffd\ufffdz\ufffd")");
}

TEST(ToDocument, IsWhatYamlShows) {
  const Value object =
      Canonical(R"({"metadata":{"name":"a"},"status":{"phase":"Active"}})", api::kNamespace);
  EXPECT_EQ(
      WriteYaml(ToDocument(object, api::kNamespace, {.api_version = "v1", .kind = "Namespace"})),
      "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\nspec: {}\nstatus:\n"
      "  phase: Active\n");
}

TEST(ToDocument, OnlyWhatIsAskedFor) {
  const auto decoded = DecodeJson(
      R"({"metadata":{"name":"a","managedFields":[{"manager":"m","fieldsV1":{"f:a":{}}}]},)"
      R"("spec":{"type":"x"}})",
      api::kService);
  ASSERT_TRUE(decoded.has_value());
  const auto shown = [&](const DocumentStyle& style) {
    return WriteJson(ToDocument(decoded->object, api::kService, {"v1", "Service"}, style));
  };
  EXPECT_EQ(shown({.managed_fields = false, .members = 1}),
            R"({"kind":"Service","apiVersion":"v1","metadata":{"name":"a"}})");
  EXPECT_EQ(shown({.members = 2}), R"({"kind":"Service","apiVersion":"v1","spec":{"type":"x"}})");
  EXPECT_EQ(shown({.members = 4}),
            R"({"kind":"Service","apiVersion":"v1","status":{"loadBalancer":{}}})");
  EXPECT_EQ(shown({.members = 0}), R"({"kind":"Service","apiVersion":"v1"})");
  EXPECT_EQ(shown({}), R"({"kind":"Service","apiVersion":"v1","metadata":{"name":"a",)"
                       R"("managedFields":[{"manager":"m","fieldsV1":{"f:a":{}}}]},)"
                       R"("spec":{"type":"x"},"status":{"loadBalancer":{}}})");
}

}  // namespace
}  // namespace berth::codec
