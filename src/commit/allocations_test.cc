#include "commit/allocations.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "commit/testing_allocations.h"
#include "commit/testing_records.h"
#include "state/testing.h"

namespace berth::commit {
namespace {

using Why = Allocations::Why;
using testing::Reader;

using AllocationsTest = testing::AllocationsTest;
using testing::Asker;

TEST_F(AllocationsTest, ATakeCountsFromThePlanOn) {
  const auto first = Plan({The("10.0.0.3")});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->values, std::vector<U128>{Bits("10.0.0.3")});
  EXPECT_TRUE(Held("10.0.0.3"));
  const auto second = Plan({The("10.0.0.3")});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().why, Why::kTaken);
  EXPECT_TRUE(second.error().wait) << "the first may still fail";
}

TEST_F(AllocationsTest, WhatAFailedWriteTookIsFreeAgain) {
  const auto grant = Plan({The("10.0.0.3"), Any()});
  ASSERT_TRUE(grant);
  EXPECT_EQ(Free(), U128{4});
  allocations_.Settle(*grant);
  EXPECT_EQ(Free(), U128{6});
}

TEST_F(AllocationsTest, WhatACommittedWriteTookStaysTaken) {
  Commit({The("10.0.0.3")});
  const auto denied = Plan({The("10.0.0.3")});
  ASSERT_FALSE(denied);
  EXPECT_FALSE(denied.error().wait) << "nothing in flight could change it";
  EXPECT_EQ(Free(), U128{5});
}

TEST_F(AllocationsTest, AGiveCountsFromItsCommitOn) {
  Commit({The("10.0.0.3")});
  const auto giving = Plan({}, {Of("10.0.0.3")});
  ASSERT_TRUE(giving);
  auto denied = Plan({The("10.0.0.3")});
  ASSERT_FALSE(denied);
  int called = 0;
  ASSERT_TRUE(denied.error().wait);
  EXPECT_TRUE(denied.error().wait([&called] { ++called; }));
  Delete("10.0.0.3");
  EXPECT_FALSE(Held("10.0.0.3"));
  allocations_.Settle(*giving);
  EXPECT_EQ(called, 1);
  EXPECT_TRUE(Plan({The("10.0.0.3")}));
}

TEST_F(AllocationsTest, AGiveThatFailsChangesNothing) {
  Commit({The("10.0.0.3")});
  const auto giving = Plan({}, {Of("10.0.0.3")});
  ASSERT_TRUE(giving);
  allocations_.Settle(*giving);
  EXPECT_TRUE(Held("10.0.0.3"));
  const auto denied = Plan({The("10.0.0.3")});
  ASSERT_FALSE(denied);
  EXPECT_FALSE(denied.error().wait);
}

TEST_F(AllocationsTest, AllClaimsOrNone) {
  Commit({The("10.0.0.3")});
  const auto denied = Plan({The("10.0.0.1"), Any(), The("10.0.0.3")});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().claim, 2U);
  EXPECT_EQ(Free(), U128{5});
}

TEST_F(AllocationsTest, TheSameValueTwiceInOneWriteIsRefusedAtOnce) {
  const auto denied = Plan({The("10.0.0.3"), The("10.0.0.3")});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().claim, 1U);
  EXPECT_EQ(denied.error().why, Why::kTaken);
  EXPECT_FALSE(denied.error().wait) << "it would wait for itself";
}

TEST_F(AllocationsTest, OutOfRangeIsNeverWaitedFor) {
  const auto denied = Plan({The("10.0.9.3")});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().why, Why::kOutOfRange);
  EXPECT_FALSE(denied.error().wait);
}

TEST_F(AllocationsTest, AWaitThatComesTooLateSaysSo) {
  const auto first = Plan({The("10.0.0.3")});
  const auto denied = Plan({The("10.0.0.3")});
  ASSERT_FALSE(denied);
  allocations_.Settle(*first);
  EXPECT_FALSE(denied.error().wait([] { FAIL() << "nothing is left to wait for"; }));
}

