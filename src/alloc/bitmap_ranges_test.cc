#include "alloc/bitmap_ranges.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "alloc/index.h"

namespace berth::alloc {
namespace {

ip::Cidr Cidr(const std::string& text) { return ip::ParseCidr(text).value(); }
U128 Value(const std::string& addr) { return ip::ParseAddr(addr).value().bits(); }

std::string Refusal(const std::string& cidr, const std::string& flag) {
  const auto error = CheckBitmapRange(Cidr(cidr), flag);
  return error ? error->message : "";
}

TEST(BitmapRangesTest, TwentyBitsOfAddressesAndNoMore) {
  EXPECT_EQ(Refusal("10.96.0.0/12", "--service-cluster-ip-range"), "");
  EXPECT_EQ(Refusal("10.0.0.0/11", "--service-cluster-ip-range"),
            "specified --service-cluster-ip-range is too large; for 32-bit addresses, the mask "
            "must be >= 12");
  EXPECT_EQ(Refusal("fd00::/108", "--service-cluster-ip-range[1]"), "");
  EXPECT_EQ(Refusal("fd00::/64", "--service-cluster-ip-range[1]"),
            "specified --service-cluster-ip-range[1] is too large; for 128-bit addresses, the mask "
            "must be >= 108");
}

TEST(BitmapRangesTest, OfIpv6OnlyWhatHasABitIsGivenOut) {
  for (const char* text : {"fd00::/108", "fd00::/64"}) {
    Index index(BitmapLayoutOf(Cidr(text)).value());
    EXPECT_EQ(index.Counts()[State::kFree], U128{65535}) << text;
    EXPECT_EQ(index.Take(Value("fd00::ffff")), Outcome::kDone);
    EXPECT_EQ(index.Take(Value("fd00::1:0")), Outcome::kExcluded);
  }
  for (const char* text :
       {"fd00::/112", "fd00::/120", "fd00::/128", "10.0.0.0/12", "10.0.0.0/24", "10.0.0.0/31",
        "10.0.0.0/32", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128"}) {
    EXPECT_EQ(BitmapLayoutOf(Cidr(text)).value(), LayoutOf(Cidr(text)).value()) << text;
  }
}

TEST(BitmapRangesTest, OtherExclusionsStay) {
  const U128 excluded = Value("fd00::5");
  Index index(
      BitmapLayoutOf(Cidr("fd00::/108"), {.excluded = {{.first = excluded, .last = excluded}}})
          .value());
  EXPECT_EQ(index.Take(excluded), Outcome::kExcluded);
  EXPECT_EQ(index.Counts()[State::kFree], U128{65534});
}

TEST(BitmapRangesTest, NamesWhatABitmapCannotSay) {
  const std::vector<U128> values = {Value("fd00::1"), Value("fd00::1:0"), Value("fd00::"),
                                    Value("fd00::ffff"), Value("fe00::1")};
  EXPECT_EQ(WithoutBit(BitmapForm::Of(Cidr("fd00::/64")), values),
            (std::vector<U128>{Value("fd00::1:0"), Value("fd00::"), Value("fe00::1")}));
  const std::vector<U128> ports = {80, 443, 30000, 32767, 32768};
  EXPECT_EQ(WithoutBit(BitmapForm::Of(ip::PortRange(30000, 32767)), ports),
            (std::vector<U128>{80, 443, 32768}));
}

RangeRow Row(const std::string& name, const std::string& text, const RangeOptions& options = {}) {
  const auto cidr = ip::ParseCidr(text);
  return {.name = name,
          .text = text,
          .layout = cidr ? LayoutOf(*cidr, options).value()
                         : LayoutOf(ip::ParsePortRange(text).value(), options).value(),
          .cool_down = std::chrono::seconds(5)};
}

TEST(FitIntoBitmapsTest, OfEachPoolTheFirstRangeIsLeft) {
  RangeTable table{.primary = PoolId::kIpv6};
  table.rows = {{{Row("a", "10.1.0.0/24"), Row("allocator.ipv4.k8s.io", "10.96.0.0/16")},
                 {Row("a", "fd01::/112"), Row("kubernetes", "fd00::/64", {.static_band = 5})},
                 {Row("web", "80-80"), Row("allocator.nodeport.k8s.io", "30000-32767")}}};
  const PoolBitmaps bitmaps = FitIntoBitmaps(table);
  for (const auto& rows : table.rows) ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(table.rows[0][0].text, "10.96.0.0/16");
  EXPECT_EQ(table.rows[0][0].cool_down, std::chrono::seconds(0));
  EXPECT_EQ(table.rows[1][0].text, "fd00::/64");
  EXPECT_EQ(table.rows[1][0].layout.BandSpan(Band::kStatic)->Size(), U128{5});
  Index index(table.rows[1][0].layout);
  EXPECT_EQ(index.Counts()[State::kFree], U128{65535});
  EXPECT_EQ(table.rows[2][0].text, "30000-32767");
  ASSERT_TRUE(bitmaps[0] && bitmaps[1] && bitmaps[2]);
  EXPECT_EQ(bitmaps[0]->id, BitmapId::kSecondary);
  EXPECT_EQ(bitmaps[1]->id, BitmapId::kPrimary);
  EXPECT_EQ(bitmaps[2]->id, BitmapId::kPorts);
  EXPECT_EQ(bitmaps[1]->form.range(), "fd00::/64");
}

TEST(FitIntoBitmapsTest, APoolWithoutRangesHasNoBitmap) {
  RangeTable table;
  const PoolBitmaps bitmaps = FitIntoBitmaps(table);
  for (const auto& bitmap : bitmaps) EXPECT_FALSE(bitmap);
}

}  // namespace
}  // namespace berth::alloc
