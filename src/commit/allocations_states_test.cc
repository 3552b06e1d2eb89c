// Records that are kept, cooling or taken; ranges that are named, drained, closing and written.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "commit/allocations.h"
#include "commit/testing_allocations.h"

namespace berth::commit {
namespace {

using Becomes = Allocations::Give::Becomes;
using Why = Allocations::Why;
using alloc::State;
using testing::Asker;

constexpr Claimant kWeb{.name_space = "shop", .name = "web"};
constexpr Claimant kOther{.name_space = "shop", .name = "web2"};

class AllocationsStatesTest : public testing::AllocationsTest {
 protected:
  U128 Count(State state, size_t range = 0) const {
    const auto ranges = allocations_.Ranges();
    return ranges[range].in_static[state] + ranges[range].in_dynamic[state];
  }
  /// A write that takes these and fails.
  void Fail(const Grant& grant) { allocations_.Settle(grant); }
  void TakeAll() { Commit({Any(), Any(), Any(), Any(), Any(), Any()}); }
};

// Values that are kept.

TEST_F(AllocationsStatesTest, AValueReservedForNobodyIsNobodys) {
  Put("10.0.0.3", "reserved");
  const auto denied = Plan({The("10.0.0.3")}, {}, kWeb);
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().why, Why::kReserved);
  EXPECT_EQ(denied.error().reserved_for, "");
  EXPECT_FALSE(denied.error().wait);
  EXPECT_EQ(Count(State::kReserved), U128{1});
  Delete("10.0.0.3");
  EXPECT_FALSE(WhyNot(The("10.0.0.3")));
}

TEST_F(AllocationsStatesTest, AReservedValueIsTakenByItsServiceOnly) {
  Put("10.0.0.3", "reserved shop/web");
  const auto denied = Plan({The("10.0.0.3")}, {}, kOther);
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().why, Why::kReserved);
  EXPECT_EQ(denied.error().reserved_for, "shop/web");
  const auto grant = Plan({The("10.0.0.3")}, {}, kWeb);
  ASSERT_TRUE(grant);
  ASSERT_EQ(grant->takes.size(), 1U);
  EXPECT_EQ(grant->takes[0].replaces, revision_);
  EXPECT_EQ(grant->takes[0].reserved_for, "shop/web");
  Fail(*grant);
  EXPECT_EQ(Count(State::kReserved), U128{1}) << "it is as before";
}

TEST_F(AllocationsStatesTest, AServiceThatAsksForAnyValueGetsWhatIsKeptForIt) {
  Put("10.0.0.3", "reserved shop/web");
  Put("10.0.0.4", "pending shop/web");
  const auto two = Plan({Any(), Any()}, {}, kWeb);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->values, (std::vector<U128>{Bits("10.0.0.3"), Bits("10.0.0.4")}));
  EXPECT_EQ(two->takes[0].reserved_for, "shop/web");
  EXPECT_EQ(two->takes[1].reserved_for, "") << "a hold is over when it is redeemed";
  EXPECT_EQ(two->takes[1].replaces, revision_);
  const auto third = Plan({Any()}, {}, kWeb);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->takes[0].replaces, 0) << "one that nobody keeps";
}

TEST_F(AllocationsStatesTest, WhatIsKeptIsThereInAFullRangeAndForNobodyElse) {
  Put("10.0.0.6", "reserved shop/web");
  Commit({Any(), Any(), Any(), Any(), Any()});
  EXPECT_EQ(WhyNot(Any()), Why::kFull);
  const auto grant = Plan({Any()}, {}, kWeb);
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->values[0], Bits("10.0.0.6"));
}

TEST_F(AllocationsStatesTest, WhatIsKeptOutsideOfTheNamedRangeIsNotPicked) {
  Put("r10.0.1.0_29");
  Put("10.0.0.3", "reserved shop/web");
  const auto grant = Plan({In("10.0.1.0/29")}, {}, kWeb);
  ASSERT_TRUE(grant);
  EXPECT_EQ(allocations_.RangeOf({.pool = PoolId::kIpv4, .value = grant->values[0]}),
            "10.0.1.0/29");
}

