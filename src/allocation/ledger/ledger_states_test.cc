// Records that are reserved, cooling or taken; ranges that are named, drained, closing and written.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "allocation/ledger/ledger.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/ledger/testing/ledger.h"

namespace berth::allocation {
namespace {

using Becomes = ReleasedValue::Becomes;
using Why = Denial::Why;
using alloc::State;
using testing::Asker;

constexpr Claimant kWeb{.name_space = "shop", .name = "web"};
constexpr Claimant kOtherWeb{.name_space = "shop", .name = "web2"};

class LedgerStatesTest : public testing::LedgerTest {
 protected:
  U128 Count(State state, size_t range = 0) const {
    const auto ranges = View().Ranges();
    return ranges[range].in_static[state] + ranges[range].in_dynamic[state];
  }
  /// Ends a grant whose write has failed.
  void Fail(const Grant& grant) { ledger_.EndGrant(grant); }
  void TakeAll() { Commit({Any(), Any(), Any(), Any(), Any(), Any()}); }
};

// Values that are reserved.

TEST_F(LedgerStatesTest, AValueReservedForNobodyIsNobodys) {
  Put("10.0.0.3", "reserved");
  const auto denied = Request({The("10.0.0.3")}, {}, kWeb);
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().why, Why::kReserved);
  EXPECT_EQ(denied.error().reserved_for, "");
  EXPECT_FALSE(denied.error().wait);
  EXPECT_EQ(Count(State::kReserved), U128{1});
  Delete("10.0.0.3");
  EXPECT_FALSE(WhyNot(The("10.0.0.3")));
}

TEST_F(LedgerStatesTest, AReservedValueIsTakenByItsServiceOnly) {
  Put("10.0.0.3", "reserved shop/web");
  const auto denied = Request({The("10.0.0.3")}, {}, kOtherWeb);
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().why, Why::kReserved);
  EXPECT_EQ(denied.error().reserved_for, "shop/web");
  const auto grant = Request({The("10.0.0.3")}, {}, kWeb);
  ASSERT_TRUE(grant);
  ASSERT_EQ(grant->takes.size(), 1U);
  EXPECT_EQ(grant->takes[0].replaces, revision_);
  EXPECT_EQ(grant->takes[0].reserved_for, "shop/web");
  Fail(*grant);
  EXPECT_EQ(Count(State::kReserved), U128{1}) << "it is as before";
}

TEST_F(LedgerStatesTest, AServiceThatAsksForAnyValueGetsWhatIsKeptForIt) {
  Put("10.0.0.3", "reserved shop/web");
  Put("10.0.0.4", "pending shop/web");
  const auto two = Request({Any(), Any()}, {}, kWeb);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->values, (std::vector<U128>{Bits("10.0.0.3"), Bits("10.0.0.4")}));
  EXPECT_EQ(two->takes[0].reserved_for, "shop/web");
  EXPECT_EQ(two->takes[1].reserved_for, "") << "a hold is over when it is redeemed";
  EXPECT_EQ(two->takes[1].replaces, revision_);
  const auto third = Request({Any()}, {}, kWeb);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->takes[0].replaces, 0) << "one that nobody keeps";
}

TEST_F(LedgerStatesTest, WhatIsKeptIsThereInAFullRangeAndForNobodyElse) {
  Put("10.0.0.6", "reserved shop/web");
  Commit({Any(), Any(), Any(), Any(), Any()});
  EXPECT_EQ(WhyNot(Any()), Why::kFull);
  const auto grant = Request({Any()}, {}, kWeb);
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->values[0], Bits("10.0.0.6"));
}

TEST_F(LedgerStatesTest, WhatIsKeptOutsideOfTheNamedRangeIsNotPicked) {
  Put("r10.0.1.0_29");
  Put("10.0.0.3", "reserved shop/web");
  const auto grant = Request({In("10.0.1.0/29")}, {}, kWeb);
  ASSERT_TRUE(grant);
  EXPECT_EQ(View().RangeOf({.pool = PoolId::kIpv4, .value = grant->values[0]}), "10.0.1.0/29");
}

