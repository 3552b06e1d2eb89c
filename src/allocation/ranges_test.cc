// Changes of ranges while Services have values of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocation/fences.h"
#include "allocation/testing/registry_stack.h"

namespace berth::allocation {
namespace {

using allocation::testing::Text;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class RangesTest : public allocation::testing::RegistryTest {
 protected:
  RangesTest() {
    Must(Create(Range(),
                "{'metadata':{'name':'allocator.ipv4.k8s.io'},"
                "'spec':{'range':'10.96.0.0/16','primary':true}}"));
  }

  registry::Target Range(std::string name = "") const {
    return At("allocation.berth.io/ipranges", "", name);
  }
  registry::Target Ports(std::string name = "") const {
    return At("allocation.berth.io/nodeportranges", "", name);
  }
  registry::Target Cidr(std::string name = "") const {
    return At("networking.k8s.io/servicecidrs", "", name);
  }

  base::Result<registry::Outcome> Make(const std::string& name, const std::string& range,
                                       const std::string& more = "") {
    return Create(Range(), "{'metadata':{'name':'" + name + "'},'spec':{'range':'" + range + "'" +
                               more + "}}");
  }
  base::Result<registry::Outcome> Change(const std::string& name, const std::string& spec,
                                         const registry::CommonOptions& options = {}) {
    return Update(Range(name), "{'metadata':{'name':'" + name + "'},'spec':{" + spec + "}}",
                  registry::Door::kMain, options);
  }
  /// Creates a Service and returns its address, or the error.
  std::string Serve(const std::string& name, const std::string& spec = "") {
    auto made = Create(Service(""), "{'metadata':{'name':'" + name + "'},'spec':{" + spec +
                                        (spec.empty() ? "" : ",") + "'ports':[{'port':80}]}}");
    if (!made) return made.error().message;
    return std::string(
        codec::StringAt(Show(Service(name), *made->written.object), "spec", "clusterIP"));
  }
  std::string Spec(const registry::Target& target, std::string_view field) const {
    const auto object = Get(target);
    if (!object) return "not found";
    const codec::Value* value = codec::FindAt(*object, "spec", field);
    return value == nullptr ? "none" : rules::PrintValue(*value);
  }
  bool IsClosed(alloc::PoolId pool) const {
    const auto fence = follower_->Current()->Find(FenceKey(pool));
    return fence != nullptr && ReadFence(*RecordRowsOf(kinds_).fences, *fence).has_value();
  }
};

constexpr const char* kWellKnown = "allocator.ipv4.k8s.io";

TEST_F(RangesTest, ALargerRangeIsAlwaysAccepted) {
  EXPECT_THAT(Serve("before", "'clusterIP':'10.97.0.5'"), HasSubstr("does not match"));
  EXPECT_THAT(Text(Change(kWellKnown, "'range':'10.96.0.0/15','primary':true")),
              StartsWith("updated"));
  EXPECT_EQ(Serve("after", "'clusterIP':'10.97.0.5'"), "10.97.0.5");
  EXPECT_EQ(Spec(Cidr("kubernetes"), "cidrs"), "[\"10.96.0.0/15\"]");
}

TEST_F(RangesTest, ASmallerOneIsRefusedWhileValuesWouldBeOutside) {
  ASSERT_EQ(Serve("a", "'clusterIP':'10.96.0.244'"), "10.96.0.244");
  ASSERT_EQ(Serve("b", "'clusterIP':'10.96.0.7'"), "10.96.0.7");
  EXPECT_THAT(Text(Change(kWellKnown, "'range':'10.96.0.0/28','primary':true")),
              AllOf(HasSubstr("spec.range: Invalid value: \"10.96.0.0/28\""),
                    HasSubstr("1 of its addresses would be outside of every range: 10.96.0.244 "
                              "(Service shop/a)")));
  EXPECT_FALSE(IsClosed(alloc::PoolId::kIpv4));
  EXPECT_EQ(Spec(Range(kWellKnown), "range"), "\"10.96.0.0/16\"");
  Must(Delete(Service("a")));
  EXPECT_THAT(Text(Change(kWellKnown, "'range':'10.96.0.0/28','primary':true")),
              StartsWith("updated"));
  EXPECT_FALSE(IsClosed(alloc::PoolId::kIpv4));
  EXPECT_THAT(Serve("c", "'clusterIP':'10.96.0.244'"), HasSubstr("does not match"));
}

TEST_F(RangesTest, WhatBecomesTheNetworkOrBroadcastAddressStandsInTheWay) {
  ASSERT_EQ(Serve("a", "'clusterIP':'10.96.0.15'"), "10.96.0.15");
  EXPECT_THAT(Text(Change(kWellKnown, "'range':'10.96.0.0/28','primary':true")),
              HasSubstr("10.96.0.15 (Service shop/a)"));
}

TEST_F(RangesTest, OnlySomeOfManyAreNamed) {
  for (int i = 0; i < 23; ++i) {
    ASSERT_THAT(Serve("s" + std::to_string(i)), StartsWith("10.96."));
  }
  EXPECT_THAT(Text(Change(kWellKnown, "'range':'10.96.0.0/24','primary':true")),
              AllOf(HasSubstr("23 of its addresses"), HasSubstr(" and 3 more")));
}

TEST_F(RangesTest, ADryRunSaysTheSameAndChangesNothing) {
  ASSERT_EQ(Serve("a", "'clusterIP':'10.96.0.244'"), "10.96.0.244");
  const int64_t before = Revision();
  EXPECT_THAT(Text(Change(kWellKnown, "'range':'10.96.0.0/28','primary':true", {.dry_run = true})),
              HasSubstr("10.96.0.244"));
  EXPECT_THAT(Text(Change(kWellKnown, "'range':'10.96.0.0/24','primary':true", {.dry_run = true})),
              StartsWith("updated"));
  EXPECT_EQ(Revision(), before);
}

TEST_F(RangesTest, AnotherRangeMayCoverWhatOneLoses) {
  Must(Make("more", "10.97.0.0/24"));
  ASSERT_EQ(Serve("a", "'clusterIP':'10.97.0.5'"), "10.97.0.5");
  EXPECT_THAT(Text(Delete(Range("more"))),
              AllOf(HasSubstr("cannot be fulfilled"), HasSubstr("10.97.0.5 (Service shop/a)")));
  Must(Make("cover", "10.97.0.0/25"));
  EXPECT_THAT(Text(Delete(Range("more"))), StartsWith("deleted"));
  EXPECT_FALSE(Get(Range("more")));
}

TEST_F(RangesTest, WellKnownOnesStay) {
  EXPECT_THAT(Text(Delete(Range(kWellKnown))), HasSubstr("spec.disabled"));
  EXPECT_THAT(Text(Delete(Ports("allocator.nodeport.k8s.io"))), HasSubstr("spec.disabled"));
}

TEST_F(RangesTest, OneThatFinalizersWouldKeepIsDeletedByTheSameRules) {
  const registry::DeleteOptions foreground{.propagation = registry::Propagation::kForeground};
  for (const registry::Target& target : {Range(kWellKnown), Ports("allocator.nodeport.k8s.io")}) {
    EXPECT_THAT(Text(Delete(target, foreground)), HasSubstr("spec.disabled"));
    EXPECT_THAT(Text(Delete(target, {.propagation = registry::Propagation::kOrphan})),
                HasSubstr("spec.disabled"));
  }
  Must(Make("more", "10.97.0.0/24"));
  ASSERT_EQ(Serve("a", "'clusterIP':'10.97.0.5'"), "10.97.0.5");
  EXPECT_THAT(Text(Delete(Range("more"), foreground)),
              AllOf(HasSubstr("cannot be fulfilled"), HasSubstr("10.97.0.5 (Service shop/a)")));
  EXPECT_FALSE(IsClosed(alloc::PoolId::kIpv4));
  Must(Delete(Service("a")));
  Must(Delete(Range("more"), foreground));
  EXPECT_TRUE(codec::HasAt(*Get(Range("more")), "metadata", "deletionTimestamp"));
  EXPECT_THAT(Serve("b", "'clusterIP':'10.97.0.5'"), HasSubstr("failed to allocate"));
  EXPECT_THAT(Text(Update(Range("more"),
                          "{'metadata':{'name':'more','finalizers':['foregroundDeletion']},"
                          "'spec':{'range':'10.97.0.0/24','primary':true}}")),
              HasSubstr("a range that is being deleted cannot become primary"));
  EXPECT_THAT(Serve("c"), StartsWith("10.96."));
}

TEST_F(RangesTest, ADisabledRangeGivesNothingNew) {
  ASSERT_EQ(Serve("a", "'clusterIP':'10.96.0.5'"), "10.96.0.5");
  Must(Make("more", "10.97.0.0/24"));
  Must(Change(kWellKnown, "'range':'10.96.0.0/16','primary':true,'disabled':true"));
  EXPECT_THAT(Serve("b"), StartsWith("10.97.0."));
  EXPECT_THAT(Serve("c", "'clusterIP':'10.96.0.6'"), HasSubstr("failed to allocate"));
  Must(Delete(Service("a")));
  EXPECT_THAT(Text(Change(kWellKnown, "'range':'10.96.0.0/28','primary':true,'disabled':true")),
              StartsWith("updated"));
}

TEST_F(RangesTest, ExactlyOneIsPrimary) {
  EXPECT_THAT(Text(Change(kWellKnown, "'range':'10.96.0.0/16'")),
              HasSubstr("spec.primary: Invalid value: false: one range must be primary"));
  Must(Make("six", "fd00::/64", ",'primary':true"));
  EXPECT_EQ(Spec(Range(kWellKnown), "primary"), "none");
  EXPECT_THAT(Serve("a"), StartsWith("fd00::"));
  EXPECT_THAT(Text(Delete(Range("six"))), HasSubstr("make another one primary first"));
  Must(Change(kWellKnown, "'range':'10.96.0.0/16','primary':true"));
  EXPECT_EQ(Spec(Range("six"), "primary"), "none");
  EXPECT_THAT(Serve("b"), StartsWith("10.96."));
}

TEST_F(RangesTest, TheFirstRangeOfAFamilyMakesTheClusterDualStackAtOnce) {
  const std::string dual = "'ipFamilyPolicy':'RequireDualStack'";
  EXPECT_THAT(Serve("a", dual), HasSubstr("not configured for dual-stack"));
  Must(Make("six", "2001:db8:5::/64"));
  EXPECT_THAT(Serve("b", dual), StartsWith("10.96."));
}

TEST_F(RangesTest, TheDefaultServiceCidrMayGetASecondFamily) {
  Must(Update(Cidr("kubernetes"),
              "{'metadata':{'name':'kubernetes'},'spec':{'cidrs':"
              "['10.96.0.0/16','fd00:96::/112']}}"));
  EXPECT_EQ(Spec(Range("allocator.ipv6.k8s.io"), "range"), "\"fd00:96::/112\"");
  EXPECT_EQ(Spec(Range("allocator.ipv6.k8s.io"), "primary"), "none");
}

TEST_F(RangesTest, AServiceCidrServesAndGoesWhenNothingDependsOnIt) {
  Must(Create(Cidr(), "{'metadata':{'name':'extra'},'spec':{'cidrs':['10.200.0.0/24']}}"));
  ASSERT_EQ(Serve("a", "'clusterIP':'10.200.0.5'"), "10.200.0.5");
  Must(Delete(Cidr("extra")));
  ASSERT_TRUE(Get(Cidr("extra")));
  EXPECT_THAT(Serve("b", "'clusterIP':'10.200.0.6'"), HasSubstr("failed to allocate"));
  const auto without = [this] {
    return Update(Cidr("extra"),
                  "{'metadata':{'name':'extra'},'spec':{'cidrs':['10.200.0.0/24']}}");
  };
  EXPECT_THAT(Text(without()), HasSubstr("10.200.0.5 (Service shop/a)"));
  Must(Delete(Service("a")));
  Must(without());
  EXPECT_FALSE(Get(Cidr("extra")));
}

TEST_F(RangesTest, IdenticalServiceCidrsDeletedTogetherDoNotCountOnEachOther) {
  for (const char* name : {"one", "two"}) {
    Must(Create(Cidr(), "{'metadata':{'name':'" + std::string(name) +
                            "'},'spec':{'cidrs':['10.200.0.0/24']}}"));
  }
  ASSERT_EQ(Serve("a", "'clusterIP':'10.200.0.5'"), "10.200.0.5");
  for (const std::string name : {"one", "two"}) Must(Delete(Cidr(name)));
  for (const std::string name : {"one", "two"}) {
    EXPECT_THAT(Text(Update(Cidr(name), "{'metadata':{'name':'" + name +
                                            "'},'spec':{'cidrs':['10.200.0.0/24']}}")),
                HasSubstr("10.200.0.5 (Service shop/a)"));
  }
}

TEST_F(RangesTest, PortsOfSeveralRanges) {
  Must(Create(Ports(), "{'metadata':{'name':'web'},'spec':{'range':'80-80'}}"));
  Must(Create(Ports(), "{'metadata':{'name':'tls'},'spec':{'range':'443-443'}}"));
  Must(Create(Service(""),
              "{'metadata':{'name':'edge'},'spec':{'type':'NodePort','ports':["
              "{'name':'a','port':80,'nodePort':80},{'name':'b','port':443,'nodePort':443}]}}"));
  EXPECT_THAT(Text(Delete(Ports("web"))), HasSubstr("80 (Service shop/edge)"));
  Must(Delete(Service("edge")));
  EXPECT_THAT(Text(Delete(Ports("web"))), StartsWith("deleted"));
}

TEST_F(RangesTest, RangesOfBothFamiliesThatShrinkAtTheSameTimeDoNotWaitForEachOther) {
  Must(Make("four", "10.200.0.0/24"));
  Must(Make("six", "fd00::/112"));
  int answers = 0;
  const auto change = [&](const std::string& name, const std::string& range) {
    const registry::Target target = Range(name);
    registry_->Update(target, {},
                      Always(ParseFor(target, "{'metadata':{'name':'" + name +
                                                  "'},'spec':{'range':'" + range + "'}}")),
                      {}, [&answers](const base::Result<registry::Outcome>& outcome) {
                        EXPECT_TRUE(outcome) << Text(outcome);
                        ++answers;
                      });
  };
  change("four", "10.200.0.0/25");
  change("six", "fd00::/113");
  PumpAll();
  EXPECT_EQ(answers, 2);
  EXPECT_EQ(Spec(Range("four"), "range"), "\"10.200.0.0/25\"");
  EXPECT_EQ(Spec(Range("six"), "range"), "\"fd00::/113\"");
  for (const auto pool : {alloc::PoolId::kIpv4, alloc::PoolId::kIpv6}) {
    EXPECT_FALSE(IsClosed(pool));
  }
}

TEST_F(RangesTest, AFenceThatSomebodyLeftClosedIsOpenedAfterAWhile) {
  ClosedFence closed{.operation = "of-one-that-died",
                     .since = store_.clock.Now() + std::chrono::hours(1)};
  closed.objects["/registry/allocation.berth.io/ipranges/allocator.ipv4.k8s.io"] = std::nullopt;
  closed.objects["/registry/servicecidrs/kubernetes"] = std::nullopt;
  const commit::ExtraPut put =
      FencePut(*RecordRowsOf(kinds_).fences, alloc::PoolId::kIpv4, &closed, store_.clock.Now());
  store_.Put(put.key, put.stored);
  PumpAll();
  ASSERT_TRUE(IsClosed(alloc::PoolId::kIpv4));
  std::optional<base::Result<registry::Outcome>> answer;
  registry_->Create(
      Service(""),
      ParseFor(Service(""), "{'metadata':{'name':'a'},'spec':{'ports':[{'port':80}]}}"), {},
      [&](base::Result<registry::Outcome> outcome) { answer = std::move(outcome); });
  PumpAll();
  EXPECT_FALSE(answer) << "nobody is refused because a range is closing";
  Ranges().OpenIfStale(alloc::PoolId::kIpv4, *follower_->Current());
  PumpAll();
  EXPECT_TRUE(IsClosed(alloc::PoolId::kIpv4));
  store_.clock.Advance(std::chrono::seconds(11));
  Ranges().OpenIfStale(alloc::PoolId::kIpv4, *follower_->Current());
  PumpAll();
  EXPECT_FALSE(IsClosed(alloc::PoolId::kIpv4));
  ASSERT_TRUE(answer);
  EXPECT_TRUE(*answer) << Text(*answer);
}

}  // namespace
}  // namespace berth::allocation