TEST_F(AllocationsStatesTest, AReservationOutlastsItsService) {
  Put("10.0.0.3", "reserved shop/web");
  const auto taking = Plan({Any()}, {}, kWeb);
  ASSERT_TRUE(taking);
  Put("10.0.0.3", "allocated shop/web");
  allocations_.Settle(*taking);
  EXPECT_EQ(Count(State::kTaken), U128{1});
  EXPECT_EQ(Count(State::kReserved), U128{0});
  const auto giving = Plan({}, {Of("10.0.0.3")}, kWeb);
  ASSERT_TRUE(giving);
  ASSERT_EQ(giving->gives.size(), 1U);
  EXPECT_EQ(giving->gives[0].becomes, Becomes::kReserved);
  EXPECT_EQ(giving->gives[0].reserved_for, "shop/web");
  EXPECT_EQ(giving->gives[0].revision, revision_);
  Put("10.0.0.3", "reserved shop/web");
  allocations_.Settle(*giving);
  EXPECT_EQ(Count(State::kReserved), U128{1});
  EXPECT_TRUE(Plan({The("10.0.0.3")}, {}, kWeb));
}

TEST_F(AllocationsStatesTest, AReservationThatIsMovedToAnotherServiceIsNoLongerTheFirsts) {
  Put("10.0.0.3", "reserved shop/web");
  Put("10.0.0.3", "reserved shop/web2");
  EXPECT_FALSE(Plan({The("10.0.0.3")}, {}, kWeb));
  EXPECT_TRUE(Plan({The("10.0.0.3")}, {}, kOther));
}

TEST_F(AllocationsStatesTest, AHoldThatExpiresIsFree) {
  Put("10.0.0.3", "pending shop/web");
  EXPECT_EQ(WhyNot(The("10.0.0.3")), Why::kReserved);
  Delete("10.0.0.3");
  EXPECT_FALSE(WhyNot(The("10.0.0.3")));
  const auto grant = Plan({Any()}, {}, kWeb);
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->takes[0].replaces, 0);
}

TEST_F(AllocationsStatesTest, WhatChangesInTheStoreWhileAWriteTakesItIsTakenUntilThatIsSettled) {
  Put("10.0.0.3", "reserved shop/web");
  const auto taking = Plan({Any()}, {}, kWeb);
  ASSERT_TRUE(taking);
  Delete("10.0.0.3");
  EXPECT_EQ(Count(State::kTaken), U128{1});
  Fail(*taking);
  EXPECT_EQ(Count(State::kTaken), U128{0});
  EXPECT_EQ(Free(), U128{6});
}

// Values that cool down.

TEST_F(AllocationsStatesTest, WhatIsGivenBackCoolsDownWhereItsRangeSaysSo) {
  Put("r10.0.1.0_24", "cool=60");
  Put("r10.0.1.0_29", "cool=5");
  Commit({The("10.0.0.3"), The("10.0.1.3"), The("10.0.1.99")});
  const auto giving = Plan({}, {Of("10.0.0.3"), Of("10.0.1.3"), Of("10.0.1.99")});
  ASSERT_TRUE(giving);
  EXPECT_EQ(giving->gives[0].becomes, Becomes::kGone);
  EXPECT_EQ(giving->gives[1].becomes, Becomes::kCooling);
  EXPECT_EQ(giving->gives[1].cool_down, std::chrono::seconds(5)) << "the smallest range decides";
  EXPECT_EQ(giving->gives[2].cool_down, std::chrono::seconds(60));
}

TEST_F(AllocationsStatesTest, WhatHasNoRecordDoesNotCool) {
  Put("r10.0.1.0_24", "cool=60");
  const auto giving = Plan({}, {Of("10.0.1.3")});
  ASSERT_TRUE(giving);
  EXPECT_EQ(giving->gives[0].becomes, Becomes::kGone);
}