TEST_F(LedgerStatesTest, AReservationOutlastsItsService) {
  Put("10.0.0.3", "reserved shop/web");
  const auto taking = Request({Any()}, {}, kWeb);
  ASSERT_TRUE(taking);
  Put("10.0.0.3", "allocated shop/web");
  ledger_.EndGrant(*taking);
  EXPECT_EQ(Count(State::kTaken), U128{1});
  EXPECT_EQ(Count(State::kReserved), U128{0});
  const auto giving = Request({}, {Of("10.0.0.3")}, kWeb);
  ASSERT_TRUE(giving);
  ASSERT_EQ(giving->releases.size(), 1U);
  EXPECT_EQ(giving->releases[0].becomes, Becomes::kReserved);
  EXPECT_EQ(giving->releases[0].reserved_for, "shop/web");
  EXPECT_EQ(giving->releases[0].revision, revision_);
  Put("10.0.0.3", "reserved shop/web");
  ledger_.EndGrant(*giving);
  EXPECT_EQ(Count(State::kReserved), U128{1});
  EXPECT_TRUE(Request({The("10.0.0.3")}, {}, kWeb));
}

TEST_F(LedgerStatesTest, AReservationThatIsMovedToAnotherServiceIsNoLongerTheFirsts) {
  Put("10.0.0.3", "reserved shop/web");
  Put("10.0.0.3", "reserved shop/web2");
  EXPECT_FALSE(Request({The("10.0.0.3")}, {}, kWeb));
  EXPECT_TRUE(Request({The("10.0.0.3")}, {}, kOtherWeb));
}

TEST_F(LedgerStatesTest, AHoldThatExpiresIsFree) {
  Put("10.0.0.3", "pending shop/web");
  EXPECT_EQ(WhyNot(The("10.0.0.3")), Why::kReserved);
  Delete("10.0.0.3");
  EXPECT_FALSE(WhyNot(The("10.0.0.3")));
  const auto grant = Request({Any()}, {}, kWeb);
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->takes[0].replaces, 0);
}

TEST_F(LedgerStatesTest, WhatChangesInTheStoreWhileAWriteTakesItIsTakenUntilThatIsSettled) {
  Put("10.0.0.3", "reserved shop/web");
  const auto taking = Request({Any()}, {}, kWeb);
  ASSERT_TRUE(taking);
  Delete("10.0.0.3");
  EXPECT_EQ(Count(State::kTaken), U128{1});
  Fail(*taking);
  EXPECT_EQ(Count(State::kTaken), U128{0});
  EXPECT_EQ(Free(), U128{6});
}

// Values that cool down.

TEST_F(LedgerStatesTest, WhatIsGivenBackCoolsDownWhereItsRangeSaysSo) {
  Put("r10.0.1.0_24", "cool=60");
  Put("r10.0.1.0_29", "cool=5");
  Commit({The("10.0.0.3"), The("10.0.1.3"), The("10.0.1.99")});
  const auto giving = Request({}, {Of("10.0.0.3"), Of("10.0.1.3"), Of("10.0.1.99")});
  ASSERT_TRUE(giving);
  EXPECT_EQ(giving->releases[0].becomes, Becomes::kGone);
  EXPECT_EQ(giving->releases[1].becomes, Becomes::kCooling);
  EXPECT_EQ(giving->releases[1].cool_down, std::chrono::seconds(5)) << "the smallest range decides";
  EXPECT_EQ(giving->releases[2].cool_down, std::chrono::seconds(60));
}

TEST_F(LedgerStatesTest, WhatHasNoRecordDoesNotCool) {
  Put("r10.0.1.0_24", "cool=60");
  const auto giving = Request({}, {Of("10.0.1.3")});
  ASSERT_TRUE(giving);
  EXPECT_EQ(giving->releases[0].becomes, Becomes::kGone);
}

TEST_F(LedgerStatesTest, CoolingValuesAreAvoidedByPicksAndMayBeAskedFor) {
  Put("10.0.0.3", "cooling");
  const int64_t revision = revision_;
  EXPECT_EQ(Count(State::kCooling), U128{1});
  Commit({Any(), Any(), Any(), Any(), Any()});
  EXPECT_EQ(WhyNot(Any()), Why::kFull);
  const auto grant = Request({The("10.0.0.3")});
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->takes[0].replaces, revision);
  Fail(*grant);
  EXPECT_EQ(Count(State::kCooling), U128{1});
  Delete("10.0.0.3");
  EXPECT_EQ(Count(State::kCooling), U128{0});
  const auto any = Request({Any()});
  ASSERT_TRUE(any);
  EXPECT_EQ(any->takes[0].replaces, 0);
}

