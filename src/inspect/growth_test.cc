#include "inspect/growth.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>
#include <vector>

#include "codec/timestamp.h"

namespace berth::inspect {
namespace {

using base::WallTime;
using std::chrono::hours;

const WallTime kNow = codec::ParseTime("2026-11-18T12:00:00Z").value();
const WallTime kLongAgo = kNow - hours(24 * 1000);

WallTime DaysAgo(double days) {
  return kNow - std::chrono::duration_cast<WallTime::duration>(
                    std::chrono::duration<double, std::ratio<86400>>(days));
}

RC_GTEST_PROP(GrowthTest, ALinearHistoryHasItsRate, ()) {
  const double rate = *rc::gen::inRange(-1000, 1000) / 10.0;
  const int points = *rc::gen::inRange(2, 300);
  const double days = *rc::gen::inRange(2, 900);
  std::vector<UsePoint> history;
  for (int i = 0; i < points; ++i) {
    const double age = days * i / (points - 1);
    history.push_back({.time = DaysAgo(age), .values = 1e6 - rate * age});
  }
  const Growth growth = GrowthOfHistory(history, kNow);
  RC_ASSERT(growth.basis == GrowthBasis::kHistory);
  RC_ASSERT(std::abs(growth.likely - rate) < 0.01);
  RC_ASSERT(growth.low <= growth.likely);
  RC_ASSERT(growth.likely <= growth.high);
}

/// The band is meant to contain the rate of a random process in nine of ten cases.
TEST(GrowthTest, NoiseStaysInsideTheBand) {
  std::mt19937_64 random(7);
  for (const double rate : {0.3, 3.0, 30.0}) {
    int inside_creations = 0;
    int inside_history = 0;
    constexpr int kRuns = 100;
    for (int run = 0; run < kRuns; ++run) {
      std::exponential_distribution<double> gap(rate);
      std::vector<WallTime> created;
      std::vector<UsePoint> history = {{.time = kNow, .values = 1e6}};  // Once a day.
      for (double age = gap(random); age < 600; age += gap(random)) {
        created.push_back(DaysAgo(age));
        while (static_cast<double>(history.size()) < age) {
          history.push_back({.time = DaysAgo(static_cast<double>(history.size())),
                             .values = 1e6 - static_cast<double>(created.size() - 1)});
        }
      }
      const auto contains = [rate](const Growth& growth) {
        return growth.low <= rate && rate <= growth.high ? 1 : 0;
      };
      inside_creations += contains(GrowthOfCreations(created, kLongAgo, kNow));
      inside_history += contains(GrowthOfHistory(history, kNow));
    }
    EXPECT_GE(inside_creations, kRuns * 8 / 10) << rate;
    EXPECT_GE(inside_history, kRuns * 8 / 10) << rate;
  }
}

RC_GTEST_PROP(GrowthTest, MoreGrowthIsNeverFullLater, ()) {
  const auto free =
      base::MakeU128(*rc::gen::arbitrary<uint64_t>(), *rc::gen::arbitrary<uint64_t>());
  const double low = *rc::gen::inRange(-1000, 1000) / 7.0;
  const Growth growth{.basis = GrowthBasis::kHistory,
                      .likely = low + 1,
                      .low = low,
                      .high = low + *rc::gen::inRange(1, 100)};
  const TimeToFull before = FullAfter(free, growth);
  const TimeToFull after = FullAfter(free, growth.Plus(*rc::gen::inRange(0, 1000) / 3.0));
  for (const auto member : {&TimeToFull::earliest, &TimeToFull::likely, &TimeToFull::latest}) {
    if (before.*member) RC_ASSERT((after.*member).value() <= (before.*member).value());
  }
  if (before.latest) RC_ASSERT(before.likely.value() <= before.latest.value());
  if (before.likely) RC_ASSERT(before.earliest.value() <= before.likely.value());
}

TEST(GrowthTest, EvenCreationsHaveTheirRate) {
  std::vector<WallTime> created;
  for (int i = 0; i < 200; ++i) created.push_back(DaysAgo(0.25 + 0.5 * i));
  const Growth growth = GrowthOfCreations(created, kLongAgo, kNow);
  EXPECT_EQ(growth.days, 28);
  EXPECT_DOUBLE_EQ(growth.likely, 2);
  EXPECT_LT(growth.low, 2);
  EXPECT_GT(growth.high, 2);
  EXPECT_EQ(growth.burst, 0);
}

TEST(GrowthTest, FewCreationsAreCountedOverALongerTime) {
  std::vector<WallTime> created;
  for (int i = 0; i < 12; ++i) created.push_back(DaysAgo(5 + 30 * i));
  const Growth growth = GrowthOfCreations(created, kLongAgo, kNow);
  EXPECT_EQ(growth.days, 448);
  EXPECT_DOUBLE_EQ(growth.likely, 12.0 / 448);
}

TEST(GrowthTest, OneDayThatBringsMostIsAnEventAndNotATrend) {
  std::vector<WallTime> created(500, DaysAgo(10.5));
  for (int i = 0; i < 27; ++i) created.push_back(DaysAgo(0.5 + i + (i >= 10 ? 1 : 0)));
  const Growth growth = GrowthOfCreations(created, kLongAgo, kNow);
  EXPECT_EQ(growth.burst, 500);
  EXPECT_DOUBLE_EQ(growth.likely, 1);
  EXPECT_GT(growth.high, 18);  // The earliest date supposes that such days come again.
}

TEST(GrowthTest, TheBeginningOfAClusterIsNoGrowth) {
  const std::vector<WallTime> created = {DaysAgo(10), DaysAgo(10), DaysAgo(3), DaysAgo(-1)};
  const Growth growth = GrowthOfCreations(created, DaysAgo(10), kNow);
  EXPECT_DOUBLE_EQ(growth.days, 10);
  EXPECT_DOUBLE_EQ(growth.likely, 0.2);  // A time in the future counts as now.
}

TEST(GrowthTest, LessThanADayIsUnknown) {
  EXPECT_FALSE(GrowthOfCreations({{DaysAgo(0.5)}}, DaysAgo(0.9), kNow).Known());
  EXPECT_FALSE(GrowthOfHistory({}, kNow).Known());
  EXPECT_FALSE(GrowthOfHistory({{{.time = DaysAgo(5), .values = 3}}}, kNow).Known());
  EXPECT_FALSE(FullAfter(5, {}).known);
  EXPECT_TRUE(FullAfter(0, {}).FullNow());
}

TEST(GrowthTest, NothingNewIsNeverFullButMayBe) {
  const Growth growth = GrowthOfCreations({}, kLongAgo, kNow);
  EXPECT_TRUE(growth.Known());
  const TimeToFull full = FullAfter(1000, growth);
  EXPECT_FALSE(full.likely.has_value());
  EXPECT_GT(full.earliest.value(), 10'000);
}

TEST(GrowthTest, HugeRangesDoNotOverflow) {
  const Growth slow{.basis = GrowthBasis::kHistory, .likely = 1e-300, .low = 1e-308, .high = 1};
  for (const base::U128 free : {base::MakeU128(1, 0), base::kU128Max}) {
    const TimeToFull full = FullAfter(free, slow);
    EXPECT_GT(full.earliest.value(), kFarDays);
    EXPECT_FALSE(TimeAfter(kNow, *full.earliest).has_value());
    EXPECT_FALSE(full.latest.has_value());
  }
  EXPECT_TRUE(TimeAfter(kNow, kFarDays).has_value());
}

TEST(GrowthTest, ParsesRates) {
  EXPECT_EQ(ParseRate("20/day"), 20);
  EXPECT_EQ(ParseRate("500/week"), 500.0 / 7);
  EXPECT_EQ(ParseRate("1000/month"), 1000.0 / 30);
  EXPECT_EQ(ParseRate("365/year"), 1);
  EXPECT_EQ(ParseRate("0/day"), 0);
  for (const char* bad : {"", "500", "500/", "/week", "x/week", "-1/week", "1.5/day", "500/weeks",
                          "500/Week", "500 /week", "9999999999999/day"}) {
    EXPECT_FALSE(ParseRate(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace berth::inspect