TEST_F(AllocationsStatesTest, CoolingValuesAreAvoidedByPicksAndMayBeAskedFor) {
  Put("10.0.0.3", "cooling");
  const int64_t revision = revision_;
  EXPECT_EQ(Count(State::kCooling), U128{1});
  Commit({Any(), Any(), Any(), Any(), Any()});
  EXPECT_EQ(WhyNot(Any()), Why::kFull);
  const auto grant = Plan({The("10.0.0.3")});
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->takes[0].replaces, revision);
  Fail(*grant);
  EXPECT_EQ(Count(State::kCooling), U128{1});
  Delete("10.0.0.3");
  EXPECT_EQ(Count(State::kCooling), U128{0});
  const auto any = Plan({Any()});
  ASSERT_TRUE(any);
  EXPECT_EQ(any->takes[0].replaces, 0);
}

TEST_F(AllocationsStatesTest, AValueThatHasCooledDownServesWhoWaits) {
  Put("10.0.0.3", "cooling");
  Commit({Any(), Any(), Any(), Any()});
  const auto last = Plan({Any()});
  std::vector<std::string> log;
  const Asker waiting(allocations_, log, "a");
  EXPECT_TRUE(log.empty());
  Delete("10.0.0.3");
  EXPECT_EQ(log, std::vector<std::string>{"a got one"});
}

// Named ranges.

TEST_F(AllocationsStatesTest, EachReasonHasItsName) {
  Put("r10.0.1.0_29", "drained");
  const auto with_value = [this](const std::string& range, const std::string& value) {
    Claim claim = The(value);
    claim.range = range;
    return WhyNot(claim);
  };
  EXPECT_EQ(WhyNot(In("nobody's")), Why::kUnknownRange);
  EXPECT_EQ(WhyNot(In("10.0.1.0/29")), Why::kNotOpen);
  EXPECT_EQ(with_value("10.0.1.0/29", "10.0.1.3"), Why::kNotOpen);
  EXPECT_EQ(with_value("10.0.0.0/29", "10.0.1.3"), Why::kNotInRange);
  EXPECT_EQ(with_value("nobody's", "10.0.1.3"), Why::kUnknownRange);
  EXPECT_EQ(WhyNot(The("10.0.1.3")), Why::kNotOpen);
  EXPECT_EQ(WhyNot(The("10.0.2.3")), Why::kOutOfRange);
  EXPECT_EQ(with_value("10.0.0.0/29", "10.0.0.3"), std::nullopt);
  TakeAll();
  EXPECT_EQ(WhyNot(In("10.0.0.0/29")), Why::kFull);
  EXPECT_EQ(with_value("10.0.0.0/29", "10.0.0.3"), Why::kTaken);
}

TEST_F(AllocationsStatesTest, ANamedPickComesFromItsRangeAndIsDeniedWhenThatIsFull) {
  Put("r10.0.1.0_30");
  const std::vector<std::string> two = Commit({In("10.0.1.0/30"), In("10.0.1.0/30")});
  EXPECT_EQ(two.size(), 2U);
  EXPECT_EQ(Free(), U128{6});
  EXPECT_EQ(WhyNot(In("10.0.1.0/30")), Why::kFull);
  EXPECT_FALSE(WhyNot(Any()));
}

TEST_F(AllocationsStatesTest, PicksOfSeveralRangesInOneWriteAreCountedApart) {
  Put("r10.0.1.0_30");
  Put("r10.0.2.0_30");
  Commit({In("10.0.1.0/30"), In("10.0.2.0/30")});
  EXPECT_TRUE(Plan({In("10.0.1.0/30"), Any(), In("10.0.2.0/30")})) << "one is left in each";
}