TEST_F(LedgerStatesTest, AValueThatHasCooledDownServesWhoWaits) {
  Put("10.0.0.3", "cooling");
  Commit({Any(), Any(), Any(), Any()});
  const auto last = Request({Any()});
  std::vector<std::string> log;
  const Asker waiting(ledger_, log, "a");
  EXPECT_TRUE(log.empty());
  Delete("10.0.0.3");
  EXPECT_EQ(log, std::vector<std::string>{"a got one"});
}

// Named ranges.

TEST_F(LedgerStatesTest, EachReasonHasItsName) {
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

TEST_F(LedgerStatesTest, ANamedPickComesFromItsRangeAndIsDeniedWhenThatIsFull) {
  Put("r10.0.1.0_30");
  const std::vector<std::string> two = Commit({In("10.0.1.0/30"), In("10.0.1.0/30")});
  EXPECT_EQ(two.size(), 2U);
  EXPECT_EQ(Free(), U128{6});
  EXPECT_EQ(WhyNot(In("10.0.1.0/30")), Why::kFull);
  EXPECT_FALSE(WhyNot(Any()));
}

TEST_F(LedgerStatesTest, PicksOfSeveralRangesInOneWriteAreCountedApart) {
  Put("r10.0.1.0_30");
  Put("r10.0.2.0_30");
  Commit({In("10.0.1.0/30"), In("10.0.2.0/30")});
  EXPECT_TRUE(Request({In("10.0.1.0/30"), Any(), In("10.0.2.0/30")})) << "one is left in each";
}

TEST_F(LedgerStatesTest, ANamedPickDoesNotWaitForWritesInOtherRanges) {
  Put("r10.0.1.0_30");
  Commit({In("10.0.1.0/30"), In("10.0.1.0/30")});
  const auto elsewhere = Request({In("10.0.0.0/29")});
  ASSERT_TRUE(elsewhere);
  const auto denied = Request({In("10.0.1.0/30")});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().why, Why::kFull);
  EXPECT_FALSE(denied.error().wait);
}

TEST_F(LedgerStatesTest, ANamedPickWaitsForItsOwnRange) {
  Put("r10.0.1.0_30");
  const std::vector<std::string> two = Commit({In("10.0.1.0/30"), In("10.0.1.0/30")});
  const auto going = Request({}, {Of(two[0])});
  std::vector<std::string> log;
  const Asker named(ledger_, log, "named", {In("10.0.1.0/30")});
  const Asker any(ledger_, log, "any");
  EXPECT_EQ(log, std::vector<std::string>{"any got one"}) << "there are others for it";
  Delete(two[0]);
  EXPECT_EQ(log.back(), "named got one");
  ledger_.EndGrant(*going);
}

TEST_F(LedgerStatesTest, WhoWaitsForARangeIsRefusedWhenNothingInItIsInFlightAnyMore) {
  Put("r10.0.1.0_30");
  const std::vector<std::string> one = Commit({In("10.0.1.0/30")});
  const auto last = Request({In("10.0.1.0/30")});
  ASSERT_TRUE(last);
  const auto elsewhere = Request({In("10.0.0.0/29")});
  std::vector<std::string> log;
  const Asker named(ledger_, log, "named", {In("10.0.1.0/30")});
  EXPECT_TRUE(log.empty());
  Put(Name(last->values[0]));
  ledger_.EndGrant(*last);
  EXPECT_EQ(log, std::vector<std::string>{"named is refused"});
}

