#include "allocation/ledger/ledger.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "allocation/ledger/testing/ledger.h"
#include "allocation/ledger/testing/records.h"
#include "state/testing/objects.h"

namespace berth::allocation {
namespace {

using Why = Denial::Why;
using testing::Reader;

using LedgerTest = testing::LedgerTest;
using testing::Asker;

TEST_F(LedgerTest, ATakeCountsFromThePlanOn) {
  const auto first = Request({The("10.0.0.3")});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->values, std::vector<U128>{Bits("10.0.0.3")});
  EXPECT_TRUE(Held("10.0.0.3"));
  const auto second = Request({The("10.0.0.3")});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().why, Why::kTaken);
  EXPECT_TRUE(second.error().wait) << "the first may still fail";
}

TEST_F(LedgerTest, WhatAFailedWriteTookIsFreeAgain) {
  const auto grant = Request({The("10.0.0.3"), Any()});
  ASSERT_TRUE(grant);
  EXPECT_EQ(Free(), U128{4});
  ledger_.EndGrant(*grant);
  EXPECT_EQ(Free(), U128{6});
}

TEST_F(LedgerTest, WhatACommittedWriteTookStaysTaken) {
  Commit({The("10.0.0.3")});
  const auto denied = Request({The("10.0.0.3")});
  ASSERT_FALSE(denied);
  EXPECT_FALSE(denied.error().wait) << "nothing in flight could change it";
  EXPECT_EQ(Free(), U128{5});
}

TEST_F(LedgerTest, AGiveCountsFromItsCommitOn) {
  Commit({The("10.0.0.3")});
  const auto giving = Request({}, {Of("10.0.0.3")});
  ASSERT_TRUE(giving);
  auto denied = Request({The("10.0.0.3")});
  ASSERT_FALSE(denied);
  int called = 0;
  ASSERT_TRUE(denied.error().wait);
  EXPECT_TRUE(denied.error().wait([&called] { ++called; }));
  Delete("10.0.0.3");
  EXPECT_FALSE(Held("10.0.0.3"));
  ledger_.EndGrant(*giving);
  EXPECT_EQ(called, 1);
  EXPECT_TRUE(Request({The("10.0.0.3")}));
}

TEST_F(LedgerTest, AGiveThatFailsChangesNothing) {
  Commit({The("10.0.0.3")});
  const auto giving = Request({}, {Of("10.0.0.3")});
  ASSERT_TRUE(giving);
  ledger_.EndGrant(*giving);
  EXPECT_TRUE(Held("10.0.0.3"));
  const auto denied = Request({The("10.0.0.3")});
  ASSERT_FALSE(denied);
  EXPECT_FALSE(denied.error().wait);
}

TEST_F(LedgerTest, AllClaimsOrNone) {
  Commit({The("10.0.0.3")});
  const auto denied = Request({The("10.0.0.1"), Any(), The("10.0.0.3")});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().claim, 2U);
  EXPECT_EQ(Free(), U128{5});
}

TEST_F(LedgerTest, TheSameValueTwiceInOneWriteIsRefusedAtOnce) {
  const auto denied = Request({The("10.0.0.3"), The("10.0.0.3")});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().claim, 1U);
  EXPECT_EQ(denied.error().why, Why::kTaken);
  EXPECT_FALSE(denied.error().wait) << "it would wait for itself";
}

TEST_F(LedgerTest, OutOfRangeIsNeverWaitedFor) {
  const auto denied = Request({The("10.0.9.3")});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().why, Why::kOutOfRange);
  EXPECT_FALSE(denied.error().wait);
}

TEST_F(LedgerTest, AWaitThatComesTooLateSaysSo) {
  const auto first = Request({The("10.0.0.3")});
  const auto denied = Request({The("10.0.0.3")});
  ASSERT_FALSE(denied);
  ledger_.EndGrant(*first);
  EXPECT_FALSE(denied.error().wait([] { FAIL() << "nothing is left to wait for"; }));
}

