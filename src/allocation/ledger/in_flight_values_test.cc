#include "allocation/ledger/in_flight_values.h"

#include <gtest/gtest.h>

#include "allocation/ledger/testing/records.h"

namespace berth::allocation {
namespace {

using alloc::State;

TEST(InFlightValuesTest, ATakenValueIsTakenWhateverTheStoreSays) {
  InFlightValues values;
  EXPECT_EQ(values.SetStored(7, State::kReserved), State::kReserved) << "it is not in flight";
  values.Take(7, State::kFree);
  EXPECT_EQ(values.SetStored(7, State::kFree), State::kTaken);
  EXPECT_EQ(values.SetStored(7, State::kCooling), State::kTaken);
  Callbacks callbacks;
  const auto ended = values.EndTake(7, callbacks);
  EXPECT_TRUE(ended.was_in_flight);
  EXPECT_EQ(ended.state, State::kCooling) << "what the store said last";
  EXPECT_TRUE(values.IsEmpty());
}

TEST(InFlightValuesTest, ACommittedTakeStaysTaken) {
  InFlightValues values;
  values.Take(7, State::kFree);
  values.SetStored(7, State::kTaken);
  Callbacks callbacks;
  const auto ended = values.EndTake(7, callbacks);
  EXPECT_TRUE(ended.was_in_flight);
  EXPECT_FALSE(ended.state);
  EXPECT_FALSE(values.EndTake(7, callbacks).was_in_flight);
}

TEST(InFlightValuesTest, AReleaseCountsWhenTheStoreSaysSo) {
  InFlightValues values;
  values.Release(7, State::kTaken);
  EXPECT_EQ(values.SetStored(7, State::kFree), State::kFree);
  Callbacks callbacks;
  EXPECT_EQ(values.EndRelease(7, callbacks).state, State::kFree);
}

TEST(InFlightValuesTest, OneWriteMayReleaseWhatAnotherTakes) {
  InFlightValues values;
  values.Release(7, State::kTaken);
  values.SetStored(7, State::kFree);
  values.Take(7, State::kFree);
  Callbacks callbacks;
  EXPECT_FALSE(values.EndRelease(7, callbacks).state) << "the other write has it";
  EXPECT_FALSE(values.IsEmpty());
  EXPECT_EQ(values.EndTake(7, callbacks).state, State::kFree);
  EXPECT_TRUE(values.IsEmpty());
}

TEST(InFlightValuesTest, UndoingATakeKeepsARelease) {
  InFlightValues values;
  values.Take(7, State::kReserved);
  EXPECT_EQ(values.UndoTake(7), State::kReserved);
  EXPECT_TRUE(values.IsEmpty());
  values.Release(7, State::kFree);
  values.Take(7, State::kFree);
  values.UndoTake(7);
  EXPECT_FALSE(values.IsEmpty());
}

TEST(InFlightValuesTest, OnlyWhatMayChangeIsWorthWaitingFor) {
  InFlightValues values;
  EXPECT_FALSE(values.MayChange(7));
  values.Take(7, State::kFree);
  EXPECT_TRUE(values.MayChange(7)) << "the write may fail";
  values.SetStored(7, State::kTaken);
  EXPECT_FALSE(values.MayChange(7)) << "the write is committed";
  values.Release(7, State::kTaken);
  EXPECT_TRUE(values.MayChange(7));
}

TEST(InFlightValuesTest, ThoseThatWaitAreCalledAtTheEnd) {
  InFlightValues values;
  EXPECT_FALSE(values.Await(7, [] {}));
  values.Take(7, State::kFree);
  values.Take(8, State::kFree);
  int called = 0;
  EXPECT_TRUE(values.Await(7, [&called] { ++called; }));
  EXPECT_TRUE(values.Await(8, [&called] { called += 10; }));
  Callbacks callbacks;
  values.EndTake(7, callbacks);
  CallAll(callbacks);
  EXPECT_EQ(called, 1);
  Callbacks forgotten;
  values.TakeCallbacks(forgotten);
  EXPECT_EQ(forgotten.size(), 1U);
}

TEST(InFlightValuesTest, ValuesAreCountedByRange) {
  alloc::Pool pool;
  pool.SetRanges({testing::FactsOf("r10.0.0.0_29", "").parts[0].row});
  const U128 network = ip::ParseAddr("10.0.0.0")->bits();
  InFlightValues values;
  values.Take(network + 1, State::kFree);
  values.Take(network + 6, State::kFree);
  values.Take(network + 100, State::kFree);
  EXPECT_TRUE(values.HasMoreThan(2, nullptr));
  EXPECT_FALSE(values.HasMoreThan(3, nullptr));
  EXPECT_TRUE(values.HasMoreThan(1, pool.ranges().data()));
  EXPECT_FALSE(values.HasMoreThan(2, pool.ranges().data()));
}

TEST(InFlightValuesTest, InAnEmptyPoolOnlyTakenValuesAreHeld) {
  InFlightValues values;
  values.Take(7, State::kReserved);
  values.Release(8, State::kTaken);
  alloc::Pool pool;
  values.ForgetStored(pool);
  EXPECT_TRUE(pool.IsHeld(7));
  EXPECT_FALSE(pool.IsHeld(8));
  Callbacks callbacks;
  EXPECT_EQ(values.EndTake(7, callbacks).state, State::kFree);
}

}  // namespace
}  // namespace berth::allocation