TEST_F(LedgerStatesTest, ANamedPickLeavesThoseAheadWhatTheyNeed) {
  Put("r10.0.1.0_30");
  TakeAll();
  const std::vector<std::string> two = Commit({Any(), Any()});
  const auto going = Request({}, {Of(two[0])});
  const auto going_too = Request({}, {Of(two[1])});
  std::vector<std::string> log;
  const Asker first(ledger_, log, "first", 2);
  Delete(two[0]);
  const Asker named(ledger_, log, "named", {In("10.0.1.0/30")});
  EXPECT_TRUE(log.empty()) << "the one that is free is for the first";
  Delete(two[1]);
  EXPECT_EQ(log, std::vector<std::string>{"first got all"});
  Put(two[0]);
  Put(two[1]);
  ledger_.EndGrant(first.grant());
  ledger_.EndGrant(*going);
  ledger_.EndGrant(*going_too);
  EXPECT_EQ(log.back(), "named is refused");
}

TEST_F(LedgerStatesTest, WhoWaitsForARangeThatGoesIsToldSo) {
  Put("r10.0.1.0_30");
  Commit({In("10.0.1.0/30")});
  const auto last = Request({In("10.0.1.0/30")});
  std::vector<std::string> log;
  const Asker named(ledger_, log, "named", {In("10.0.1.0/30")});
  EXPECT_TRUE(log.empty());
  Delete("r10.0.1.0_30");
  EXPECT_EQ(log, std::vector<std::string>{"named is refused"});
}

TEST_F(LedgerStatesTest, PicksFollowPriorityAndARangeThatIsDrainedGivesNothing) {
  Put("r10.0.1.0_30", "priority=5");
  const auto one = Request({Any()});
  ASSERT_TRUE(one);
  EXPECT_EQ(View().RangeOf({.pool = PoolId::kIpv4, .value = one->values[0]}), "10.0.1.0/30");
  Put("r10.0.1.0_30", "priority=5 drained");
  const auto two = Request({Any()});
  ASSERT_TRUE(two);
  EXPECT_EQ(View().RangeOf({.pool = PoolId::kIpv4, .value = two->values[0]}), "10.0.0.0/29");
}

// Ranges that are closing.

TEST_F(LedgerStatesTest, WhileRangesAreClosingNoDenialHolds) {
  Commit({The("10.0.0.1")});
  Put("fence4", "r10.0.0.0_29=r10.0.0.0_30");  // 1 and 2.
  for (const Claim& claim : {The("10.0.0.1"), The("10.0.0.5"), The("10.0.9.9"), In("nobody's")}) {
    const auto denied = Request({claim});
    ASSERT_FALSE(denied);
    ASSERT_TRUE(denied.error().wait);
    EXPECT_TRUE(denied.error().wait([] {}));
  }
  EXPECT_FALSE(WhyNot(The("10.0.0.2"))) << "what fits goes on";
}

TEST_F(LedgerStatesTest, WhoWaitsForAClosingIsCalledWhenItIsDecided) {
  Put("fence4", "r10.0.0.0_29=r10.0.0.0_30");
  std::vector<std::string> log;
  const Asker stays(ledger_, log, "the 5th", {The("10.0.0.5")});
  const Asker two(ledger_, log, "two", 2);
  const Asker third(ledger_, log, "third");
  EXPECT_EQ(log, std::vector<std::string>{"two got all"});
  Put("fence4");
  EXPECT_EQ(log.size(), 3U);
  EXPECT_NE(std::find(log.begin(), log.end(), "the 5th got one"), log.end());
  EXPECT_NE(std::find(log.begin(), log.end(), "third got one"), log.end());
}

/// A write that is called back, and tries again later.
struct SlowAsker {
  std::string Ask() {
    for (int tries = 0; tries < 50; ++tries) {
      auto grant = ledger.GrantClaims({}, claims, {}, ticket);
      if (grant) return "got";
      if (!grant.error().wait) return "refused";
      if (grant.error().wait([] {})) return "waits";
    }
    return "turns in circles";
  }

  Ledger& ledger;
  std::vector<Claim> claims;
  TicketPtr ticket = {};
};

TEST_F(LedgerStatesTest, WhoNamesNoRangeLeavesItToWhoWaitsForIt) {
  Put("r10.0.0.0_29", "priority=9");
  Put("r10.1.0.0_24");
  for (int i = 0; i < 6; ++i) Commit({In("10.0.0.0/29")});
  const auto release = Request({}, {Of("10.0.0.1")});
  ASSERT_TRUE(release);
  SlowAsker named{ledger_, {In("10.0.0.0/29")}};
  EXPECT_EQ(named.Ask(), "waits");
  Delete("10.0.0.1");
  ledger_.EndGrant(*release);
  const auto newcomer = Request({Any()});
  ASSERT_TRUE(newcomer);
  EXPECT_TRUE(Name(newcomer->values[0]).starts_with("10.1.0."));
  EXPECT_EQ(named.Ask(), "got");
}