TEST_F(LedgerTest, FullIsRefusedOnlyWhenNothingIsInFlight) {
  Commit({Any(), Any(), Any(), Any(), Any()});
  const auto last = Request({Any()});
  ASSERT_TRUE(last);
  std::vector<std::string> log;
  const Asker waiting(ledger_, log, "a");
  EXPECT_TRUE(log.empty());
  Put(Name(last->values[0]));
  ledger_.EndGrant(*last);
  EXPECT_EQ(log, std::vector<std::string>{"a is refused"});
  const Asker late(ledger_, log, "b");
  EXPECT_EQ(log.back(), "b is refused");
}

TEST_F(LedgerTest, TheLastValueGoesToWhoWaitedWhenItsTakerFails) {
  Commit({Any(), Any(), Any(), Any(), Any()});
  const auto last = Request({Any()});
  std::vector<std::string> log;
  const Asker waiting(ledger_, log, "a");
  ledger_.EndGrant(*last);
  EXPECT_EQ(log, std::vector<std::string>{"a got one"});
}

TEST_F(LedgerTest, ThoseWhoWaitAreServedInOrderAndAheadOfOthers) {
  const std::vector<std::string> all = Commit({Any(), Any(), Any(), Any(), Any(), Any()});
  const auto going = Request({}, {Of(all[0])});
  const auto going_too = Request({}, {Of(all[1])});
  std::vector<std::string> log;
  const Asker a(ledger_, log, "a");
  const Asker b(ledger_, log, "b");
  EXPECT_TRUE(log.empty());
  // The value is free now. A write that comes before EndGrant leaves it to those that wait.
  Delete(all[0]);
  EXPECT_EQ(log, std::vector<std::string>{"a got one"});
  const Asker c(ledger_, log, "c");
  EXPECT_EQ(log.size(), 1U);
  ledger_.EndGrant(*going);
  Delete(all[1]);
  EXPECT_EQ(log.back(), "b got one");
  ledger_.EndGrant(*going_too);
  EXPECT_EQ(log.size(), 2U) << "the takes of a and b may still fail";
  Put(Name(a.grant().values[0]));
  ledger_.EndGrant(a.grant());
  Put(Name(b.grant().values[0]));
  ledger_.EndGrant(b.grant());
  EXPECT_EQ(log.back(), "c is refused");
}

TEST_F(LedgerTest, WhoNeedsSeveralGetsThemTogetherAndKeepsItsPlace) {
  const std::vector<std::string> all = Commit({Any(), Any(), Any(), Any(), Any(), Any()});
  const auto going = Request({}, {Of(all[0])});
  const auto going_too = Request({}, {Of(all[1])});
  std::vector<std::string> log;
  const Asker a(ledger_, log, "a", 2);
  const Asker b(ledger_, log, "b", 2);
  const Asker c(ledger_, log, "c", 1);
  Delete(all[0]);
  ledger_.EndGrant(*going);
  EXPECT_TRUE(log.empty()) << "one is too few for a, and c is not its turn";
  Delete(all[1]);
  EXPECT_EQ(log, std::vector<std::string>{"a got all"});
  ledger_.EndGrant(*going_too);
  EXPECT_EQ(log.size(), 1U);
  ledger_.EndGrant(a.grant());  // It fails.
  EXPECT_EQ(log.back(), "b got all");
  for (const U128 value : b.grant().values) Put(Name(value));
  ledger_.EndGrant(b.grant());
  EXPECT_EQ(log.back(), "c is refused");
}

TEST_F(LedgerTest, WhoNeedsMoreThanThereIsIsRefusedAndLeavesTheRestToOthers) {
  const std::vector<std::string> all = Commit({Any(), Any(), Any(), Any(), Any(), Any()});
  const auto going = Request({}, {Of(all[0])});
  std::vector<std::string> log;
  const Asker a(ledger_, log, "a", 2);
  const Asker b(ledger_, log, "b", 1);
  Delete(all[0]);
  EXPECT_TRUE(log.empty());
  ledger_.EndGrant(*going);
  EXPECT_EQ(log, (std::vector<std::string>{"a is refused", "b got one"}));
}