TEST_F(AllocationsStatesTest, ANamedPickDoesNotWaitForWritesInOtherRanges) {
  Put("r10.0.1.0_30");
  Commit({In("10.0.1.0/30"), In("10.0.1.0/30")});
  const auto elsewhere = Plan({In("10.0.0.0/29")});
  ASSERT_TRUE(elsewhere);
  const auto denied = Plan({In("10.0.1.0/30")});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().why, Why::kFull);
  EXPECT_FALSE(denied.error().wait);
}

TEST_F(AllocationsStatesTest, ANamedPickWaitsForItsOwnRange) {
  Put("r10.0.1.0_30");
  const std::vector<std::string> two = Commit({In("10.0.1.0/30"), In("10.0.1.0/30")});
  const auto going = Plan({}, {Of(two[0])});
  std::vector<std::string> log;
  const Asker named(allocations_, log, "named", {In("10.0.1.0/30")});
  const Asker any(allocations_, log, "any");
  EXPECT_EQ(log, std::vector<std::string>{"any got one"}) << "there are others for it";
  Delete(two[0]);
  EXPECT_EQ(log.back(), "named got one");
  allocations_.Settle(*going);
}

TEST_F(AllocationsStatesTest, WhoWaitsForARangeIsRefusedWhenNothingInItIsInFlightAnyMore) {
  Put("r10.0.1.0_30");
  const std::vector<std::string> one = Commit({In("10.0.1.0/30")});
  const auto last = Plan({In("10.0.1.0/30")});
  ASSERT_TRUE(last);
  const auto elsewhere = Plan({In("10.0.0.0/29")});
  std::vector<std::string> log;
  const Asker named(allocations_, log, "named", {In("10.0.1.0/30")});
  EXPECT_TRUE(log.empty());
  Put(Name(last->values[0]));
  allocations_.Settle(*last);
  EXPECT_EQ(log, std::vector<std::string>{"named is refused"});
}

TEST_F(AllocationsStatesTest, ANamedPickLeavesThoseAheadWhatTheyNeed) {
  Put("r10.0.1.0_30");
  TakeAll();
  const std::vector<std::string> two = Commit({Any(), Any()});
  const auto going = Plan({}, {Of(two[0])});
  const auto going_too = Plan({}, {Of(two[1])});
  std::vector<std::string> log;
  const Asker first(allocations_, log, "first", 2);
  Delete(two[0]);
  const Asker named(allocations_, log, "named", {In("10.0.1.0/30")});
  EXPECT_TRUE(log.empty()) << "the one that is free is for the first";
  Delete(two[1]);
  EXPECT_EQ(log, std::vector<std::string>{"first got all"});
  Put(two[0]);
  Put(two[1]);
  allocations_.Settle(first.grant());
  allocations_.Settle(*going);
  allocations_.Settle(*going_too);
  EXPECT_EQ(log.back(), "named is refused");
}

TEST_F(AllocationsStatesTest, WhoWaitsForARangeThatGoesIsToldSo) {
  Put("r10.0.1.0_30");
  Commit({In("10.0.1.0/30")});
  const auto last = Plan({In("10.0.1.0/30")});
  std::vector<std::string> log;
  const Asker named(allocations_, log, "named", {In("10.0.1.0/30")});
  EXPECT_TRUE(log.empty());
  Delete("r10.0.1.0_30");
  EXPECT_EQ(log, std::vector<std::string>{"named is refused"});
}

TEST_F(AllocationsStatesTest, PicksFollowPriorityAndARangeThatIsDrainedGivesNothing) {
  Put("r10.0.1.0_30", "priority=5");
  const auto one = Plan({Any()});
  ASSERT_TRUE(one);
  EXPECT_EQ(allocations_.RangeOf({.pool = PoolId::kIpv4, .value = one->values[0]}), "10.0.1.0/30");
  Put("r10.0.1.0_30", "priority=5 drained");
  const auto two = Plan({Any()});
  ASSERT_TRUE(two);
  EXPECT_EQ(allocations_.RangeOf({.pool = PoolId::kIpv4, .value = two->values[0]}), "10.0.0.0/29");
}

// Ranges that are closing.