TEST_F(AllocationsTest, FullIsRefusedOnlyWhenNothingIsInFlight) {
  Commit({Any(), Any(), Any(), Any(), Any()});
  const auto last = Plan({Any()});
  ASSERT_TRUE(last);
  std::vector<std::string> log;
  const Asker waiting(allocations_, log, "a");
  EXPECT_TRUE(log.empty());
  Put(Name(last->values[0]));
  allocations_.Settle(*last);
  EXPECT_EQ(log, std::vector<std::string>{"a is refused"});
  const Asker late(allocations_, log, "b");
  EXPECT_EQ(log.back(), "b is refused");
}

TEST_F(AllocationsTest, TheLastValueGoesToWhoWaitedWhenItsTakerFails) {
  Commit({Any(), Any(), Any(), Any(), Any()});
  const auto last = Plan({Any()});
  std::vector<std::string> log;
  const Asker waiting(allocations_, log, "a");
  allocations_.Settle(*last);
  EXPECT_EQ(log, std::vector<std::string>{"a got one"});
}

TEST_F(AllocationsTest, ThoseWhoWaitAreServedInOrderAndAheadOfOthers) {
  const std::vector<std::string> all = Commit({Any(), Any(), Any(), Any(), Any(), Any()});
  const auto going = Plan({}, {Of(all[0])});
  const auto going_too = Plan({}, {Of(all[1])});
  std::vector<std::string> log;
  const Asker a(allocations_, log, "a");
  const Asker b(allocations_, log, "b");
  EXPECT_TRUE(log.empty());
  // It is free now, and who comes between this and the settling leaves it to those who wait.
  Delete(all[0]);
  EXPECT_EQ(log, std::vector<std::string>{"a got one"});
  const Asker c(allocations_, log, "c");
  EXPECT_EQ(log.size(), 1U);
  allocations_.Settle(*going);
  Delete(all[1]);
  EXPECT_EQ(log.back(), "b got one");
  allocations_.Settle(*going_too);
  EXPECT_EQ(log.size(), 2U) << "the takes of a and b may still fail";
  Put(Name(a.grant().values[0]));
  allocations_.Settle(a.grant());
  Put(Name(b.grant().values[0]));
  allocations_.Settle(b.grant());
  EXPECT_EQ(log.back(), "c is refused");
}

TEST_F(AllocationsTest, WhoNeedsSeveralGetsThemTogetherAndKeepsItsPlace) {
  const std::vector<std::string> all = Commit({Any(), Any(), Any(), Any(), Any(), Any()});
  const auto going = Plan({}, {Of(all[0])});
  const auto going_too = Plan({}, {Of(all[1])});
  std::vector<std::string> log;
  const Asker a(allocations_, log, "a", 2);
  const Asker b(allocations_, log, "b", 2);
  const Asker c(allocations_, log, "c", 1);
  Delete(all[0]);
  allocations_.Settle(*going);
  EXPECT_TRUE(log.empty()) << "one is too few for a, and c is not its turn";
  Delete(all[1]);
  EXPECT_EQ(log, std::vector<std::string>{"a got all"});
  allocations_.Settle(*going_too);
  EXPECT_EQ(log.size(), 1U);
  allocations_.Settle(a.grant());  // It fails.
  EXPECT_EQ(log.back(), "b got all");
  for (const U128 value : b.grant().values) Put(Name(value));
  allocations_.Settle(b.grant());
  EXPECT_EQ(log.back(), "c is refused");
}

TEST_F(AllocationsTest, WhoNeedsMoreThanThereIsIsRefusedAndLeavesTheRestToOthers) {
  const std::vector<std::string> all = Commit({Any(), Any(), Any(), Any(), Any(), Any()});
  const auto going = Plan({}, {Of(all[0])});
  std::vector<std::string> log;
  const Asker a(allocations_, log, "a", 2);
  const Asker b(allocations_, log, "b", 1);
  Delete(all[0]);
  EXPECT_TRUE(log.empty());
  allocations_.Settle(*going);
  EXPECT_EQ(log, (std::vector<std::string>{"a is refused", "b got one"}));
}

