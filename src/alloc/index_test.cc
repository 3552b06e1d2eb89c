#include "alloc/index.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "alloc/testing/alloc_kit.h"
#include "base/random.h"
#include "ip/addr.h"

namespace berth::alloc {
namespace {

Layout LayoutOfCidr(const std::string& cidr, const RangeOptions& options = {}) {
  return *LayoutOf(*ip::ParseCidr(cidr), options);
}

/// A range of each kind: bitmap, hash set of 64-bit offsets, hash set of 128-bit offsets.
class IndexKinds : public testing::TestWithParam<std::string> {
 protected:
  Layout MakeLayout(const RangeOptions& options = {}) const {
    return LayoutOfCidr(GetParam(), options);
  }
  U128 First() const { return MakeLayout().span()->first; }
  U128 Last() const { return MakeLayout().span()->last; }

  base::SeededRandom random_{7};
};

std::string PrefixName(const testing::TestParamInfo<std::string>& range) {
  return "Slash" + range.param.substr(range.param.find('/') + 1);
}

INSTANTIATE_TEST_SUITE_P(Ranges, IndexKinds,
                         testing::Values("10.96.0.0/16", "fd00::/64", "2001:db8::/48"), PrefixName);

TEST_P(IndexKinds, AGivenValueCanBeTakenOnceAndGivenBack) {
  Index index(MakeLayout());
  for (const U128 value : {First(), First() + 300, Last()}) {
    EXPECT_FALSE(index.Has(value));
    EXPECT_EQ(index.Take(value), Outcome::kDone);
    EXPECT_TRUE(index.Has(value));
    EXPECT_EQ(index.Take(value), Outcome::kTaken);
    EXPECT_EQ(index.Release(value), Outcome::kDone);
    EXPECT_EQ(index.Release(value), Outcome::kNotHeld);
    EXPECT_EQ(index.Get(value), State::kFree);
  }
}

TEST_P(IndexKinds, ValuesOutsideAreOutOfRange) {
  Index index(MakeLayout());
  for (const U128 value : {First() - 1, Last() + 1}) {
    EXPECT_EQ(index.Get(value), std::nullopt);
    EXPECT_FALSE(index.Has(value));
    EXPECT_EQ(index.Take(value), Outcome::kOutOfRange);
    EXPECT_EQ(index.Release(value), Outcome::kOutOfRange);
    EXPECT_EQ(index.Reserve(value), Outcome::kOutOfRange);
  }
}

TEST_P(IndexKinds, AnyComesFromTheDynamicBand) {
  Index index(MakeLayout());
  std::set<U128> seen;
  for (int i = 0; i < 2000; ++i) {
    const auto value = index.TakeAny(random_);
    ASSERT_TRUE(value.has_value());
    EXPECT_EQ(index.layout().BandOf(*value), Band::kDynamic);
    EXPECT_TRUE(seen.insert(*value).second) << "given out twice";
  }
  EXPECT_EQ(index.Counts(Band::kDynamic)[State::kTaken], 2000u);
  EXPECT_EQ(index.Counts(Band::kStatic)[State::kTaken], 0u);
}

TEST_P(IndexKinds, PickOnlyProposes) {
  Index index(MakeLayout());
  const auto value = index.Pick(random_);
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(index.Get(*value), State::kFree);
}

TEST_P(IndexKinds, ReservedValuesAreForNobody) {
  Index index(MakeLayout());
  const U128 value = First() + 300;
  EXPECT_EQ(index.Reserve(value), Outcome::kDone);
  EXPECT_EQ(index.Reserve(value), Outcome::kReserved);
  EXPECT_EQ(index.Take(value), Outcome::kReserved);
  EXPECT_EQ(index.Release(value), Outcome::kNotHeld);
  index.Put(value, State::kFree);
  EXPECT_EQ(index.Take(value), Outcome::kDone);
  EXPECT_EQ(index.Reserve(value), Outcome::kTaken);
}

TEST_P(IndexKinds, ACoolingValueCanBeAskedForButIsNotPicked) {
  Index index(MakeLayout());
  const U128 value = First() + 300;
  index.Put(value, State::kCooling);
  EXPECT_EQ(index.Get(value), State::kCooling);
  EXPECT_EQ(index.Counts(Band::kDynamic)[State::kCooling], 1u);
  EXPECT_EQ(index.FreeRuns(value, 1).front().first, value + 1);
  EXPECT_EQ(index.Release(value), Outcome::kNotHeld);
  EXPECT_EQ(index.Take(value), Outcome::kDone);
  EXPECT_EQ(index.Counts(Band::kDynamic)[State::kCooling], 0u);
}

TEST_P(IndexKinds, ExcludedValuesAreNeverGivenOut) {
  const U128 first = First();
  Index index(MakeLayout({.excluded = {{first + 300, first + 399}}}));
  EXPECT_EQ(index.Get(first + 350), State::kExcluded);
  EXPECT_EQ(index.Take(first + 350), Outcome::kExcluded);
  EXPECT_EQ(index.Reserve(first + 350), Outcome::kExcluded);
  EXPECT_EQ(index.Get(first + 350), State::kExcluded);
  EXPECT_EQ(index.Counts(Band::kDynamic)[State::kExcluded], 100u);
  EXPECT_EQ(index.FreeRuns(first + 340, 1).front().first, first + 400);
}

// A Service may hold an address that an operator excludes later.
TEST_P(IndexKinds, AnExcludedValueThatIsTakenReturnsToExcluded) {
  const U128 first = First();
  Index index = Index::Load(MakeLayout({.excluded = {{first + 300, first + 399}}}),
                            std::vector<U128>{first + 280, first + 350, first + 351, first + 500})
                    .index;
  std::vector<U128> walked;
  index.ForEach(State::kTaken, [&](U128 value) { walked.push_back(value); });
  EXPECT_EQ(walked, (std::vector<U128>{first + 280, first + 350, first + 351, first + 500}));
  EXPECT_EQ(index.Get(first + 350), State::kTaken);
  EXPECT_EQ(index.Counts(Band::kDynamic)[State::kExcluded], 98u);
  EXPECT_EQ(index.Release(first + 350), Outcome::kDone);
  index.Put(first + 351, State::kCooling);
  EXPECT_EQ(index.Get(first + 350), State::kExcluded);
  EXPECT_EQ(index.Get(first + 351), State::kExcluded);
  EXPECT_EQ(index.Counts(Band::kDynamic)[State::kExcluded], 100u);
  EXPECT_EQ(index.Counts(Band::kDynamic)[State::kCooling], 0u);
}

TEST_P(IndexKinds, CountsAddUpToTheBand) {
  const U128 first = First();
  Index index(MakeLayout({.excluded = {{first + 300, first + 309}}}));
  ASSERT_EQ(index.Take(first), Outcome::kDone);
  ASSERT_EQ(index.Reserve(first + 1), Outcome::kDone);
  index.Put(first + 400, State::kCooling);
  const StateCounts lower = index.Counts(Band::kStatic);
  EXPECT_EQ(lower[State::kTaken], 1u);
  EXPECT_EQ(lower[State::kReserved], 1u);
  EXPECT_EQ(lower.Total(), 256u);
  const StateCounts upper = index.Counts(Band::kDynamic);
  EXPECT_EQ(upper[State::kCooling], 1u);
  EXPECT_EQ(upper[State::kExcluded], 10u);
  EXPECT_EQ(upper.Total(), index.layout().BandSpan(Band::kDynamic)->Size());
  EXPECT_EQ(index.Counts().Total(), index.layout().span()->Size());
}

TEST_P(IndexKinds, WalksWhatIsHeldInOrder) {
  Index index(MakeLayout());
  const std::vector<U128> values = {First(), First() + 2, First() + 256, First() + 10000, Last()};
  for (const U128 value : {values[3], values[0], values[4], values[2], values[1]}) {
    ASSERT_EQ(index.Take(value), Outcome::kDone);
  }
  ASSERT_EQ(index.Reserve(First() + 1), Outcome::kDone);
  std::vector<U128> walked;
  index.ForEach(State::kTaken, [&](U128 value) { walked.push_back(value); });
  EXPECT_EQ(walked, values);
  walked.clear();
  index.ForEach(State::kReserved, [&](U128 value) { walked.push_back(value); });
  EXPECT_EQ(walked, std::vector<U128>{First() + 1});
}

TEST_P(IndexKinds, ShowsTheGaps) {
  Index index(MakeLayout());
  const U128 first = First();
  EXPECT_EQ(index.FreeRuns(0, 10), (std::vector<Interval>{{first, Last()}}))
      << "free values on both sides of the bands' border are one gap";
  for (const U128 value : {first + 2, first + 3, first + 500}) {
    ASSERT_EQ(index.Take(value), Outcome::kDone);
  }
  EXPECT_EQ(
      index.FreeRuns(0, 10),
      (std::vector<Interval>{{first, first + 1}, {first + 4, first + 499}, {first + 501, Last()}}));
  EXPECT_EQ(index.FreeRuns(first + 100, 1), (std::vector<Interval>{{first + 100, first + 499}}));
  EXPECT_EQ(index.FreeRuns(first + 500, 1), (std::vector<Interval>{{first + 501, Last()}}));
  EXPECT_TRUE(index.FreeRuns(first, 0).empty());
  EXPECT_TRUE(index.FreeRuns(Last() + 1, 5).empty());
}

TEST_P(IndexKinds, LoadReportsWhatItCannotTake) {
  const U128 first = First();
  const LoadedIndex loaded = Index::Load(
      MakeLayout(), std::vector<U128>{Last(), first, first + 300, first - 1, first, Last() + 1});
  EXPECT_EQ(loaded.out_of_range, (std::vector<U128>{first - 1, Last() + 1}));
  EXPECT_EQ(loaded.twice, std::vector<U128>{first});
  EXPECT_EQ(loaded.index.Counts()[State::kTaken], 3u);
  EXPECT_TRUE(loaded.index.Has(first + 300));
}

TEST(IndexTest, DynamicRequestsSpillWhenTheDynamicBandIsFull) {
  Index index(LayoutOfCidr("10.0.0.0/27"));  // 16 static, 14 dynamic
  base::SeededRandom random(3);
  for (int i = 0; i < 30; ++i) {
    const auto value = index.TakeAny(random);
    ASSERT_TRUE(value.has_value());
    EXPECT_EQ(index.layout().BandOf(*value), i < 14 ? Band::kDynamic : Band::kStatic);
  }
  EXPECT_EQ(index.TakeAny(random), std::nullopt);
  EXPECT_EQ(index.Pick(random), std::nullopt);
  EXPECT_TRUE(index.FreeRuns(0, 5).empty());
}

TEST(IndexTest, AStrictRangeNeverSpills) {
  Index index(LayoutOfCidr("10.0.0.0/27", {.strict = true}));
  base::SeededRandom random(3);
  for (int i = 0; i < 14; ++i) ASSERT_TRUE(index.TakeAny(random).has_value());
  EXPECT_EQ(index.TakeAny(random), std::nullopt);
  EXPECT_EQ(index.Take(Value("10.0.0.5")), Outcome::kDone) << "a static request still may";
}

TEST(IndexTest, ARangeWithNothingUsableIsFull) {
  Index index(LayoutOfCidr("10.0.0.0/31"));
  base::SeededRandom random(3);
  EXPECT_EQ(index.TakeAny(random), std::nullopt);
  EXPECT_EQ(index.Take(Value("10.0.0.0")), Outcome::kOutOfRange);
  EXPECT_EQ(index.Counts().Total(), 0u);
  EXPECT_TRUE(index.FreeRuns(0, 5).empty());
  EXPECT_EQ(Index::Load(index.layout(), std::vector<U128>{5}).out_of_range, std::vector<U128>{5});
}

TEST(IndexTest, TheLastFreeValueOfAFullRangeIsFound) {
  Index index(LayoutOfCidr("10.0.0.0/16"));
  base::SeededRandom random(11);
  while (index.TakeAny(random)) {
  }
  EXPECT_EQ(index.Counts()[State::kTaken], 65534u);
  for (const char* addr : {"10.0.0.1", "10.0.1.0", "10.0.1.1", "10.0.77.7", "10.0.255.254"}) {
    ASSERT_EQ(index.Release(Value(addr)), Outcome::kDone);
    EXPECT_EQ(index.FreeRuns(0, 2), (std::vector<Interval>{{Value(addr), Value(addr)}}));
    EXPECT_EQ(index.TakeAny(random), Value(addr));
  }
}

// A /64 at its very end has sums and offsets that would overflow 64 bits.
TEST(IndexTest, ASlash64NeverHandsOutAnAddressOutsideItself) {
  Index index(LayoutOfCidr("fd00:0:0:1::/64"));
  base::SeededRandom random(5);
  const ip::Cidr cidr = *ip::ParseCidr("fd00:0:0:1::/64");
  for (int i = 0; i < 100000; ++i) {
    const auto value = index.Pick(random);
    ASSERT_TRUE(cidr.Contains(ip::Addr(ip::Family::kV6, *value)));
  }
  EXPECT_EQ(index.Take(Value("fd00::1:ffff:ffff:ffff:ffff")), Outcome::kDone);
  EXPECT_EQ(index.Take(Value("fd00:0:0:2::")), Outcome::kOutOfRange);
}

/// Picks many times and measures how far the frequencies of the free values are from an even
/// spread.
double ChiSquare(const Index& index, int picks, uint64_t seed) {
  base::SeededRandom random(seed);
  std::map<U128, int> seen;
  for (int i = 0; i < picks; ++i) ++seen[*index.Pick(random)];
  const StateCounts counts = index.Counts(Band::kDynamic);
  const double free = static_cast<double>(static_cast<uint64_t>(counts[State::kFree]));
  const double expected = picks / free;
  double chi = (free - static_cast<double>(seen.size())) * expected;  // Values never seen.
  for (const auto& [value, times] : seen) {
    EXPECT_EQ(index.Get(value), State::kFree);
    chi += (times - expected) * (times - expected) / expected;
  }
  return (chi - free) / std::sqrt(2 * free);  // About standard normal.
}

TEST(IndexTest, AnyIsUniformOverTheFreeValuesOfABitmap) {
  Index index(LayoutOfCidr("10.0.0.0/20"));
  base::SeededRandom random(1);
  // The distribution is uneven on purpose: long full stretches, single holes, an empty stretch.
  for (U128 i = 300; i < 3000; ++i) {
    if (i % 97 == 0) continue;
    ASSERT_EQ(index.Take(Value("10.0.0.0") + i), Outcome::kDone);
  }
  EXPECT_LT(std::abs(ChiSquare(index, 400000, 2)), 5);
}

TEST(IndexTest, AnyIsUniformWhenExclusionsLeaveFewValuesOfAWideRange) {
  const U128 first = LayoutOfCidr("fd00::/64").span()->first;
  const U128 last = LayoutOfCidr("fd00::/64").span()->last;
  Index index(
      LayoutOfCidr("fd00::/64", {.excluded = {{first + 1000, last - 50}, {last - 10, last}}}));
  EXPECT_LT(std::abs(ChiSquare(index, 100000, 3)), 5);
  // Take almost everything that is left.
  for (U128 i = 256; i < 1000; ++i) {
    if (i % 200 == 0) continue;
    ASSERT_EQ(index.Take(first + i), Outcome::kDone);
  }
  for (U128 value = last - 49; value < last - 11; ++value) {
    ASSERT_EQ(index.Take(value), Outcome::kDone);
  }
  EXPECT_EQ(index.Counts(Band::kDynamic)[State::kFree], 4u);
  EXPECT_LT(std::abs(ChiSquare(index, 5000, 4)), 5);
}

// Held values must survive the change of form in both directions.
TEST(IndexTest, AWideRangeIsABitmapWhileThatIsCheaper) {
  const U128 first = Value("10.0.0.1");
  const Interval hole{first + 5000, first + 9999};
  Index index = Index::Load(LayoutOfCidr("10.0.0.0/12", {.excluded = {hole}}),
                            std::vector<U128>{first + 6000, first + 6001})
                    .index;
  ASSERT_EQ(index.Reserve(first + 1000), Outcome::kDone);
  index.Put(first + 2000, State::kCooling);
  EXPECT_EQ(index.Release(first + 6001), Outcome::kDone);
  const auto expect_the_same = [&] {
    EXPECT_EQ(index.Get(first + 1000), State::kReserved);
    EXPECT_EQ(index.Get(first + 2000), State::kCooling);
    EXPECT_EQ(index.Get(first + 6000), State::kTaken);
    EXPECT_EQ(index.Get(first + 6001), State::kExcluded);
    EXPECT_EQ(index.Counts()[State::kExcluded], hole.Size() - 1);
    EXPECT_EQ(index.Counts().Total(), index.layout().span()->Size());
  };

  base::SeededRandom random(9);
  std::vector<U128> taken;
  EXPECT_FALSE(index.IsBitmap(Band::kDynamic));
  while (!index.IsBitmap(Band::kDynamic)) taken.push_back(index.TakeAny(random).value());
  EXPECT_EQ(taken.size(), ((1 << 20) - 2 - 256 - 5000) / 128 - 2);  // One is reserved, one cooling.
  expect_the_same();
  for (int i = 0; i < 1000; ++i) taken.push_back(index.TakeAny(random).value());
  for (const U128 value : taken) {
    ASSERT_TRUE(index.Has(value));
    ASSERT_FALSE(hole.Contains(value));
  }
  while (index.IsBitmap(Band::kDynamic)) {
    ASSERT_EQ(index.Release(taken.back()), Outcome::kDone);
    taken.pop_back();
  }
  EXPECT_LT(taken.size(), 2100u);
  expect_the_same();
  for (const U128 value : taken) ASSERT_EQ(index.Release(value), Outcome::kDone);
  EXPECT_EQ(index.Counts()[State::kTaken], 1u);
}

// Drawing at random would miss nearly always here, and a bitmap of the whole range would be too
// large.
TEST(IndexTest, TheLastFreeValueIsFoundThoughAlmostAllOfAWideRangeIsExcluded) {
  const Layout all = LayoutOfCidr("fd00::/64");
  const U128 first = all.span()->first;
  Index index(LayoutOfCidr("fd00::/64",
                           {.static_band = 0, .excluded = {{first + 100'000, all.span()->last}}}));
  base::SeededRandom random(4);
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(index.TakeAny(random).has_value());
  EXPECT_EQ(index.TakeAny(random), std::nullopt);
  ASSERT_EQ(index.Release(first + 77'777), Outcome::kDone);
  EXPECT_EQ(index.TakeAny(random), first + 77'777);
  EXPECT_TRUE(index.IsBitmap(Band::kDynamic));
}

TEST(IndexTest, EverythingMayBeExcluded) {
  Index index(LayoutOfCidr("10.0.0.0/24", {.excluded = {{0, base::kU128Max}}}));
  base::SeededRandom random(4);
  EXPECT_EQ(index.TakeAny(random), std::nullopt);
  EXPECT_EQ(index.Take(Value("10.0.0.5")), Outcome::kExcluded);
  EXPECT_TRUE(index.FreeRuns(0, 5).empty());
  EXPECT_EQ(index.Counts()[State::kExcluded], 254u);
}

TEST(IndexTest, MemoryFollowsWhatIsHeld) {
  for (const char* range : {"10.0.0.0/8", "0.0.0.0/0", "fd00::/64", "2001:db8::/48", "::/0"}) {
    EXPECT_LT(Index(LayoutOfCidr(range)).MemoryBytes(), 8192u) << range << ", empty";
  }
  base::SeededRandom random(1);
  Index full(LayoutOfCidr("10.96.0.0/12"));
  while (full.TakeAny(random)) {
  }
  EXPECT_LE(full.MemoryBytes(), 512u * 1024);

  for (const char* range : {"10.0.0.0/8", "fd00::/64"}) {
    Index index(LayoutOfCidr(range));
    std::vector<U128> taken;
    for (int i = 0; i < 200'000; ++i) taken.push_back(index.TakeAny(random).value());
    for (const U128 value : taken) ASSERT_EQ(index.Release(value), Outcome::kDone);
    EXPECT_LT(index.MemoryBytes(), 32'768u) << range << ", emptied again";
  }
}

}  // namespace
}  // namespace berth::alloc
