// The kinds of allocation.berth.io, written through the registry.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocation/testing/registry_stack.h"

namespace berth::allocation::testing {
namespace {

using codec::IntAt;
using codec::StringAt;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class AllocationKinds : public allocation::testing::RegistryTest {
 protected:
  registry::Target Of(std::string_view plural, std::string name) const {
    const auto served = kinds_.Find("allocation.berth.io", "v1alpha1", plural);
    EXPECT_TRUE(served) << plural;
    return {.served = served.value_or(registry::Served()), .name = std::move(name)};
  }
  registry::Target Ports(std::string name) const { return Of("nodeportranges", std::move(name)); }
};

TEST_F(AllocationKinds, GenerationCountsChangesOfTheSpec) {
  Must(Create(Ports("web"),
              "{'metadata':{'name':'web','generation':5},'spec':{'range':'80'},"
              "'status':{'total':'9'}}"));
  EXPECT_EQ(IntAt(*Get(Ports("web")), "metadata", "generation"), 1);
  EXPECT_EQ(StringAt(*Get(Ports("web")), "status", "total"), "1");

  Must(
      Update(Ports("web"), "{'metadata':{'name':'web','labels':{'a':'b'}},'spec':{'range':'80'}}"));
  EXPECT_EQ(IntAt(*Get(Ports("web")), "metadata", "generation"), 1);
  Must(Update(Ports("web"),
              "{'metadata':{'name':'web'},'spec':{'range':'80-81'},'status':{'total':'9'}}"));
  EXPECT_EQ(IntAt(*Get(Ports("web")), "metadata", "generation"), 2);
  EXPECT_EQ(StringAt(*Get(Ports("web")), "status", "total"), "2");

  Must(Update(Ports("web"),
              "{'metadata':{'name':'web','labels':{'c':'d'}},'spec':{'range':'1'},'status':"
              "{'total':'7','free':7}}",
              registry::Door::kStatus));
  const auto now = Get(Ports("web"));
  EXPECT_EQ(IntAt(*now, "metadata", "generation"), 2);
  EXPECT_EQ(StringAt(*now, "spec", "range"), "80-81");
  EXPECT_EQ(StringAt(*now, "status", "total"), "7");
  EXPECT_FALSE(codec::HasAt(*now, "metadata", "labels"));
}

TEST_F(AllocationKinds, WhatIsWrongWithARangeIsSaidFieldByField) {
  EXPECT_EQ(Text(Create(Ports("web"), "{'metadata':{'name':'web'},'spec':{'range':'200-100'}}")),
            "NodePortRange.allocation.berth.io \"web\" is invalid: spec.range: Invalid value: "
            "\"200-100\": must not end before it begins; from the smaller to the larger port it is "
            "\"100-200\"");
  EXPECT_THAT(Text(Create(Ports("web"),
                          "{'metadata':{'name':'web'},'spec':{'range':'80','staticBand':2}}")),
              HasSubstr("spec.staticBand: Invalid value: 2: a static band of 2 does not fit"));
  EXPECT_EQ(Text(Create(Of("ipranges", "more"),
                        "{'metadata':{'name':'more'},'spec':{'range':'10.7.0.1/24'}}")),
            "IPRange.allocation.berth.io \"more\" is invalid: spec.range: Invalid value: "
            "\"10.7.0.1/24\": must not have bits set beyond the prefix length; the CIDR that has "
            "this address is \"10.7.0.0/24\"");
}

TEST_F(AllocationKinds, ANodePortThatAServiceHasStays) {
  Must(Create(Service(""),
              "{'metadata':{'name':'web'},'spec':{'type':'NodePort','ports':[{'port':80,"
              "'nodePort':30080}]}}"));
  EXPECT_THAT(Text(Delete(Of("nodeports", "30080"))),
              HasSubstr("the Service \"shop/web\" has this port; to free the port, delete"));
  EXPECT_THAT(Text(Update(Of("nodeports", "30080"),
                          "{'metadata':{'name':'30080'},'spec':{'reservedFor':{'namespace':'a',"
                          "'name':'b'}},'status':{'state':'Free'}}")),
              HasSubstr("spec.reservedFor: Invalid value: "));
  EXPECT_EQ(StringAt(*Get(Of("nodeports", "30080")), "status", "state"), "Allocated");
  Must(Delete(Service("web")));
  EXPECT_FALSE(Get(Of("nodeports", "30080")));
}

TEST_F(AllocationKinds, ANodePortIsNamedByItsNumber) {
  EXPECT_THAT(Text(Create(Of("nodeports", ""), "{'metadata':{'name':'http'}}")),
              HasSubstr("metadata.name: Invalid value: \"http\": must be the number of a port"));
  EXPECT_THAT(Text(Create(Of("nodeports", ""), "{'metadata':{'name':'99999'}}")),
              HasSubstr("metadata.name: Invalid value: \"99999\""));
}

TEST(AllocationKeys, FencesOfRangesAreNotThoseOfProcesses) {
  const registry::Kinds kinds;
  const state::Resources resources = kinds.MakeResources();
  const registry::Row* fences = kinds.FindRow(api::kRangeFenceKind);
  ASSERT_NE(fences, nullptr);
  EXPECT_FALSE(fences->served);
  const auto fence = resources.Find("/registry/berth.io/fence/ipv4");
  ASSERT_TRUE(fence);
  EXPECT_EQ(fence->resource, fences->resource);
  EXPECT_FALSE(resources.Find("/registry/berth.io/fence/process/0123"));
  EXPECT_FALSE(resources.Find("/registry/berth.io/mode"));
  const auto replica = resources.Find("/registry/berth.io/replicas/r1");
  ASSERT_TRUE(replica);
  EXPECT_EQ(replica->resource, kinds.FindRow(api::kReplicaKind)->resource);
}

}  // namespace
}  // namespace berth::allocation::testing
