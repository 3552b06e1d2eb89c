// For tests only: a parser for answers in protobuf, and a sample object of every kind.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/meta.h"
#include "codec/decode.h"
#include "codec/protobuf.h"
#include "codec/testing_text.h"
#include "server/testing/server_kit.h"

namespace berth::server::testing {

inline constexpr const char* kProtobuf = "application/vnd.kubernetes.protobuf";
inline constexpr const char* kProtobufOrJson =
    "application/vnd.kubernetes.protobuf,application/json";
inline constexpr const char* kProtobufWatch = "application/vnd.kubernetes.protobuf;stream=watch";

inline std::string As(const std::string& kind, const std::string& version = "v1") {
  return std::string(kProtobuf) + ";as=" + kind + ";g=meta.k8s.io;v=" + version;
}

using codec::Bytes;

/// A field that is a message or text. This parser is independent of the one in codec.
struct Field {
  uint64_t number = 0;
  std::string content = {};

  bool operator==(const Field&) const = default;
};

inline uint64_t TakeVarint(std::string_view& bytes) {
  uint64_t number = 0;
  for (int shift = 0; !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    number |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) break;
  }
  return number;
}

inline std::vector<Field> FieldsOf(std::string_view bytes) {
  std::vector<Field> fields;
  while (!bytes.empty()) {
    const uint64_t tag = TakeVarint(bytes);
    EXPECT_EQ(tag & 7, 2U) << "neither a message nor text";
    const uint64_t size = TakeVarint(bytes);
    EXPECT_LE(size, bytes.size());
    fields.push_back({.number = tag >> 3, .content = std::string(bytes.substr(0, size))});
    bytes.remove_prefix(std::min<size_t>(size, bytes.size()));
  }
  return fields;
}

/// Returns the content of an envelope of that kind.
inline std::string Unwrapped(const std::string& bytes, std::string_view version,
                             std::string_view kind) {
  const auto envelope = codec::DecodeEnvelope(bytes);
  EXPECT_TRUE(envelope) << bytes;
  if (!envelope) return "";
  EXPECT_EQ(envelope->api_version, version);
  EXPECT_EQ(envelope->kind, kind);
  EXPECT_EQ(codec::WrapEnvelope(version, kind, envelope->raw), bytes);
  return std::string(envelope->raw);
}

inline codec::Value Decoded(const std::string& bytes, const api::Message& message) {
  auto value = codec::DecodeProto(bytes, message);
  EXPECT_TRUE(value);
  return value.value_or(codec::Value());
}

inline codec::Value Object(const std::string& bytes, const api::Kind& kind) {
  return Decoded(Unwrapped(bytes, kind.api_version, kind.kind), *kind.message);
}

/// Returns a document as a canonical object of its kind.
inline codec::Value Canonical(const codec::Value& document, const api::Message& message) {
  auto decoded = codec::DecodeValue(document, message);
  EXPECT_TRUE(decoded);
  return decoded ? std::move(decoded->object) : codec::Value();
}

/// One frame of a watch.
struct Event {
  std::string type = {};
  std::string object = {};
};
inline std::vector<Event> Events(const Reply& reply, size_t room = 65'536) {
  std::string bytes;
  for (http::Pulled pulled = http::Pulled::kMore; pulled == http::Pulled::kMore;) {
    http::Pieces pieces;
    pulled = reply.source->Pull(pieces, room);
    bytes += pieces.Flatten();
  }
  std::vector<Event> events;
  std::string_view rest = bytes;
  while (rest.size() >= 4) {
    size_t size = 0;
    for (size_t i = 0; i < 4; ++i) size = size << 8 | static_cast<uint8_t>(rest[i]);
    rest.remove_prefix(4);
    const std::vector<Field> fields = FieldsOf(rest.substr(0, size));
    rest.remove_prefix(std::min(size, rest.size()));
    EXPECT_THAT(fields, ::testing::SizeIs(2));
    EXPECT_EQ(fields[0].number, 1U);
    EXPECT_EQ(fields[1].number, 2U);
    const std::vector<Field> raw = FieldsOf(fields[1].content);
    EXPECT_THAT(raw, ::testing::SizeIs(1));
    EXPECT_EQ(raw[0].number, 1U);
    events.push_back({.type = fields[0].content, .object = raw[0].content});
  }
  EXPECT_EQ(rest, "") << "part of a frame";
  return events;
}

