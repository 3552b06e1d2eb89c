#include "base/uint128.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace berth::base {
namespace {

constexpr std::string_view kMaxText = "340282366920938463463374607431768211455";

TEST(Uint128, HalvesAreTakenApartAndPutTogether) {
  constexpr U128 kValue = MakeU128(0x0123456789abcdef, 0xfedcba9876543210);
  static_assert(High64(kValue) == 0x0123456789abcdef);
  static_assert(Low64(kValue) == 0xfedcba9876543210);
  static_assert(MakeU128(~uint64_t{0}, ~uint64_t{0}) == kU128Max);
  EXPECT_EQ(kValue >> 64, U128{0x0123456789abcdef});
}

TEST(Uint128, SaturatesAtTheLargestInt64) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(SaturateToInt64(0), 0);
  EXPECT_EQ(SaturateToInt64(U128{kMax} - 1), kMax - 1);
  EXPECT_EQ(SaturateToInt64(U128{kMax}), kMax);
  EXPECT_EQ(SaturateToInt64(U128{kMax} + 1), kMax);
  EXPECT_EQ(SaturateToInt64(U128{1} << 64), kMax);
  EXPECT_EQ(SaturateToInt64(kU128Max), kMax);
}

TEST(Uint128, WritesDecimals) {
  EXPECT_EQ(ToDecimal(0), "0");
  EXPECT_EQ(ToDecimal(10), "10");
  EXPECT_EQ(ToDecimal(U128{1} << 64), "18446744073709551616");
  EXPECT_EQ(ToDecimal(kU128Max), kMaxText);
}

TEST(Uint128, ReadsWhatItWrites) {
  EXPECT_EQ(ParseDecimal("0"), U128{0});
  EXPECT_EQ(ParseDecimal("18446744073709551616"), U128{1} << 64);
  EXPECT_EQ(ParseDecimal(kMaxText), kU128Max);
}

TEST(Uint128, RefusesEverythingElse) {
  for (const std::string_view text :
       {"", "-1", "+1", " 1", "1 ", "01", "00", "1a", "0x1", "1.0",
        "340282366920938463463374607431768211456", "340282366920938463463374607431768211460",
        "999999999999999999999999999999999999999", "1000000000000000000000000000000000000000"}) {
    EXPECT_EQ(ParseDecimal(text), std::nullopt) << text;
  }
}

RC_GTEST_PROP(Uint128, RoundTrip, (uint64_t high, uint64_t low)) {
  const U128 value = MakeU128(high, low);
  RC_ASSERT(ParseDecimal(ToDecimal(value)) == value);
  RC_ASSERT(ToDecimal(low) == std::to_string(low));
}

}  // namespace
}  // namespace berth::base