TEST_F(AllocationsStatesTest, WhileRangesAreClosingNoDenialHolds) {
  Commit({The("10.0.0.1")});
  Put("fence4", "r10.0.0.0_29=r10.0.0.0_30");  // 1 and 2.
  for (const Claim& claim : {The("10.0.0.1"), The("10.0.0.5"), The("10.0.9.9"), In("nobody's")}) {
    const auto denied = Plan({claim});
    ASSERT_FALSE(denied);
    ASSERT_TRUE(denied.error().wait);
    EXPECT_TRUE(denied.error().wait([] {}));
  }
  EXPECT_FALSE(WhyNot(The("10.0.0.2"))) << "what fits goes on";
}

TEST_F(AllocationsStatesTest, WhoWaitsForAClosingIsCalledWhenItIsDecided) {
  Put("fence4", "r10.0.0.0_29=r10.0.0.0_30");
  std::vector<std::string> log;
  const Asker stays(allocations_, log, "the 5th", {The("10.0.0.5")});
  const Asker two(allocations_, log, "two", 2);
  const Asker third(allocations_, log, "third");
  EXPECT_EQ(log, std::vector<std::string>{"two got all"});
  Put("fence4");
  EXPECT_EQ(log.size(), 3U);
  EXPECT_NE(std::find(log.begin(), log.end(), "the 5th got one"), log.end());
  EXPECT_NE(std::find(log.begin(), log.end(), "third got one"), log.end());
}

/// One that is told to try again, and does so later.
struct SlowAsker {
  std::string Ask() {
    for (int tries = 0; tries < 50; ++tries) {
      auto grant = allocations.Plan({}, claims, {}, ticket);
      if (grant) return "got";
      if (!grant.error().wait) return "refused";
      if (grant.error().wait([] {})) return "waits";
    }
    return "turns in circles";
  }

  Allocations& allocations;
  std::vector<Claim> claims;
  Allocations::TicketPtr ticket = {};
};

TEST_F(AllocationsStatesTest, WhoNamesNoRangeLeavesItToWhoWaitsForIt) {
  Put("r10.0.0.0_29", "priority=9");
  Put("r10.1.0.0_24");
  for (int i = 0; i < 6; ++i) Commit({In("10.0.0.0/29")});
  const auto give = Plan({}, {Of("10.0.0.1")});
  ASSERT_TRUE(give);
  SlowAsker named{allocations_, {In("10.0.0.0/29")}};
  EXPECT_EQ(named.Ask(), "waits");
  Delete("10.0.0.1");
  allocations_.Settle(*give);
  const auto newcomer = Plan({Any()});
  ASSERT_TRUE(newcomer);
  EXPECT_TRUE(Name(newcomer->values[0]).starts_with("10.1.0."));
  EXPECT_EQ(named.Ask(), "got");
}

TEST_F(AllocationsStatesTest, WhoNamesARangeForSomeWaitsForWhatIsShort) {
  Put("r10.1.0.0_30");
  Commit({The("10.1.0.1")});
  Commit({The("10.1.0.2")});
  for (int i = 1; i < 6; ++i) Commit({The("10.0.0." + std::to_string(i))});
  const auto give = Plan({}, {Of("10.1.0.1")});
  ASSERT_TRUE(give);
  SlowAsker both{allocations_, {In("10.0.0.0/29"), Any()}};
  EXPECT_EQ(both.Ask(), "waits") << "the range that it names has one";
  allocations_.Settle(*give);
  const auto refused = allocations_.Plan({}, both.claims, {}, both.ticket);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().claim, 1U) << "that is what there is too little for";
}

TEST_F(AllocationsStatesTest, WhatIsClosedAndThenGoneIsRefused) {
  Put("fence4", "r10.0.0.0_29");
  std::vector<std::string> log;
  const Asker the(allocations_, log, "the 5th", {The("10.0.0.5")});
  const Asker any(allocations_, log, "any");
  EXPECT_TRUE(log.empty());
  Delete("r10.0.0.0_29");
  EXPECT_TRUE(log.empty()) << "the fence is still closed";
  Put("fence4");
  EXPECT_EQ(log.size(), 2U);
  EXPECT_NE(std::find(log.begin(), log.end(), "the 5th is refused"), log.end());
  EXPECT_NE(std::find(log.begin(), log.end(), "any is refused"), log.end());
}