TEST_F(LedgerStatesTest, WhoNamesARangeForSomeWaitsForWhatIsShort) {
  Put("r10.1.0.0_30");
  Commit({The("10.1.0.1")});
  Commit({The("10.1.0.2")});
  for (int i = 1; i < 6; ++i) Commit({The("10.0.0." + std::to_string(i))});
  const auto release = Request({}, {Of("10.1.0.1")});
  ASSERT_TRUE(release);
  SlowAsker both{ledger_, {In("10.0.0.0/29"), Any()}};
  EXPECT_EQ(both.Ask(), "waits") << "the range that it names has one";
  ledger_.EndGrant(*release);
  const auto refused = ledger_.GrantClaims({}, both.claims, {}, both.ticket);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().claim, 1U) << "that is what there is too little for";
}

TEST_F(LedgerStatesTest, WhatIsClosedAndThenGoneIsRefused) {
  Put("fence4", "r10.0.0.0_29");
  std::vector<std::string> log;
  const Asker the(ledger_, log, "the 5th", {The("10.0.0.5")});
  const Asker any(ledger_, log, "any");
  EXPECT_TRUE(log.empty());
  Delete("r10.0.0.0_29");
  EXPECT_TRUE(log.empty()) << "the fence is still closed";
  Put("fence4");
  EXPECT_EQ(log.size(), 2U);
  EXPECT_NE(std::find(log.begin(), log.end(), "the 5th is refused"), log.end());
  EXPECT_NE(std::find(log.begin(), log.end(), "any is refused"), log.end());
}

TEST_F(LedgerStatesTest, AGrantNamesTheFencesItWasMadeBehind) {
  auto grant = Request({Any()});
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->fences[0], 0);
  Put("fence4");
  Put("fence6");
  grant = Request({Any()});
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->fences[0], revision_ - 1);
  EXPECT_EQ(grant->fences[1], revision_);
  bool notified = false;
  EXPECT_TRUE(ledger_.AwaitFence(PoolId::kIpv4, revision_ - 1, [&notified] { notified = true; }));
  Delete("fence4");
  grant = Request({Any()});
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->fences[0], 0) << "there is none to be compared";
  EXPECT_TRUE(notified);
}

TEST_F(LedgerStatesTest, AFenceIsWaitedForByItsRevision) {
  Put("fence4");
  const int64_t seen = revision_;
  EXPECT_FALSE(ledger_.AwaitFence(PoolId::kIpv4, seen - 1, [] {}));
  int called = 0;
  EXPECT_TRUE(ledger_.AwaitFence(PoolId::kIpv4, seen, [&called] { ++called; }));
  EXPECT_TRUE(ledger_.AwaitFence(PoolId::kIpv4, seen + 2, [&called] { ++called; }))
      << "the snapshot was ahead";
  Put("fence6");
  EXPECT_EQ(called, 0);
  Put("fence4");
  EXPECT_EQ(called, 1);
  Put("fence4");
  EXPECT_EQ(called, 2);
}

// Writes of range objects.

TEST_F(LedgerStatesTest, OnlyWhatRangesSayMakesATableAnew) {
  Put("r10.0.1.0_29");
  const uint64_t made = View().TablesMade();
  Put("r10.0.1.0_29", "status=of-any-kind");
  Put("r10.0.0.0_29", "status=written-each-second");
  Put("10.0.0.3");
  EXPECT_EQ(View().TablesMade(), made);
  Put("fence4");
  EXPECT_EQ(View().TablesMade(), made) << "it says nothing";
  Put("r10.0.1.0_29", "drained");
  EXPECT_EQ(View().TablesMade(), made + 1);
  Delete("r10.0.1.0_29");
  EXPECT_EQ(View().TablesMade(), made + 2);
}

}  // namespace
}  // namespace berth::allocation
