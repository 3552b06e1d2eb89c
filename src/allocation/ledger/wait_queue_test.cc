#include "allocation/ledger/wait_queue.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocation/ledger/testing/records.h"

namespace berth::allocation {
namespace {

/// A pool with the ranges 10.0.0.0/30 and 10.0.1.0/30, of two values each.
class WaitQueueTest : public ::testing::Test {
 protected:
  static constexpr const char* kFirst = "10.0.0.0/30";
  static constexpr const char* kSecond = "10.0.1.0/30";

  WaitQueueTest() { SetRanges(""); }

  void SetRanges(const std::string& second) {
    pool_.SetRanges({testing::FactsOf("r10.0.0.0_30", "").parts[0].row,
                     testing::FactsOf("r10.0.1.0_30", second).parts[0].row});
  }
  static U128 Address(const std::string& text) { return ip::ParseAddr(text)->bits(); }
  void Take(const std::string& text) { pool_.Hold(Address(text)); }
  void Free(const std::string& text) { pool_.Put(Address(text), alloc::State::kFree); }

  void Wait(uint64_t ticket, const std::string& name, QueueEntry entry) {
    queue_.Enter(ticket, std::move(entry));
    EXPECT_TRUE(queue_.Await(ticket, [this, name] { log_.push_back(name); }));
  }
  std::vector<std::string> Wake(bool closing = false) {
    log_.clear();
    Callbacks callbacks;
    queue_.Wake(pool_, in_flight_, closing, callbacks);
    CallAll(callbacks);
    return log_;
  }

  alloc::Pool pool_;
  InFlightValues in_flight_;
  WaitQueue queue_;
  std::vector<std::string> log_;
};

using Names = std::vector<std::string>;

TEST_F(WaitQueueTest, WritesTryAgainInOrderWhenThereIsEnough) {
  for (const char* value : {"10.0.0.1", "10.0.0.2", "10.0.1.1", "10.0.1.2"}) Take(value);
  in_flight_.Release(Address("10.0.0.1"), alloc::State::kTaken);
  Wait(5, "later", {.needs = 1});
  Wait(3, "earlier", {.needs = 2});
  EXPECT_EQ(Wake(), Names());
  Free("10.0.0.1");
  EXPECT_EQ(Wake(), Names()) << "the value is for the earlier one, which needs two";
  Free("10.0.0.2");
  EXPECT_EQ(Wake(), Names({"earlier"}));
  Free("10.0.1.1");
  EXPECT_EQ(Wake(), Names({"later"})) << "the earlier one was called already";
}

TEST_F(WaitQueueTest, WithNothingInFlightAllTryAgain) {
  for (const char* value : {"10.0.0.1", "10.0.0.2", "10.0.1.1", "10.0.1.2"}) Take(value);
  Wait(1, "a", {.needs = 1});
  Wait(2, "b", {.needs = 1});
  EXPECT_EQ(Wake(/*closing=*/true), Names()) << "it is not decided what ranges will be";
  EXPECT_EQ(Wake(), Names({"a", "b"})) << "to be refused";
}

TEST_F(WaitQueueTest, AWriteThatNamesARangeWaitsForThatOne) {
  for (const char* value : {"10.0.0.1", "10.0.0.2"}) Take(value);
  in_flight_.Release(Address("10.0.0.1"), alloc::State::kTaken);
  Wait(1, "named", {.needs = 1, .range = kFirst, .needs_in_range = 1});
  Wait(2, "any", {.needs = 1});
  EXPECT_TRUE(queue_.NamesRanges());
  EXPECT_EQ(Wake(), Names({"any"}));
  Free("10.0.0.1");
  EXPECT_EQ(Wake(), Names({"named"}));
  EXPECT_TRUE(queue_.Leave(1));
  EXPECT_FALSE(queue_.Leave(1));
  EXPECT_FALSE(queue_.NamesRanges());
}

TEST_F(WaitQueueTest, ARangeThatIsDrainedIsNotWaitedFor) {
  for (const char* value : {"10.0.1.1", "10.0.1.2"}) Take(value);
  in_flight_.Release(Address("10.0.1.1"), alloc::State::kTaken);
  Wait(1, "named", {.needs = 1, .range = kSecond, .needs_in_range = 1});
  EXPECT_EQ(Wake(), Names());
  SetRanges("drained");
  EXPECT_EQ(Wake(), Names({"named"}));
}

TEST_F(WaitQueueTest, DemandIsThatOfEarlierTickets) {
  queue_.Enter(2, {.needs = 1});
  queue_.Enter(4, {.needs = 2, .range = kFirst, .needs_in_range = 1});
  EXPECT_EQ(queue_.DemandAhead(pool_, 2).total, U128{0});
  EXPECT_EQ(queue_.DemandAhead(pool_, 4).total, U128{1});
  const auto all = queue_.DemandAhead(pool_, std::nullopt);
  EXPECT_EQ(all.total, U128{3});
  EXPECT_EQ(all.in_range.at(kFirst), U128{1});
  EXPECT_TRUE(WaitQueue::IsEnough(pool_, {.needs = 1}, all));
  EXPECT_FALSE(WaitQueue::IsEnough(pool_, {.needs = 2}, all));
  EXPECT_FALSE(
      WaitQueue::IsEnough(pool_, {.needs = 1, .range = "unknown", .needs_in_range = 1}, {}));
}

TEST_F(WaitQueueTest, DemandForARangeIsAtMostWhatItHas) {
  queue_.Enter(1, {.needs = 9, .range = kFirst, .needs_in_range = 9});
  EXPECT_EQ(queue_.DemandAhead(pool_, std::nullopt).total, U128{2});
}

TEST_F(WaitQueueTest, TheRangeToSpareIsOneThatOthersDoNotNeed) {
  SetRanges("priority=9");
  EXPECT_EQ(WaitQueue::RangeToSpare(pool_, {})->name, kSecond);
  WaitQueue::Demand ahead;
  ahead.in_range[kSecond] = 2;
  EXPECT_EQ(WaitQueue::RangeToSpare(pool_, ahead)->name, kFirst);
  ahead.in_range[kFirst] = 2;
  EXPECT_EQ(WaitQueue::RangeToSpare(pool_, ahead), nullptr);
}

TEST_F(WaitQueueTest, AnEntryIsReplacedAndAtTheEndAllAreGone) {
  queue_.Enter(1, {.needs = 1, .range = kFirst, .needs_in_range = 1});
  queue_.Enter(1, {.needs = 3});
  EXPECT_FALSE(queue_.NamesRanges());
  EXPECT_EQ(queue_.DemandAhead(pool_, std::nullopt).total, U128{3});
  EXPECT_FALSE(queue_.Await(2, [] {}));
  Callbacks callbacks;
  queue_.TakeCallbacks(callbacks);
  EXPECT_TRUE(queue_.IsEmpty());
}

}  // namespace
}  // namespace berth::allocation
