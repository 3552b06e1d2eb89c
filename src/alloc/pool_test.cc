#include "alloc/pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "alloc/testing/alloc_kit.h"
#include "ip/addr.h"
#include "ip/cidr.h"

namespace berth::alloc {
namespace {

Pool Made(const std::vector<std::string>& cidrs) {
  Pool pool;
  pool.SetRanges(Rows(cidrs));
  return pool;
}

U128 Free(const Pool& pool, size_t range) {
  return pool.ranges()[range].index.Counts()[State::kFree];
}

TEST(Pool, AGivenValueMustLieInARangeAndBeFree) {
  Pool pool = Made({"10.0.0.0/28"});
  EXPECT_EQ(pool.Take(Value("10.0.0.3")), Outcome::kDone);
  EXPECT_EQ(pool.Take(Value("10.0.0.3")), Outcome::kTaken);
  EXPECT_EQ(pool.Take(Value("10.0.0.0")), Outcome::kOutOfRange);
  EXPECT_EQ(pool.Take(Value("10.0.0.15")), Outcome::kOutOfRange);
  EXPECT_EQ(pool.Take(Value("10.0.0.16")), Outcome::kOutOfRange);
  EXPECT_TRUE(pool.Put(Value("10.0.0.3"), State::kFree));
  EXPECT_FALSE(pool.Put(Value("10.0.0.3"), State::kFree));
  EXPECT_EQ(pool.Take(Value("10.0.0.3")), Outcome::kDone);
}

TEST(Pool, AnyValueUntilAllAreTaken) {
  Pool pool = Made({"10.0.0.0/29", "10.0.1.0/28"});
  base::SeededRandom random(1);
  std::set<U128> got;
  EXPECT_EQ(pool.Available(), U128{20});
  for (int i = 0; i < 20; ++i) {
    const auto value = pool.TakeAny(random);
    ASSERT_TRUE(value);
    EXPECT_TRUE(got.insert(*value).second);
    EXPECT_NE(pool.Find(*value), nullptr);
  }
  EXPECT_FALSE(pool.TakeAny(random));
  EXPECT_EQ(pool.Available(), U128{0});
}

TEST(Pool, TheRangeWithTheMostFreeValuesGivesFirst) {
  Pool pool = Made({"10.0.0.0/29", "10.0.1.0/24"});
  base::SeededRandom random(1);
  EXPECT_EQ(pool.Find(*pool.TakeAny(random))->text, "10.0.1.0/24");
}

TEST(Pool, AValueIsTakenInEveryRangeThatHasIt) {
  Pool pool = Made({"10.0.0.0/24", "10.0.0.0/28"});
  EXPECT_EQ(pool.Take(Value("10.0.0.3")), Outcome::kDone);
  EXPECT_EQ(Free(pool, 0), U128{253});
  EXPECT_EQ(Free(pool, 1), U128{13});
  EXPECT_TRUE(pool.Put(Value("10.0.0.3"), State::kFree));
  EXPECT_EQ(Free(pool, 0), U128{254});
  EXPECT_EQ(Free(pool, 1), U128{14});
  // The broadcast address of the smaller range is an ordinary address in the larger one.
  EXPECT_EQ(pool.Take(Value("10.0.0.15")), Outcome::kDone);
  EXPECT_EQ(Free(pool, 0), U128{253});
  EXPECT_EQ(Free(pool, 1), U128{14});
}

TEST(Pool, WhatIsHeldOutsideOfAllRangesIsKnownWhenARangeComes) {
  Pool pool = Made({"10.0.0.0/28"});
  EXPECT_TRUE(pool.Hold(Value("10.0.1.7")));
  EXPECT_FALSE(pool.Hold(Value("10.0.1.7")));
  EXPECT_TRUE(pool.Hold(Value("10.0.0.7")));
  pool.SetRanges(Rows({"10.0.0.0/28", "10.0.1.0/28"}));
  EXPECT_EQ(Free(pool, 0), U128{13});
  EXPECT_EQ(Free(pool, 1), U128{13});
  EXPECT_EQ(pool.Take(Value("10.0.1.7")), Outcome::kTaken);
  pool.SetRanges(Rows({"10.0.1.0/28"}));
  EXPECT_EQ(pool.Take(Value("10.0.0.7")), Outcome::kOutOfRange);
  EXPECT_TRUE(pool.IsHeld(Value("10.0.0.7")));
}

TEST(Pool, ExcludedValuesAreDeniedButMayBeHeld) {
  Pool pool;
  std::vector<RangeRow> rows;
  rows.push_back(Row("10.0.0.0/28", {.excluded = {{Value("10.0.0.4"), Value("10.0.0.5")}}}));
  pool.SetRanges(std::move(rows));
  EXPECT_EQ(pool.Available(), U128{12});
  EXPECT_EQ(pool.Take(Value("10.0.0.4")), Outcome::kExcluded);
  EXPECT_TRUE(pool.Hold(Value("10.0.0.4")));
  EXPECT_EQ(pool.Take(Value("10.0.0.4")), Outcome::kTaken);
  EXPECT_EQ(pool.ranges()[0].index.Counts()[State::kTaken], U128{1});
  EXPECT_TRUE(pool.Put(Value("10.0.0.4"), State::kFree));
  EXPECT_EQ(pool.Take(Value("10.0.0.4")), Outcome::kExcluded);
  EXPECT_EQ(pool.Available(), U128{12});
}

TEST(Pool, AStrictRangeHasNoMoreToPickThanItsDynamicBand) {
  Pool pool;
  std::vector<RangeRow> rows;
  rows.push_back(Row("10.0.0.0/27", {.strict = true}));
  pool.SetRanges(std::move(rows));
  EXPECT_EQ(pool.Available(), U128{14});
  base::SeededRandom random(1);
  for (int i = 0; i < 14; ++i) EXPECT_TRUE(pool.TakeAny(random));
  EXPECT_FALSE(pool.TakeAny(random));
  EXPECT_EQ(pool.Take(Value("10.0.0.1")), Outcome::kDone);
}

TEST(Pool, CoolingValuesAreLeftAloneByPicksAndMayBeTaken) {
  Pool pool = Made({"10.0.0.0/30"});
  EXPECT_TRUE(pool.Put(Value("10.0.0.1"), State::kCooling));
  EXPECT_FALSE(pool.Put(Value("10.0.0.1"), State::kCooling));
  EXPECT_EQ(pool.Available(), U128{1});
  base::SeededRandom random(1);
  EXPECT_EQ(pool.TakeAny(random), Value("10.0.0.2"));
  EXPECT_FALSE(pool.TakeAny(random));
  EXPECT_EQ(pool.Take(Value("10.0.0.1")), Outcome::kDone);
  EXPECT_EQ(pool.Get(Value("10.0.0.1")), State::kTaken);
}

TEST(Pool, ReservedValuesAreForWhoMayHaveThem) {
  Pool pool = Made({"10.0.0.0/30"});
  EXPECT_TRUE(pool.Put(Value("10.0.0.1"), State::kReserved));
  EXPECT_EQ(pool.Available(), U128{1});
  EXPECT_EQ(pool.Take(Value("10.0.0.1")), Outcome::kReserved);
  EXPECT_EQ(pool.TakeReserved(Value("10.0.0.1")), Outcome::kDone);
  EXPECT_EQ(pool.TakeReserved(Value("10.0.0.1")), Outcome::kTaken);
  EXPECT_TRUE(pool.Put(Value("10.0.0.1"), State::kReserved));
  EXPECT_EQ(pool.ranges()[0].index.Counts()[State::kReserved], U128{1});
  EXPECT_TRUE(pool.Put(Value("10.0.0.9"), State::kReserved)) << "outside of every range too";
  EXPECT_EQ(pool.TakeReserved(Value("10.0.0.9")), Outcome::kOutOfRange);
}

TEST(Pool, ARangeThatIsNotOpenGivesNothingButWhatAnOpenOneHas) {
  Pool pool;
  std::vector<RangeRow> rows = Rows({"10.0.0.0/24", "10.0.0.0/28"});
  rows[0].open = false;
  pool.SetRanges(rows);
  base::SeededRandom random(1);
  EXPECT_EQ(pool.Available(), U128{14});
  EXPECT_EQ(pool.Take(Value("10.0.0.77")), Outcome::kNotOpen);
  EXPECT_EQ(pool.Take(Value("10.0.0.3")), Outcome::kDone);
  EXPECT_EQ(pool.Find(*pool.TakeAny(random))->text, "10.0.0.0/28");
  EXPECT_FALSE(pool.TakeAny(random, pool.ranges()[0]));
  rows[0].open = true;
  pool.SetRanges(rows);
  EXPECT_EQ(pool.Take(Value("10.0.0.77")), Outcome::kDone);
}

TEST(Pool, AHigherPriorityComesFirstAsLongAsItHasSomething) {
  Pool pool;
  std::vector<RangeRow> rows = Rows({"10.0.0.0/24", "10.0.1.0/30"});
  rows[1].priority = 7;
  pool.SetRanges(rows);
  base::SeededRandom random(1);
  EXPECT_EQ(pool.Find(*pool.TakeAny(random))->text, "10.0.1.0/30");
  EXPECT_EQ(pool.Find(*pool.TakeAny(random))->text, "10.0.1.0/30");
  EXPECT_EQ(pool.Find(*pool.TakeAny(random))->text, "10.0.0.0/24");
}

TEST(Pool, ANamedRangeGivesFromItself) {
  Pool pool = Made({"10.0.0.0/24", "10.0.1.0/30"});
  EXPECT_EQ(pool.Named("nobody"), nullptr);
  const Pool::Range* range = pool.Named("of 10.0.1.0/30");
  ASSERT_NE(range, nullptr);
  EXPECT_EQ(pool.Available(*range), U128{2});
  base::SeededRandom random(1);
  EXPECT_TRUE(pool.TakeAny(random, *range));
  EXPECT_TRUE(pool.TakeAny(random, *range));
  EXPECT_FALSE(pool.TakeAny(random, *range));
  EXPECT_EQ(Free(pool, 0), U128{254});
}

TEST(Pool, AnIndexStaysWhateverElseOfItsRowChanges) {
  Pool pool = Made({"10.0.0.0/24", "10.0.1.0/24"});
  pool.Hold(Value("10.0.1.7"));
  std::vector<RangeRow> rows = Rows({"10.0.1.0/24", "10.0.0.0/25"});
  rows[0].name = "another name";
  rows[0].priority = 3;
  rows[0].cool_down = std::chrono::seconds(5);
  pool.SetRanges(rows);
  EXPECT_EQ(pool.Find(Value("10.0.1.7"))->name, "another name");
  EXPECT_EQ(pool.Find(Value("10.0.1.7"))->cool_down, std::chrono::seconds(5));
  EXPECT_EQ(Free(pool, 0), U128{253});
  EXPECT_EQ(Free(pool, 1), U128{126});
}

TEST(Pool, TheSmallestRangeOfAValueIsFoundAndOverlapsAreKnown) {
  const Pool pool = Made({"10.0.0.0/16", "10.0.1.0/24", "10.0.1.0/28", "10.9.0.0/24"});
  EXPECT_EQ(pool.Find(Value("10.0.1.3"))->text, "10.0.1.0/28");
  EXPECT_EQ(pool.Find(Value("10.0.1.15"))->text, "10.0.1.0/24");
  EXPECT_EQ(pool.Find(Value("10.0.2.15"))->text, "10.0.0.0/16");
  EXPECT_EQ(pool.Find(Value("10.10.0.1")), nullptr);
  EXPECT_TRUE(pool.ranges()[0].overlaps);
  EXPECT_TRUE(pool.ranges()[2].overlaps);
  EXPECT_FALSE(pool.ranges()[3].overlaps);
}

TEST(Pool, TheWidestRangesDoNotOverflowWhatIsAvailable) {
  Pool pool = Made({"::/0", "2000::/3", "4000::/3"});
  EXPECT_EQ(pool.Available(), U128{UINT64_MAX} * 3);
  base::SeededRandom random(1);
  EXPECT_TRUE(pool.TakeAny(random));
}

TEST(ValueSet, HoldsNarrowAndWideValues) {
  ValueSet set;
  const U128 wide = Value("fd00::1");
  EXPECT_TRUE(set.Insert(7));
  EXPECT_TRUE(set.Insert(UINT32_MAX));
  EXPECT_TRUE(set.Insert(U128{UINT32_MAX} + 1));
  EXPECT_TRUE(set.Insert(wide));
  EXPECT_FALSE(set.Insert(wide));
  EXPECT_EQ(set.Size(), 4U);
  std::set<U128> all;
  set.ForEach([&all](U128 value) { all.insert(value); });
  EXPECT_EQ(all, (std::set<U128>{7, UINT32_MAX, U128{UINT32_MAX} + 1, wide}));
  EXPECT_TRUE(set.Erase(wide));
  EXPECT_FALSE(set.Erase(wide));
  EXPECT_FALSE(set.Contains(wide));
  EXPECT_TRUE(set.Contains(7));
}

TEST(Pool, ARangeThatIsNotThereYetIsCountedAsIfItWere) {
  Pool pool = Made({"10.0.0.0/24"});
  for (const char* taken : {"10.0.0.1", "10.0.0.20", "10.0.1.5", "10.0.3.9"}) {
    pool.Hold(Value(taken));
  }
  pool.Put(Value("10.0.0.2"), State::kReserved);
  pool.Put(Value("10.0.1.6"), State::kCooling);
  const RangeOptions options{.static_band = 16,
                             .excluded = {{Value("10.0.0.16"), Value("10.0.0.31")}}};
  const RangeRow next = Row("10.0.0.0/23", options);
  EXPECT_EQ(pool.WithLayout(next.layout), nullptr);
  const Index counted = Pool::IndexOf(next.layout, pool.HeldIn(*next.layout.span()));
  pool.SetRanges({next});
  EXPECT_EQ(pool.WithLayout(next.layout), &pool.ranges()[0]);
  for (const Band band : {Band::kStatic, Band::kDynamic}) {
    EXPECT_EQ(counted.Counts(band), pool.ranges()[0].index.Counts(band));
  }
  EXPECT_EQ(counted.Counts(Band::kStatic)[State::kTaken], U128{1});
  EXPECT_EQ(counted.Counts()[State::kTaken], U128{3});
  EXPECT_EQ(counted.Counts()[State::kReserved], U128{1});
  EXPECT_EQ(counted.Counts()[State::kCooling], U128{1});
}

}  // namespace
}  // namespace berth::alloc
