#include "alloc/pool.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ip/addr.h"
#include "ip/cidr.h"

namespace berth::alloc {
namespace {

U128 Value(const std::string& addr) { return ip::ParseAddr(addr).value().bits(); }

RangeRow Row(const std::string& cidr, const RangeOptions& options = {}) {
  return {.name = "of " + cidr,
          .text = cidr,
          .layout = *LayoutOf(ip::ParseCidr(cidr).value(), options)};
}

std::vector<RangeRow> Rows(const std::vector<std::string>& cidrs) {
  std::vector<RangeRow> rows;
  rows.reserve(cidrs.size());
  for (const std::string& cidr : cidrs) rows.push_back(Row(cidr));
  return rows;
}

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
  EXPECT_TRUE(pool.Drop(Value("10.0.0.3")));
  EXPECT_FALSE(pool.Drop(Value("10.0.0.3")));
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
  EXPECT_TRUE(pool.Drop(Value("10.0.0.3")));
  EXPECT_EQ(Free(pool, 0), U128{254});
  EXPECT_EQ(Free(pool, 1), U128{14});
  // The broadcast address of the smaller one is an address like others in the larger.
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
  EXPECT_TRUE(pool.Drop(Value("10.0.0.4")));
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

TEST(ValueSet, HoldsNarrowAndWideValues) {
  ValueSet set;
  const U128 wide = Value("fd00::1");
  EXPECT_TRUE(set.Insert(7));
  EXPECT_TRUE(set.Insert(UINT32_MAX));
  EXPECT_TRUE(set.Insert(U128{UINT32_MAX} + 1));
  EXPECT_TRUE(set.Insert(wide));
  EXPECT_FALSE(set.Insert(wide));
  EXPECT_EQ(set.Size(), 4U);
  EXPECT_EQ(set.In({0, U128{UINT32_MAX} + 1}),
            (std::vector<U128>{7, UINT32_MAX, U128{UINT32_MAX} + 1}));
  EXPECT_TRUE(set.Erase(wide));
  EXPECT_FALSE(set.Erase(wide));
  EXPECT_FALSE(set.Contains(wide));
  EXPECT_TRUE(set.Contains(7));
}

}  // namespace
}  // namespace berth::alloc