/// How to create an object of a kind with all fields that a request may set.
struct Sample {
  std::string url;
  std::string body;
  std::string there = {};  // The name of an existing object, if only the server creates them.
};
/// Names are generated, because the two kinds of Events are the same objects and need two names.
inline std::map<const api::Kind*, Sample> Samples() {
  const std::string meta =
      "'metadata':{'generateName':'s-','labels':{'b':'2','a':'x'},'annotations':{'x/y':'\u00fc'},"
      "'finalizers':['k8s.io/f'],'ownerReferences':[{'apiVersion':'v1','kind':'Service',"
      "'name':'o','uid':'u','controller':true}]}";
  return {
      {&api::kNamespaceKind, {"/api/v1/namespaces", "{" + meta + "}"}},
      {&api::kServiceKind,
       {"/api/v1/namespaces/shop/services",
        "{" + meta +
            ",'spec':{'type':'NodePort','selector':{'app':'web'},'externalIPs':['192.0.2.1'],"
            "'sessionAffinity':'ClientIP','sessionAffinityConfig':{'clientIP':{"
            "'timeoutSeconds':7}},'externalTrafficPolicy':'Local',"
            "'ports':[{'name':'a','port':80,'targetPort':'http','appProtocol':'x'},"
            "{'name':'b','port':81,'protocol':'UDP','targetPort':8080}]}}"}},
      {&api::kEventKind,
       {"/api/v1/namespaces/shop/events",
        "{" + meta +
            ",'involvedObject':{'kind':'Service','name':'a','namespace':'shop'},'reason':'R',"
            "'message':'m','type':'Normal','count':3,'source':{'component':'c','host':'h'},"
            "'firstTimestamp':'2026-11-15T04:00:00Z','lastTimestamp':'2026-11-15T04:01:00Z'}"}},
      {&api::kEventsEventKind,
       {"/apis/events.k8s.io/v1/namespaces/shop/events",
        "{" + meta +
            ",'regarding':{'kind':'Service','name':'a','namespace':'shop'},'reason':'R',"
            "'note':'n','type':'Warning','action':'A','reportingController':'x/c',"
            "'reportingInstance':'i','eventTime':'2026-11-15T04:00:00.123456Z',"
            "'series':{'count':2,'lastObservedTime':'2026-11-15T04:00:01.000001Z'}}"}},
      {&api::kLeaseKind,
       {"/apis/coordination.k8s.io/v1/namespaces/shop/leases",
        "{" + meta +
            ",'spec':{'holderIdentity':'h','leaseDurationSeconds':15,'leaseTransitions':0,"
            "'acquireTime':'2026-11-15T04:00:00.000001Z',"
            "'renewTime':'2026-11-15T04:00:10.999999Z'}}"}},
      {&api::kEndpointsKind,
       {"/api/v1/namespaces/shop/endpoints",
        "{" + meta +
            ",'subsets':[{'addresses':[{'ip':'192.0.2.1','hostname':'h','nodeName':'n',"
            "'targetRef':{'kind':'Pod','name':'p','namespace':'shop'}}],"
            "'notReadyAddresses':[{'ip':'192.0.2.2'}],"
            "'ports':[{'name':'http','port':80,'protocol':'TCP','appProtocol':'x'}]}]}"}},
      {&api::kEndpointSliceKind,
       {"/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices",
        "{" + meta +
            ",'addressType':'IPv4','endpoints':[{'addresses':['192.0.2.1'],"
            "'conditions':{'ready':true,'terminating':false},'hostname':'h','nodeName':'n',"
            "'zone':'z','hints':{'forZones':[{'name':'z'}]}}],"
            "'ports':[{'name':'http','port':80,'protocol':'TCP'}]}"}},
      {&api::kNodeKind,
       {"/api/v1/nodes",
        "{" + meta +
            ",'spec':{'podCIDR':'192.0.2.0/24','podCIDRs':['192.0.2.0/24'],'providerID':'x://n',"
            "'taints':[{'key':'k','value':'v','effect':'NoSchedule'}]},"
            "'status':{'capacity':{'cpu':'4','memory':'8Gi'},"
            "'addresses':[{'type':'InternalIP','address':'192.0.2.3'}],"
            "'nodeInfo':{'kubeletVersion':'v1.36.4','osImage':'Debian'}}}"}},
      {&api::kServiceCidrKind, {"/apis/networking.k8s.io/v1/servicecidrs", "", "kubernetes"}},
      {&api::kIpAddressKind,
       {"/apis/networking.k8s.io/v1/ipaddresses",
        "{'metadata':{'generateName':'192.0.2.1','labels':{'a':'x'}},'spec':{'parentRef':{"
        "'group':'g.io','resource':'r','namespace':'n','name':'o'}}}"}},
  };
}

class ProtobufTest : public ServerTest {
 protected:
  /// Like Get, and checks that the answer is in protobuf.
  Reply GetProto(const std::string& url, const std::string& accept = kProtobuf) {
    const Reply reply = Get(url, {.accept = accept});
    EXPECT_EQ(reply.code, 200) << url;
    EXPECT_EQ(reply.Header("content-type"), kProtobuf);
    return reply;
  }
  Reply Watch(const std::string& url, const std::string& accept = kProtobufWatch) {
    const Reply reply = Get(url, {.accept = accept});
    EXPECT_EQ(reply.code, 200) << reply.body;
    EXPECT_EQ(reply.Header("content-type"), kProtobufWatch);
    return reply;
  }
};

}  // namespace berth::server::testing
