#include "rules/node.h"

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

codec::Value NodeOf(const std::string& rest) {
  return Json("{'metadata':{'name':'n1','resourceVersion':'1'}" +
              (rest.empty() ? "}" : "," + rest + "}"));
}

std::vector<std::string> CreateNode(const std::string& rest) {
  return Lines(ValidateNodeCreate(NodeOf(rest)));
}

std::vector<std::string> UpdateNode(const std::string& from, const std::string& to) {
  return Lines(ValidateNodeUpdate(NodeOf(to), NodeOf(from)));
}

TEST(Node, ANewOneIsNotReady) {
  codec::Value node = NodeOf("'spec':{'taints':[{'key':'a','effect':'NoExecute'}]}");
  PrepareNodeCreate(node);
  const codec::Array taints = codec::ArrayAt(node, "spec", "taints");
  ASSERT_EQ(taints.size(), 2U);
  EXPECT_EQ(taints[1],
            (codec::Object{{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoSchedule"}}));
  PrepareNodeCreate(node);
  EXPECT_EQ(codec::ArrayAt(node, "spec", "taints"), taints) << "once is enough";
}

TEST(Node, ThePodNetworksAgree) {
  const auto spec = [](const std::string& text) {
    codec::Value node = NodeOf("'spec':{" + text + "}");
    DefaultNode(node);
    return *codec::FindAt(node, "spec");
  };
  const codec::Value both = Json("{'podCIDR':'10.1.0.0/24','podCIDRs':['10.1.0.0/24']}");
  EXPECT_EQ(spec("'podCIDR':'10.1.0.0/24'"), both);
  EXPECT_TRUE(codec::Same(codec::FindAt(spec("'podCIDRs':['10.1.0.0/24']"), "podCIDR"),
                          codec::FindAt(both, "podCIDR")));
  EXPECT_EQ(spec("'podCIDR':'10.1.0.0/24','podCIDRs':['10.2.0.0/24']"), both)
      << "the single field counts";
}

TEST(Node, WhatIsSetStays) {
  EXPECT_THAT(UpdateNode("", "'spec':{'podCIDRs':['10.1.0.0/24'],'providerID':'x://1'}"),
              IsEmpty());
  EXPECT_THAT(
      UpdateNode("'spec':{'podCIDRs':['10.1.0.0/24']}", "'spec':{'podCIDRs':['10.2.0.0/24']}"),
      ElementsAre(HasSubstr("spec.podCIDRs: Forbidden: node updates may not change "
                            "podCIDR except from \"\" to valid")));
  EXPECT_THAT(UpdateNode("'spec':{'podCIDRs':['10.1.0.0/24']}", "'spec':{}"),
              ElementsAre(HasSubstr("spec.podCIDRs: Forbidden")));
  EXPECT_THAT(UpdateNode("'spec':{'providerID':'x://1'}", "'spec':{'providerID':'x://2'}"),
              ElementsAre(HasSubstr("spec.providerID: Forbidden")));
}

TEST(Node, PodNetworksAreOneOfEachFamily) {
  EXPECT_THAT(CreateNode("'spec':{'podCIDRs':['10.1.0.0/24','fd00::/64']}"), IsEmpty());
  EXPECT_THAT(CreateNode("'spec':{'podCIDRs':['10.1.0.0/24','10.2.0.0/24']}"),
              ElementsAre(HasSubstr("may specify no more than one CIDR for each IP family")));
}

TEST(Node, TheTwoDoorsAreSeparate) {
  const codec::Value old = NodeOf("'spec':{'unschedulable':true},'status':{'phase':'Running'}");
  codec::Value main = NodeOf("'spec':{},'status':{'phase':'Terminated'}");
  codec::Value status = main;
  PrepareNodeUpdate(main, old);
  EXPECT_FALSE(codec::BoolAt(main, "spec", "unschedulable"));
  EXPECT_EQ(codec::StringAt(main, "status", "phase"), "Running");
  PrepareNodeStatusUpdate(status, old);
  EXPECT_TRUE(codec::BoolAt(status, "spec", "unschedulable"));
  EXPECT_EQ(codec::StringAt(status, "status", "phase"), "Terminated");
}

TEST(Node, StatusIsChecked) {
  const auto problems = [](const std::string& status) {
    return Lines(ValidateNodeStatusUpdate(NodeOf("'status':{" + status + "}"), NodeOf("")));
  };
  EXPECT_THAT(problems("'addresses':[{'type':'InternalIP','address':'10.0.0.1'},"
                       "{'type':'ExternalIP','address':'10.0.0.1'}]"),
              IsEmpty());
  EXPECT_THAT(problems("'addresses':[{'type':'InternalIP','address':'10.0.0.1'},"
                       "{'type':'InternalIP','address':'10.0.0.1'}]"),
              ElementsAre(HasSubstr("status.addresses[1]: Duplicate value")));
  EXPECT_THAT(problems("'capacity':{'cpu':'-1'}"),
              ElementsAre(HasSubstr("must be greater than or equal to 0")));
  EXPECT_THAT(problems("'capacity':{'pods':'1500m'}"),
              ElementsAre(HasSubstr("must be an integer")));
}

TEST(Node, Taints) {
  const auto problems = [](const std::string& taints) {
    return CreateNode("'spec':{'taints':[" + taints + "]}");
  };
  EXPECT_THAT(problems("{'key':'a','effect':'NoSchedule'},{'key':'a','effect':'NoExecute'}"),
              IsEmpty());
  EXPECT_THAT(problems("{'key':'a','effect':'NoSchedule'},{'key':'a','effect':'NoSchedule'}"),
              ElementsAre(HasSubstr("metadata.taints[1]: Duplicate value")));
  EXPECT_THAT(problems("{'key':'a','effect':'Never'}"),
              ElementsAre(HasSubstr("metadata.taints[0].effect: Unsupported value: \"Never\"")));
  EXPECT_THAT(problems("{'key':'a'}"), ElementsAre("metadata.taints[0].effect: Required value"));
}

}  // namespace
}  // namespace berth::rules