TEST_F(AllocationsStatesTest, AGrantNamesTheFencesItWasMadeBehind) {
  auto grant = Plan({Any()});
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->fences[0], 0);
  Put("fence4");
  Put("fence6");
  grant = Plan({Any()});
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->fences[0], revision_ - 1);
  EXPECT_EQ(grant->fences[1], revision_);
  bool told = false;
  EXPECT_TRUE(allocations_.AwaitFence(PoolId::kIpv4, revision_ - 1, [&told] { told = true; }));
  Delete("fence4");
  grant = Plan({Any()});
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->fences[0], 0) << "there is none to be compared";
  EXPECT_TRUE(told);
}

TEST_F(AllocationsStatesTest, AFenceIsWaitedForByItsRevision) {
  Put("fence4");
  const int64_t seen = revision_;
  EXPECT_FALSE(allocations_.AwaitFence(PoolId::kIpv4, seen - 1, [] {}));
  int called = 0;
  EXPECT_TRUE(allocations_.AwaitFence(PoolId::kIpv4, seen, [&called] { ++called; }));
  EXPECT_TRUE(allocations_.AwaitFence(PoolId::kIpv4, seen + 2, [&called] { ++called; }))
      << "the picture was ahead";
  Put("fence6");
  EXPECT_EQ(called, 0);
  Put("fence4");
  EXPECT_EQ(called, 1);
  Put("fence4");
  EXPECT_EQ(called, 2);
}

// Writes of range objects.

TEST_F(AllocationsStatesTest, OnlyWhatRangesSayMakesATableAnew) {
  Put("r10.0.1.0_29");
  const uint64_t made = allocations_.TablesMade();
  Put("r10.0.1.0_29", "status=of-any-kind");
  Put("r10.0.0.0_29", "status=written-each-second");
  Put("10.0.0.3");
  EXPECT_EQ(allocations_.TablesMade(), made);
  Put("fence4");
  EXPECT_EQ(allocations_.TablesMade(), made) << "it says nothing";
  Put("r10.0.1.0_29", "drained");
  EXPECT_EQ(allocations_.TablesMade(), made + 1);
  Delete("r10.0.1.0_29");
  EXPECT_EQ(allocations_.TablesMade(), made + 2);
}

TEST_F(AllocationsStatesTest, ARangeTellsWhatItIs) {
  Put("r10.0.0.0_30", "priority=4 drained");
  Put("10.0.0.1", "reserved");
  Put("10.0.0.2", "cooling");
  const auto range = allocations_.RangeNamed(PoolId::kIpv4, "10.0.0.0/30");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->priority, 4);
  EXPECT_FALSE(range->open);
  EXPECT_TRUE(range->overlaps);
  EXPECT_EQ(range->usable, U128{2});
  EXPECT_EQ(range->in_dynamic[State::kReserved], U128{1});
  EXPECT_EQ(range->in_dynamic[State::kCooling], U128{1});
  EXPECT_EQ(range->in_dynamic[State::kFree], U128{0});
  EXPECT_FALSE(allocations_.RangeNamed(PoolId::kIpv6, "10.0.0.0/30"));
  EXPECT_EQ(allocations_.RangeWith(Of("10.0.0.1"))->name, "10.0.0.0/30");
  EXPECT_EQ(allocations_.RangeWith(Of("10.0.0.5"))->name, "10.0.0.0/29");
  EXPECT_EQ(allocations_.Ranges(PoolId::kIpv4).size(), 2U);
  EXPECT_TRUE(allocations_.Ranges(PoolId::kPorts).empty());
}

}  // namespace
}  // namespace berth::commit