TEST_F(AllocationsTest, AWriteDoesNotWaitForItself) {
  Commit({Any(), Any(), Any(), Any(), Any()});
  const auto denied = Plan({Any(), Any()});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().why, Why::kFull);
  EXPECT_FALSE(denied.error().wait);
  EXPECT_EQ(Free(), U128{1});
}

TEST_F(AllocationsTest, WhatOthersStoreIsTakenAndWhatTheyDeleteIsFree) {
  Put("10.0.0.4");
  const auto denied = Plan({The("10.0.0.4")});
  ASSERT_FALSE(denied);
  EXPECT_FALSE(denied.error().wait);
  Delete("10.0.0.4");
  EXPECT_TRUE(Plan({The("10.0.0.4")}));
}

TEST_F(AllocationsTest, ADeletionByOthersServesWhoWaits) {
  const std::vector<std::string> all = Commit({Any(), Any(), Any(), Any(), Any(), Any()});
  const auto going = Plan({}, {Of(all[0])});
  std::vector<std::string> log;
  const Asker a(allocations_, log, "a");
  Delete(all[3]);
  EXPECT_EQ(log, std::vector<std::string>{"a got one"});
}

TEST_F(AllocationsTest, MadeAndDeletedBeforeItIsSettledIsFree) {
  const auto grant = Plan({The("10.0.0.3")});
  Put("10.0.0.3");
  Delete("10.0.0.3");
  EXPECT_TRUE(Held("10.0.0.3")) << "until its writer knows";
  allocations_.Settle(*grant);
  EXPECT_FALSE(Held("10.0.0.3"));
}

TEST_F(AllocationsTest, FamiliesFollowTheRanges) {
  EXPECT_EQ(allocations_.Families(), std::vector<ip::Family>{ip::Family::kV4});
  Put("rfd00::_120");
  EXPECT_EQ(allocations_.Families(), (std::vector<ip::Family>{ip::Family::kV4, ip::Family::kV6}));
  Delete("r10.0.0.0_29");
  EXPECT_EQ(allocations_.Families(), std::vector<ip::Family>{ip::Family::kV6});
  EXPECT_EQ(Plan({Any()}).error().why, Why::kFull);
}

TEST_F(AllocationsTest, ANewRangeServesWhoWaits) {
  const std::vector<std::string> all = Commit({Any(), Any(), Any(), Any(), Any(), Any()});
  const auto going = Plan({}, {Of(all[0])});
  std::vector<std::string> log;
  const Asker a(allocations_, log, "a");
  Put("r10.0.1.0_29");
  EXPECT_EQ(log, std::vector<std::string>{"a got one"});
}

TEST(AllocationsEnd, ThoseWhoWaitAreLetGo) {
  // The call holds the ticket, as a write that waits does.
  struct Writer {
    Allocations::TicketPtr ticket;
  };
  auto writer = std::make_shared<Writer>();
  const std::weak_ptr<Writer> gone = writer;
  {
    Allocations allocations(Reader(), base::SeededRandom(1));
    const state::Resources resources = state::testing::MakeResources();
    const auto object = state::Object::Make(*resources.Find("/registry/namespaces/r10.0.0.0_30"), 1,
                                            state::testing::Wire(""));
    allocations.OnReset({{.revision = 1, .object = object}}, 1);
    const std::vector<Claim> two = {{.pool = PoolId::kIpv4}, {.pool = PoolId::kIpv4}};
    Allocations::TicketPtr none;
    const auto all = allocations.Plan({}, two, {}, none);
    ASSERT_TRUE(all);
    const std::vector<Claim> one = {{.pool = PoolId::kIpv4}};
    const auto denied = allocations.Plan({}, one, {}, writer->ticket);
    ASSERT_FALSE(denied);
    EXPECT_TRUE(denied.error().wait([held = writer] {}));
    writer.reset();
  }
  EXPECT_TRUE(gone.expired());
}

}  // namespace
}  // namespace berth::commit
