#include "codec/quantity.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::codec {
namespace {

std::string CanonicalQuantity(std::string_view text) {
  const auto quantity = ParseQuantity(text);
  return quantity ? quantity->text : "error: " + quantity.error().message;
}

TEST(Quantity, UsesTheLargestUnitWithoutAFraction) {
  EXPECT_EQ(CanonicalQuantity("4000m"), "4");
  EXPECT_EQ(CanonicalQuantity("1024Mi"), "1Gi");
  EXPECT_EQ(CanonicalQuantity("1.5"), "1500m");
  EXPECT_EQ(CanonicalQuantity("0.5Gi"), "512Mi");
  EXPECT_EQ(CanonicalQuantity("1.5Ki"), "1536");
  EXPECT_EQ(CanonicalQuantity("2048Ki"), "2Mi");
  EXPECT_EQ(CanonicalQuantity("1000000"), "1M");
  EXPECT_EQ(CanonicalQuantity("12000e3"), "12e6");
  EXPECT_EQ(CanonicalQuantity("1e1"), "10");
  EXPECT_EQ(CanonicalQuantity("-2000"), "-2k");
  EXPECT_EQ(CanonicalQuantity("1.5Gi"), "1536Mi");
  EXPECT_EQ(CanonicalQuantity("0.1Ki"), "102400m");  // 102.4 is below 1024 and not whole.
}

TEST(Quantity, ABinaryAmountThatFitsNoUnitIsReadBackAsADecimalOne) {
  EXPECT_EQ(CanonicalQuantity("187.5Ki"), "192000");
  EXPECT_EQ(CanonicalQuantity("192000"), "192k");
  EXPECT_EQ(CanonicalQuantity("62330011810187.50Ki"), "63825932093632000");
}

TEST(Quantity, ZeroHasNoUnit) {
  for (const char* text : {"0", "0Mi", "0.000", "-0", "+0", "000", "0e5", "+", "."}) {
    EXPECT_EQ(CanonicalQuantity(text), "0") << text;
  }
}

TEST(Quantity, KeepsTextsThatKubernetesKeeps) {
  for (const char* text : {"100m", "1500Ki", "1.500", "+5", "05", "1e3", "1E3", "250"}) {
    EXPECT_EQ(CanonicalQuantity(text), text);
    EXPECT_EQ(CanonicalQuantity(CanonicalQuantity(text)), text);
  }
  EXPECT_EQ(CanonicalQuantity(" 5 "), "5");
}

TEST(Quantity, RoundsUpAndCaps) {
  EXPECT_EQ(CanonicalQuantity("0.0000000001"), "1n");
  EXPECT_EQ(CanonicalQuantity("1e-2000000"), "1e-9");
  EXPECT_EQ(CanonicalQuantity("0.9999999999"), "1");
  EXPECT_EQ(CanonicalQuantity("-0.0000000001"), "-1n");
  EXPECT_EQ(CanonicalQuantity("9999Ei"), "9223372036854775807");
  EXPECT_EQ(CanonicalQuantity("123456789012345678901234567890"), "123456789012345678901234567890");
  EXPECT_EQ(CanonicalQuantity("1e1000000"), "10e999999");
}

TEST(Quantity, RefusesOtherTexts) {
  EXPECT_TRUE(CanonicalQuantity("").starts_with("error: quantities must match"));
  EXPECT_TRUE(CanonicalQuantity("abc").starts_with("error: quantities must match"));
  EXPECT_TRUE(CanonicalQuantity("1 2").starts_with("error: quantities must match"));
  EXPECT_TRUE(CanonicalQuantity(std::string(300, '1')).starts_with("error: quantities must match"));
  EXPECT_EQ(CanonicalQuantity("1MM"), "error: unable to parse quantity's suffix");
  EXPECT_EQ(CanonicalQuantity("1e"), "error: unable to parse quantity's suffix");
  EXPECT_EQ(CanonicalQuantity("1e99999999999"), "error: unable to parse quantity's suffix");
}

TEST(Quantity, KnowsSignAndWholeNumbers) {
  EXPECT_TRUE(ParseQuantity("-1n")->negative);
  EXPECT_FALSE(ParseQuantity("-0")->negative);
  EXPECT_TRUE(ParseQuantity("2000m")->whole);
  EXPECT_TRUE(ParseQuantity("1Gi")->whole);
  EXPECT_FALSE(ParseQuantity("1500m")->whole);
  EXPECT_FALSE(ParseQuantity("1.0000001")->whole);
  EXPECT_TRUE(ParseQuantity("0.9999999")->whole);  // Thousandths are rounded up.
}

}  // namespace
}  // namespace berth::codec
