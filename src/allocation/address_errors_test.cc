#include "allocation/address_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocation/ledger/ledger_view.h"

namespace berth::allocation {
namespace {

using alloc::State;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// Returns a range of ten ports. `free` of the four in its static band are free, and none in its
/// dynamic band.
RangeState Ports(const std::string& name, uint64_t free) {
  RangeState range{.pool = PoolId::kPorts, .name = name, .text = "30000-30009"};
  range.static_band = {.first = 30000, .last = 30003};
  range.dynamic_band = {.first = 30004, .last = 30009};
  range.in_static[State::kFree] = free;
  range.in_static[State::kTaken] = 4 - free;
  range.in_dynamic[State::kTaken] = 6;
  return range;
}

TEST(FullWarnings, SayHowFullAndWhatHelps) {
  EXPECT_THAT(FullWarnings(PoolId::kPorts, {Ports("web", 0)}),
              ElementsAre("range 30000-30009 (web) is full: 6 of 6 in the dynamic band and 4 of 4 "
                          "in the static band are taken; delete Services that are no longer "
                          "needed, set allocateLoadBalancerNodePorts: false where a load balancer "
                          "needs none, or make the range larger"));
  EXPECT_THAT(
      FullWarnings(PoolId::kPorts, {Ports("web", 3)}),
      ElementsAre(HasSubstr("1 of 4 in the static band are taken; name a port of the static "
                            "band, or unset spec.strict, or delete Services")));
  RangeState cools = Ports("web", 0);
  cools.in_dynamic[State::kTaken] = 4;
  cools.in_dynamic[State::kCooling] = 2;
  EXPECT_THAT(
      FullWarnings(PoolId::kPorts, {cools}),
      ElementsAre(HasSubstr("are taken, or were until a moment ago (2 cool down); delete")));
  EXPECT_THAT(FullWarnings(PoolId::kIpv4, {Ports("web", 0)}), IsEmpty()) << "of another pool";
}

TEST(FullWarnings, AreNotOfRangesThatNothingIsTakenFrom) {
  RangeState off = Ports("off", 4);
  off.open = false;
  EXPECT_THAT(FullWarnings(PoolId::kPorts, {off, Ports("web", 0)}),
              ElementsAre(StartsWith("range 30000-30009 (web)")));
  RangeState going = off;
  going.leaving = true;
  EXPECT_THAT(
      FullWarnings(PoolId::kPorts, {off, going}),
      ElementsAre(EndsWith("(off), which is disabled"), EndsWith("which is being deleted")));
}

TEST(FullWarnings, AreFewHoweverManyRangesThereAre) {
  const std::vector<std::string> warnings =
      FullWarnings(PoolId::kPorts, std::vector<RangeState>(1000, Ports("web", 0)));
  EXPECT_EQ(warnings.size(), 6U);
  EXPECT_EQ(warnings.back(), "and the same is true of 995 more ranges");
}

}  // namespace
}  // namespace berth::allocation
