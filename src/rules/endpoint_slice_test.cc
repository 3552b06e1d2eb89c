#include "rules/endpoint_slice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "codec/read.h"
#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

codec::Value Slice(const std::string& rest) {
  return Json("{'metadata':{'name':'a','namespace':'n','resourceVersion':'1','generation':3}," +
              rest + "}");
}

codec::Array Many(size_t count, const std::function<codec::Value(size_t)>& make) {
  codec::Array list;
  for (size_t i = 0; i < count; ++i) list.push_back(make(i));
  return list;
}

codec::Value Ipv4(size_t i) {
  return "10.0." + std::to_string(i / 200) + "." + std::to_string(i % 200);
}

codec::Value EndpointAt(size_t i) { return codec::Object{{"addresses", codec::Array{Ipv4(i)}}}; }

codec::Value Port(size_t i) {
  return codec::Object{{"name", "p" + std::to_string(i)}, {"port", 80}, {"protocol", "TCP"}};
}

/// Returns what is wrong with a slice of IPv4 addresses in which one field is this list.
std::vector<std::string> WithList(const std::string& field, codec::Array list) {
  codec::Value slice = Slice("'addressType':'IPv4'");
  slice.Set(field, std::move(list));
  return Lines(ValidateEndpointSliceCreate(slice));
}

/// Returns what is wrong with a slice of one endpoint that has these addresses.
std::vector<std::string> WithAddresses(const std::string& type, codec::Array addresses) {
  codec::Value slice = Slice("'addressType':'" + type + "'");
  slice.Set("endpoints", codec::Array{codec::Object{{"addresses", std::move(addresses)}}});
  return Lines(ValidateEndpointSliceCreate(slice));
}

std::vector<std::string> WithEndpoint(const std::string& rest) {
  return Lines(ValidateEndpointSliceCreate(
      Slice("'addressType':'IPv4','endpoints':[{'addresses':['10.0.0.1']," + rest + "}]")));
}

