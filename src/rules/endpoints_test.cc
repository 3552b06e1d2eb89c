#include "rules/endpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/read.h"
#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

codec::Value EndpointsOf(const std::string& subsets) {
  return Json("{'metadata':{'name':'a','namespace':'n','resourceVersion':'1'},'subsets':[" +
              subsets + "]}");
}

std::vector<std::string> CreateEndpoints(const std::string& subsets) {
  codec::Value endpoints = EndpointsOf(subsets);
  DefaultEndpoints(endpoints);
  return Lines(ValidateEndpointsCreate(endpoints));
}

TEST(Endpoints, ASubsetHasAddressesOfEitherKind) {
  EXPECT_THAT(CreateEndpoints("{'addresses':[{'ip':'10.0.0.1'}]}"), IsEmpty());
  EXPECT_THAT(CreateEndpoints("{'notReadyAddresses':[{'ip':'fd00::1'}]}"), IsEmpty());
  EXPECT_THAT(CreateEndpoints("{'ports':[{'port':80}]}"),
              ElementsAre("subsets[0]: Required value: must specify `addresses` or "
                          "`notReadyAddresses`"));
  EXPECT_THAT(CreateEndpoints("{'notReadyAddresses':[{'ip':'127.0.0.1'}]}"),
              ElementsAre(HasSubstr("subsets[0].notReadyAddresses[0].ip: Invalid value: "
                                    "\"127.0.0.1\": may not be in the loopback range")));
}

TEST(Endpoints, OnlyOnePortMayBeWithoutAName) {
  const std::string address = "{'addresses':[{'ip':'10.0.0.1'}],'ports':[";
  EXPECT_THAT(CreateEndpoints(address + "{'port':80}]}"), IsEmpty());
  EXPECT_THAT(CreateEndpoints(address + "{'port':80,'name':'a'},{'port':81}]}"),
              ElementsAre("subsets[0].ports[1].name: Required value"));
  EXPECT_THAT(CreateEndpoints(address + "{'port':70000,'protocol':'ICMP'}]}"),
              ElementsAre(HasSubstr("subsets[0].ports[0].port: Invalid value: 70000"),
                          HasSubstr("subsets[0].ports[0].protocol: Unsupported value: \"ICMP\"")));
}

TEST(Endpoints, SubsetsThatDoNotChangeAreNotChecked) {
  const codec::Value old = EndpointsOf("{'addresses':[{'ip':'127.0.0.1'}]}");
  codec::Value labelled = old;
  SetAt(labelled, {"metadata", "labels"}, codec::Object{{"a", "1"}});
  EXPECT_THAT(Lines(ValidateEndpointsUpdate(labelled, old)), IsEmpty());
  EXPECT_THAT(
      Lines(ValidateEndpointsUpdate(EndpointsOf("{'addresses':[{'ip':'127.0.0.2'}]}"), old)),
      ElementsAre(HasSubstr("loopback")));
}

TEST(Endpoints, WarningsAreForThoseWhoWriteThemByHand) {
  codec::Value endpoints = EndpointsOf("{'addresses':[{'ip':'FD00::1'}]}");
  EXPECT_THAT(EndpointsWarnings(endpoints), ElementsAre(HasSubstr("subsets[0].addresses[0].ip")));
  SetAt(endpoints, {"metadata", "labels"},
        codec::Object{{"endpoints.kubernetes.io/managed-by", "endpoint-controller"}});
  EXPECT_THAT(EndpointsWarnings(endpoints), IsEmpty());
}

}  // namespace
}  // namespace berth::rules
