#include "allocation/bitmaps/bitmap_ranges.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "alloc/index.h"
#include "alloc/testing/alloc_kit.h"

namespace berth::allocation {
namespace {

using alloc::Band;
using alloc::Index;
using alloc::LayoutOf;
using alloc::PoolId;
using alloc::RangeOptions;
using alloc::RangeRow;
using alloc::RangeTable;
using alloc::State;

ip::Cidr ParsedCidr(const std::string& text) { return ip::ParseCidr(text).value(); }

std::string Refusal(const std::string& cidr, const std::string& flag) {
  const auto error = CheckBitmapRange(ParsedCidr(cidr), flag);
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

RangeRow NamedRow(const std::string& name, const std::string& text,
                  const RangeOptions& options = {}) {
  const auto cidr = ip::ParseCidr(text);
  return {.name = name,
          .text = text,
          .layout = cidr ? LayoutOf(*cidr, options).value()
                         : LayoutOf(ip::ParsePortRange(text).value(), options).value(),
          .cool_down = std::chrono::seconds(5)};
}

TEST(FitIntoBitmapsTest, OfEachPoolTheFirstRangeIsLeft) {
  RangeTable table{.primary = PoolId::kIpv6};
  table.rows = {
      {{{NamedRow("a", "10.1.0.0/24"), NamedRow("allocator.ipv4.k8s.io", "10.96.0.0/16")},
        {NamedRow("a", "fd01::/112"), NamedRow("kubernetes", "fd00::/64", {.static_band = 5})},
        {NamedRow("web", "80-80"), NamedRow("allocator.nodeport.k8s.io", "30000-32767")}}}};
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
  EXPECT_EQ(bitmaps[1]->layout.range(), "fd00::/64");
}

TEST(FitIntoBitmapsTest, ARangeThatMakesWayServesBecauseNoOtherOneCan) {
  RangeRow first = NamedRow("allocator.ipv4.k8s.io", "10.0.0.0/24");
  first.open = false;
  first.makes_way = true;
  RangeTable table;
  table.rows[PoolId::kIpv4] = {first, NamedRow("next", "10.1.0.0/24")};
  FitIntoBitmaps(table);
  ASSERT_EQ(table.rows[PoolId::kIpv4].size(), 1U);
  EXPECT_TRUE(table.rows[PoolId::kIpv4][0].open);
}

TEST(FitIntoBitmapsTest, APoolWithoutRangesHasNoBitmap) {
  RangeTable table;
  const PoolBitmaps bitmaps = FitIntoBitmaps(table);
  for (const auto& bitmap : bitmaps) EXPECT_FALSE(bitmap);
}

}  // namespace
}  // namespace berth::allocation