TEST_F(LedgerTest, AWriteDoesNotWaitForItself) {
  Commit({Any(), Any(), Any(), Any(), Any()});
  const auto denied = Request({Any(), Any()});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().why, Why::kFull);
  EXPECT_FALSE(denied.error().wait);
  EXPECT_EQ(Free(), U128{1});
}

TEST_F(LedgerTest, WhatOthersStoreIsTakenAndWhatTheyDeleteIsFree) {
  Put("10.0.0.4");
  const auto denied = Request({The("10.0.0.4")});
  ASSERT_FALSE(denied);
  EXPECT_FALSE(denied.error().wait);
  Delete("10.0.0.4");
  EXPECT_TRUE(Request({The("10.0.0.4")}));
}

TEST_F(LedgerTest, ADeletionByOthersServesWhoWaits) {
  const std::vector<std::string> all = Commit({Any(), Any(), Any(), Any(), Any(), Any()});
  const auto going = Request({}, {Of(all[0])});
  std::vector<std::string> log;
  const Asker a(ledger_, log, "a");
  Delete(all[3]);
  EXPECT_EQ(log, std::vector<std::string>{"a got one"});
}

TEST_F(LedgerTest, MadeAndDeletedBeforeItIsSettledIsFree) {
  const auto grant = Request({The("10.0.0.3")});
  Put("10.0.0.3");
  Delete("10.0.0.3");
  EXPECT_TRUE(Held("10.0.0.3")) << "until its writer knows";
  ledger_.EndGrant(*grant);
  EXPECT_FALSE(Held("10.0.0.3"));
}

TEST_F(LedgerTest, FamiliesFollowTheRanges) {
  EXPECT_EQ(ledger_.Families(), std::vector<ip::Family>{ip::Family::kV4});
  Put("rfd00::_120");
  EXPECT_EQ(ledger_.Families(), (std::vector<ip::Family>{ip::Family::kV4, ip::Family::kV6}));
  Delete("r10.0.0.0_29");
  EXPECT_EQ(ledger_.Families(), std::vector<ip::Family>{ip::Family::kV6});
  EXPECT_EQ(Request({Any()}).error().why, Why::kFull);
}

TEST_F(LedgerTest, ANewRangeServesWhoWaits) {
  const std::vector<std::string> all = Commit({Any(), Any(), Any(), Any(), Any(), Any()});
  const auto going = Request({}, {Of(all[0])});
  std::vector<std::string> log;
  const Asker a(ledger_, log, "a");
  Put("r10.0.1.0_29");
  EXPECT_EQ(log, std::vector<std::string>{"a got one"});
}

TEST(LedgerEnd, ThoseWhoWaitAreLetGo) {
  // The callback holds the ticket, as that of a real write does.
  struct Writer {
    TicketPtr ticket;
  };
  auto writer = std::make_shared<Writer>();
  const std::weak_ptr<Writer> gone = writer;
  {
    Ledger ledger(Reader(), base::SeededRandom(1));
    const state::Resources resources = state::testing::MakeResources();
    const auto object = state::Object::Make(*resources.Find("/registry/namespaces/r10.0.0.0_30"), 1,
                                            state::testing::Wire(""));
    ledger.OnReset({{.revision = 1, .object = object}}, 1);
    const std::vector<Claim> two = {{.pool = PoolId::kIpv4}, {.pool = PoolId::kIpv4}};
    TicketPtr none;
    const auto all = ledger.GrantClaims({}, two, {}, none);
    ASSERT_TRUE(all);
    const std::vector<Claim> one = {{.pool = PoolId::kIpv4}};
    const auto denied = ledger.GrantClaims({}, one, {}, writer->ticket);
    ASSERT_FALSE(denied);
    EXPECT_TRUE(denied.error().wait([held = writer] {}));
    writer.reset();
  }
  EXPECT_TRUE(gone.expired());
}

}  // namespace
}  // namespace berth::allocation