TEST(EndpointSlice, AtMostThisManyOfEach) {
  EXPECT_THAT(WithList("endpoints", Many(1000, EndpointAt)), IsEmpty());
  EXPECT_THAT(WithList("endpoints", Many(1001, EndpointAt)),
              ElementsAre("endpoints: Too many: 1001: must have at most 1000 items"));
  EXPECT_THAT(WithList("ports", Many(20'000, Port)), IsEmpty());
  EXPECT_THAT(WithList("ports", Many(20'001, Port)),
              ElementsAre("ports: Too many: 20001: must have at most 20000 items"));
  EXPECT_THAT(WithAddresses("IPv4", Many(100, Ipv4)), IsEmpty());
  EXPECT_THAT(WithAddresses("IPv4", Many(101, Ipv4)),
              ElementsAre("endpoints[0].addresses: Too many: 101: must have at most 100 items"));
  EXPECT_THAT(WithAddresses("IPv4", {}),
              ElementsAre("endpoints[0].addresses: Required value: must contain at least 1 "
                          "address"));
}

TEST(EndpointSlice, TooManyEndpointsAreNotCheckedOneByOne) {
  codec::Array bad = Many(1001, [](size_t) { return codec::Object{{"nodeName", "A"}}; });
  EXPECT_THAT(WithList("endpoints", std::move(bad)), SizeIs(1));
}

TEST(EndpointSlice, Hints) {
  const auto hints = [](const std::string& field, size_t count, const std::string& name) {
    std::string list;
    for (size_t i = 0; i < count; ++i) {
      list += (i == 0 ? "{'name':'" : ",{'name':'") + name + std::to_string(i) + "'}";
    }
    return "'" + field + "':[" + list + "]";
  };
  const auto with = [](const std::string& text) { return WithEndpoint("'hints':{" + text + "}"); };
  EXPECT_THAT(with(hints("forZones", 8, "z") + "," + hints("forNodes", 8, "n")), IsEmpty());
  EXPECT_THAT(with(hints("forZones", 9, "z")),
              ElementsAre("endpoints[0].hints.forZones: Too many: 9: must have at most 8 items"));
  EXPECT_THAT(with(hints("forNodes", 9, "n")),
              ElementsAre("endpoints[0].hints.forNodes: Too many: 9: must have at most 8 items"));
  EXPECT_THAT(with("'forNodes':[{'name':'n'},{'name':'n'}]"),
              ElementsAre("endpoints[0].hints.forNodes[1].name: Duplicate value: \"n\""));
}

TEST(EndpointSlice, AddressesAreOfTheirType) {
  EXPECT_THAT(WithAddresses("IPv6", {"fd00::1"}), IsEmpty());
  EXPECT_THAT(WithAddresses("IPv6", {"10.0.0.1"}),
              ElementsAre("endpoints[0].addresses: Invalid value: \"10.0.0.1\": must be an IPv6 "
                          "address"));
  EXPECT_THAT(WithAddresses("IPv4", {"fd00::1"}),
              ElementsAre("endpoints[0].addresses: Invalid value: \"fd00::1\": must be an IPv4 "
                          "address"));
  EXPECT_THAT(WithAddresses("IPv6", {"FD00::1"}), SizeIs(1)) << "IPv6 has one form only";
  EXPECT_THAT(WithAddresses("IPv4", {"127.0.0.1"}),
              ElementsAre(HasSubstr("may not be in the loopback range")));
  EXPECT_THAT(WithAddresses("FQDN", {"db.example.com", "db.example.com."}), IsEmpty());
  EXPECT_THAT(WithAddresses("FQDN", {"db"}),
              ElementsAre("endpoints[0].addresses[0]: Invalid value: \"db\": should be a domain "
                          "with at least two segments separated by dots"));
  EXPECT_THAT(WithAddresses("FQDN", {"a..com"}), SizeIs(1));
  EXPECT_THAT(WithAddresses("Unix", {"/run/x"}),
              ElementsAre("addressType: Unsupported value: \"Unix\": supported values: \"FQDN\", "
                          "\"IPv4\", \"IPv6\""));
}

TEST(EndpointSlice, PortsHaveNamesOfTheirOwn) {
  codec::Value slice = Slice("'addressType':'IPv4','ports':[{'port':80},{'port':81}]");
  DefaultEndpointSlice(slice);
  EXPECT_EQ(codec::ArrayAt(slice, "ports")[0],
            (codec::Object{{"port", 80}, {"name", ""}, {"protocol", "TCP"}}));
  EXPECT_THAT(Lines(ValidateEndpointSliceCreate(slice)),
              ElementsAre("ports[1].name: Duplicate value: \"\""));
}

TEST(EndpointSlice, TheAddressTypeStays) {
  const codec::Value old = Slice("'addressType':'IPv4'");
  EXPECT_THAT(Lines(ValidateEndpointSliceUpdate(Slice("'addressType':'IPv6'"), old)),
              ElementsAre("addressType: Invalid value: \"IPv6\": field is immutable"));
  EXPECT_THAT(Lines(ValidateEndpointSliceUpdate(old, old)), IsEmpty());
}

TEST(EndpointSlice, EndpointsThatDoNotChangeAreNotChecked) {
  const std::string bad = "'addressType':'IPv4','endpoints':[{'addresses':['127.0.0.1']}]";
  const codec::Value old = Slice(bad);
  EXPECT_THAT(Lines(ValidateEndpointSliceUpdate(Slice(bad + ",'ports':[]"), old)), IsEmpty());
  const std::string changed = "'addressType':'IPv4','endpoints':[{'addresses':['127.0.0.2']}]";
  EXPECT_THAT(Lines(ValidateEndpointSliceUpdate(Slice(changed), old)), SizeIs(1));
}

TEST(EndpointSlice, TheGenerationCountsLabelsButNotAnnotations) {
  const codec::Value old = Slice("'addressType':'IPv4'");
  const auto generation = [&old](const std::function<void(codec::Value&)>& change) {
    codec::Value slice = old;
    change(slice);
    PrepareEndpointSliceUpdate(slice, old);
    return codec::IntAt(slice, "metadata", "generation");
  };
  const codec::Value text = codec::Object{{"a", "1"}};
  EXPECT_EQ(generation([&](auto& slice) { SetAt(slice, {"metadata", "labels"}, text); }), 4);
  EXPECT_EQ(generation([&](auto& slice) { SetAt(slice, {"metadata", "annotations"}, text); }), 3);
  EXPECT_EQ(generation([&](auto& slice) { slice.Set("ports", codec::Array{Port(0)}); }), 4);
  codec::Value made = Slice("'addressType':'IPv4'");
  PrepareEndpointSliceCreate(made);
  EXPECT_EQ(codec::IntAt(made, "metadata", "generation"), 1);
}

TEST(EndpointSlice, TopologyIsNotWritten) {
  const auto with = [](const std::string& rest) {
    return Slice("'addressType':'IPv4','endpoints':[{'addresses':['10.0.0.1']" + rest + "}]");
  };
  const std::string topology = ",'deprecatedTopology':{'kubernetes.io/hostname':'n1'}";
  codec::Value made = with(topology);
  PrepareEndpointSliceCreate(made);
  EXPECT_EQ(FindAt(made, "endpoints")->AsArray()->front(),
            (codec::Object{{"addresses", codec::Array{"10.0.0.1"}}}));
  // A node that only the old topology names becomes the nodeName, if the endpoints change at all.
  codec::Value changed = with(topology + ",'hostname':'h'");
  PrepareEndpointSliceUpdate(changed, with(topology));
  EXPECT_EQ(codec::StringAt(codec::ArrayAt(changed, "endpoints")[0], "nodeName"), "n1");
  codec::Value same = with(topology);
  PrepareEndpointSliceUpdate(same, with(topology));
  EXPECT_EQ(same, with(topology));
}

TEST(EndpointSlice, Warnings) {
  const std::string mapped = "'addressType':'IPv6','endpoints':[{'addresses':['FD00::1']}]";
  EXPECT_THAT(EndpointSliceWarnings(Slice(mapped)),
              ElementsAre(HasSubstr("endpoints[0].addresses[0]")));
  codec::Value managed = Slice(mapped);
  SetAt(
      managed, {"metadata", "labels"},
      codec::Object{{"endpointslice.kubernetes.io/managed-by", "endpointslice-controller.k8s.io"}});
  EXPECT_THAT(EndpointSliceWarnings(managed), IsEmpty());
  EXPECT_THAT(NewEndpointSliceWarnings(Slice("'addressType':'FQDN'")),
              ElementsAre("spec.addressType: FQDN endpoints are deprecated"));
  EXPECT_THAT(NewEndpointSliceWarnings(Slice("'addressType':'IPv4'")), IsEmpty());
}

}  // namespace
}  // namespace berth::rules
