#include "base/random.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <vector>

namespace berth::base {
namespace {

constexpr int kDraws = 100'000;

// Computes Pearson's statistic for draws sorted into equally likely bins.
double ChiSquare(size_t bins, const std::function<size_t()>& draw) {
  std::vector<int> counts(bins);
  for (int i = 0; i < kDraws; ++i) ++counts.at(draw());
  const double expected = static_cast<double>(kDraws) / static_cast<double>(bins);
  double sum = 0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

// The quantiles at 99.99 %. The seeds are fixed, so a test that passes keeps passing.
constexpr double kLimit6Degrees = 27.86;
constexpr double kLimit9Degrees = 33.72;
constexpr double kLimit11Degrees = 37.37;
constexpr double kLimit15Degrees = 44.26;

TEST(SeededRandom, SameSeedSameSequence) {
  SeededRandom a(42);
  SeededRandom b(42);
  SeededRandom c(43);
  bool differs = false;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t next = a.Next();
    ASSERT_EQ(next, b.Next());
    differs |= next != c.Next();
  }
  EXPECT_TRUE(differs);
}

TEST(SeededRandom, CopiesContinueAlike) {
  SeededRandom a(7);
  a.Next();
  SeededRandom b = a;
  EXPECT_EQ(a.Next(), b.Next());
}

TEST(SeededRandom, TheKernelGivesDifferentSeeds) {
  std::set<uint64_t> firsts;
  for (int i = 0; i < 8; ++i) firsts.insert(SeededRandom::FromKernel().Next());
  EXPECT_EQ(firsts.size(), 8u);
}

TEST(Uniform, StaysBelowTheBound) {
  SeededRandom random(1);
  for (const uint64_t bound : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{1} << 32,
                               (uint64_t{1} << 63) + 1, ~uint64_t{0}}) {
    for (int i = 0; i < 1000; ++i) ASSERT_LT(Uniform(random, bound), bound);
  }
}

TEST(Uniform, SmallBoundsAreUniform) {
  SeededRandom random(2);
  EXPECT_LT(ChiSquare(10, [&] { return Uniform(random, 10); }), kLimit9Degrees);
  EXPECT_LT(ChiSquare(7, [&] { return Uniform(random, 7); }), kLimit6Degrees);
}

// At three quarters of the range, a method without rejection would be wrong by a factor of two.
TEST(Uniform, LargeBoundsAreUniform) {
  SeededRandom random(3);
  const uint64_t bin = uint64_t{1} << 60;
  EXPECT_LT(ChiSquare(12, [&] { return Uniform(random, 12 * bin) / bin; }), kLimit11Degrees);
  EXPECT_LT(ChiSquare(12, [&] { return Uniform(random, 12 * bin) % 12; }), kLimit11Degrees);
}

TEST(UniformWide, StaysBelowTheBound) {
  SeededRandom random(4);
  const U128 two64 = U128{1} << 64;
  for (const U128 bound :
       {U128{1}, U128{10}, two64 - 1, two64, two64 + 1, (U128{1} << 127) + 1, kU128Max}) {
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(UniformWide(random, bound) < bound);
  }
}

TEST(UniformWide, SmallBoundsAreUniform) {
  SeededRandom random(5);
  EXPECT_LT(ChiSquare(10, [&] { return static_cast<size_t>(UniformWide(random, 10)); }),
            kLimit9Degrees);
}

TEST(UniformWide, TwoToThe64IsUniform) {
  SeededRandom random(6);
  const U128 bound = U128{1} << 64;
  EXPECT_LT(ChiSquare(16, [&] { return static_cast<size_t>(UniformWide(random, bound) >> 60); }),
            kLimit15Degrees);
}

TEST(UniformWide, WideBoundsAreUniform) {
  SeededRandom random(7);
  const U128 bin = U128{1} << 96;
  EXPECT_LT(ChiSquare(12, [&] { return static_cast<size_t>(UniformWide(random, 12 * bin) / bin); }),
            kLimit11Degrees);
  EXPECT_LT(ChiSquare(12, [&] { return static_cast<size_t>(UniformWide(random, 12 * bin) % 12); }),
            kLimit11Degrees);
}

TEST(UniformWide, TheLargestBoundIsUniform) {
  SeededRandom random(8);
  EXPECT_LT(
      ChiSquare(16, [&] { return static_cast<size_t>(UniformWide(random, kU128Max) >> 124); }),
      kLimit15Degrees);
  EXPECT_LT(ChiSquare(16, [&] { return static_cast<size_t>(UniformWide(random, kU128Max) & 15); }),
            kLimit15Degrees);
}

TEST(NewUuid, IsOfVersionFour) {
  SeededRandom random(9);
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string uuid = NewUuid(random);
    ASSERT_EQ(uuid.size(), 36u);
    for (const size_t dash : {8u, 13u, 18u, 23u}) EXPECT_EQ(uuid[dash], '-');
    EXPECT_EQ(uuid.find_first_not_of("0123456789abcdef-"), std::string::npos);
    EXPECT_EQ(uuid[14], '4');
    EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos) << uuid;
    EXPECT_TRUE(seen.insert(uuid).second);
  }
}

}  // namespace
}  // namespace berth::base
