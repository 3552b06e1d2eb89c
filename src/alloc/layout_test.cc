#include "alloc/layout.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ip/addr.h"

namespace berth::alloc {
namespace {

Layout Make(const std::string& range, const RangeOptions& options = {}) {
  const auto layout = range.find('/') == std::string::npos
                          ? LayoutOf(*ip::ParsePortRange(range), options)
                          : LayoutOf(*ip::ParseCidr(range), options);
  EXPECT_TRUE(layout.has_value()) << range;
  return *layout;
}

std::string Text(const std::string& range, U128 value) {
  if (range.find('/') == std::string::npos) return base::ToDecimal(value);
  return ip::Addr(ip::ParseCidr(range)->family(), value).ToString();
}

std::string Text(const std::string& range, const std::optional<Interval>& interval) {
  if (!interval) return "-";
  return Text(range, interval->first) + " to " + Text(range, interval->last);
}

/// One row of a table in the documents that define the bands.
struct BandRow {
  std::string name;
  std::string range;
  uint64_t band;
  std::string static_band;
  std::string dynamic_band;
};

void PrintTo(const BandRow& row, std::ostream* out) { *out << row.range; }

class BandTable : public testing::TestWithParam<BandRow> {};

TEST_P(BandTable, IsAsDocumented) {
  const BandRow& row = GetParam();
  const Layout layout = Make(row.range);
  const auto lower = layout.BandSpan(Band::kStatic);
  EXPECT_EQ(lower ? lower->Size() : 0, row.band);
  EXPECT_EQ(Text(row.range, lower), row.static_band);
  EXPECT_EQ(Text(row.range, layout.BandSpan(Band::kDynamic)), row.dynamic_band);
}

std::string RowName(const testing::TestParamInfo<BandRow>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Blog, BandTable,
    testing::Values(
        BandRow{"DefaultRange", "30000-32767", 86, "30000 to 30085", "30086 to 32767"},
        BandRow{"VerySmallRange", "30000-30015", 0, "-", "30000 to 30015"},
        BandRow{"SmallLowerBoundary", "30000-30127", 16, "30000 to 30015", "30016 to 30127"},
        BandRow{"LargeUpperBoundary", "30000-34095", 128, "30000 to 30127", "30128 to 34095"},
        BandRow{"VeryLargeRange", "30000-38191", 128, "30000 to 30127", "30128 to 38191"}),
    RowName);

INSTANTIATE_TEST_SUITE_P(Kep3668, BandTable,
                         testing::Values(BandRow{"Example1Default", "30000-32767", 86,
                                                 "30000 to 30085", "30086 to 32767"},
                                         BandRow{"Example2Large", "20000-32767", 128,
                                                 "20000 to 20127", "20128 to 32767"},
                                         BandRow{"Example3Small", "32567-32767", 16,
                                                 "32567 to 32582", "32583 to 32767"}),
                         RowName);

INSTANTIATE_TEST_SUITE_P(
    Kep3070, BandTable,
    testing::Values(BandRow{"Example1LargeSubnet", "192.168.0.0/16", 256,
                            "192.168.0.1 to 192.168.1.0", "192.168.1.1 to 192.168.255.254"},
                    BandRow{"Example2Slash22", "192.168.0.0/22", 64, "192.168.0.1 to 192.168.0.64",
                            "192.168.0.65 to 192.168.3.254"},
                    BandRow{"Example3SmallSubnet", "192.168.0.0/26", 16,
                            "192.168.0.1 to 192.168.0.16", "192.168.0.17 to 192.168.0.62"}),
    RowName);

INSTANTIATE_TEST_SUITE_P(
    Kubernetes, BandTable,
    testing::Values(
        BandRow{"V4Slash8", "10.0.0.0/8", 256, "10.0.0.1 to 10.0.1.0",
                "10.0.1.1 to 10.255.255.254"},
        BandRow{"V4Slash16", "10.0.0.0/16", 256, "10.0.0.1 to 10.0.1.0",
                "10.0.1.1 to 10.0.255.254"},
        BandRow{"V4Slash20", "10.0.0.0/20", 256, "10.0.0.1 to 10.0.1.0", "10.0.1.1 to 10.0.15.254"},
        BandRow{"V4Slash22", "10.0.0.0/22", 64, "10.0.0.1 to 10.0.0.64", "10.0.0.65 to 10.0.3.254"},
        BandRow{"V4Slash24", "10.0.0.0/24", 16, "10.0.0.1 to 10.0.0.16", "10.0.0.17 to 10.0.0.254"},
        BandRow{"V4Slash25", "10.0.0.0/25", 16, "10.0.0.1 to 10.0.0.16", "10.0.0.17 to 10.0.0.126"},
        BandRow{"V4Slash26", "10.0.0.0/26", 16, "10.0.0.1 to 10.0.0.16", "10.0.0.17 to 10.0.0.62"},
        BandRow{"V4Slash27", "10.0.0.0/27", 16, "10.0.0.1 to 10.0.0.16", "10.0.0.17 to 10.0.0.30"},
        BandRow{"V4Slash28", "10.0.0.0/28", 0, "-", "10.0.0.1 to 10.0.0.14"},
        BandRow{"V4Slash29", "10.0.0.0/29", 0, "-", "10.0.0.1 to 10.0.0.6"},
        BandRow{"V4Slash30", "10.0.0.0/30", 0, "-", "10.0.0.1 to 10.0.0.2"},
        BandRow{"V4Slash31", "10.0.0.0/31", 0, "-", "-"},
        BandRow{"V4Slash32", "10.0.0.0/32", 0, "-", "-"},
        BandRow{"V4Slash1", "0.0.0.0/1", 0, "-", "0.0.0.1 to 127.255.255.254"},
        BandRow{"V4Slash0", "0.0.0.0/0", 0, "-", "0.0.0.1 to 255.255.255.254"},
        BandRow{"V6Slash64", "fd00::/64", 256, "fd00::1 to fd00::100",
                "fd00::101 to fd00::ffff:ffff:ffff:ffff"},
        BandRow{"V6Slash48", "2001:db8::/48", 256, "2001:db8::1 to 2001:db8::100",
                "2001:db8::101 to 2001:db8:0:ffff:ffff:ffff:ffff:ffff"},
        BandRow{"V6Slash112", "fd00::/112", 256, "fd00::1 to fd00::100", "fd00::101 to fd00::ffff"},
        BandRow{"V6Slash118", "fd00::/118", 64, "fd00::1 to fd00::40", "fd00::41 to fd00::3ff"},
        BandRow{"V6Slash120", "fd00::/120", 16, "fd00::1 to fd00::10", "fd00::11 to fd00::ff"},
        BandRow{"V6Slash122", "fd00::/122", 16, "fd00::1 to fd00::10", "fd00::11 to fd00::3f"},
        BandRow{"V6Slash123", "fd00::/123", 16, "fd00::1 to fd00::10", "fd00::11 to fd00::1f"},
        BandRow{"V6Slash124", "fd00::/124", 0, "-", "fd00::1 to fd00::f"},
        BandRow{"V6Slash126", "fd00::/126", 0, "-", "fd00::1 to fd00::3"},
        BandRow{"V6Slash127", "fd00::/127", 0, "-", "fd00::1 to fd00::1"},
        BandRow{"V6Slash128", "fd00::/128", 0, "-", "-"},
        BandRow{"V6Slash1", "8000::/1", 0, "-",
                "8000::1 to ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
        BandRow{"SixteenPorts", "30000-30015", 0, "-", "30000 to 30015"},
        BandRow{"SeventeenPorts", "30000-30016", 16, "30000 to 30015", "30016 to 30016"},
        BandRow{"Ports543", "30000-30542", 16, "30000 to 30015", "30016 to 30542"},
        BandRow{"Ports544", "30000-30543", 17, "30000 to 30016", "30017 to 30543"},
        BandRow{"Ports2048", "30000-32047", 64, "30000 to 30063", "30064 to 32047"},
        BandRow{"OnePort", "80-80", 0, "-", "80 to 80"}),
    RowName);

TEST(LayoutTest, CountsUsableValues) {
  EXPECT_EQ(Make("10.0.0.0/16").Usable(), 65534u);
  EXPECT_EQ(Make("fd00::/112").Usable(), 65535u);
  EXPECT_EQ(Make("fd00::/64").Usable(), base::MakeU128(0, UINT64_MAX));
  EXPECT_EQ(Make("30000-32767").Usable(), 2768u);
  EXPECT_EQ(Make("10.0.0.0/31").Usable(), 0u);
}

TEST(LayoutTest, SaysWhatIsUnusableAndWhy) {
  const Layout v4 = Make("10.0.0.0/24");
  ASSERT_EQ(v4.unusable().size(), 2u);
  EXPECT_EQ(v4.unusable()[0].why, "network address");
  EXPECT_EQ(v4.unusable()[1].why, "broadcast address");
  EXPECT_EQ(Make("10.0.0.0/32").unusable().size(), 1u);
  const Layout v6 = Make("fd00::/64");
  ASSERT_EQ(v6.unusable().size(), 1u);
  EXPECT_EQ(v6.unusable()[0].why, "network (subnet-router anycast) address");
}

TEST(LayoutTest, PortZeroIsNotUsable) {
  const Layout layout = Make("0-100");
  EXPECT_EQ(layout.span()->first, 1u);
  EXPECT_EQ(layout.BandSpan(Band::kStatic), (Interval{1, 16}));
  EXPECT_EQ(Make("0-0").span(), std::nullopt);
}

// Their decimal names belong to IPv4 addresses, or Kubernetes refuses their text.
TEST(LayoutTest, Ipv6AddressesWithoutANameOfTheirOwnAreNotUsable) {
  const Layout layout = Make("::/64");
  EXPECT_EQ(layout.span()->first, U128{1} << 32);
  EXPECT_EQ(layout.BandSpan(Band::kStatic)->Size(), 256u);
  ASSERT_EQ(layout.excluded().size(), 1u);
  EXPECT_EQ(layout.excluded()[0], (Interval{0xffff'0000'0000, 0xffff'ffff'ffff}));
  EXPECT_EQ(layout.Usable(), (U128{1} << 64) - (U128{1} << 33));
  EXPECT_EQ(Make("::/112").span(), std::nullopt);
  EXPECT_EQ(Make("::/0").Usable(), base::kU128Max - (U128{1} << 33) + 1);
}

TEST(LayoutTest, StaticBandCanBeOverridden) {
  EXPECT_EQ(Make("10.0.0.0/24", {.static_band = 100}).BandSpan(Band::kStatic)->Size(), 100u);
  const Layout none = Make("10.0.0.0/24", {.static_band = 0});
  EXPECT_EQ(none.BandSpan(Band::kStatic), std::nullopt);
  EXPECT_EQ(none.BandSpan(Band::kDynamic)->Size(), 254u);
  const Layout all = Make("10.0.0.0/24", {.static_band = 254});
  EXPECT_EQ(all.BandSpan(Band::kStatic)->Size(), 254u);
  EXPECT_EQ(all.BandSpan(Band::kDynamic), std::nullopt);
}

TEST(LayoutTest, ABandLargerThanTheRangeIsRefused) {
  const auto layout = LayoutOf(*ip::ParseCidr("10.0.0.0/24"), {.static_band = 255});
  ASSERT_FALSE(layout.has_value());
  EXPECT_EQ(layout.error().message,
            "a static band of 255 does not fit: the range has 254 usable values");
  EXPECT_FALSE(LayoutOf(*ip::ParseCidr("10.0.0.0/32"), {.static_band = 1}).has_value());
  // The addresses of ::/0 that have no name of their own do not count.
  const ip::Cidr all = *ip::ParseCidr("::/0");
  const U128 usable = LayoutOf(all)->Usable();
  EXPECT_TRUE(LayoutOf(all, {.static_band = usable}).has_value());
  EXPECT_FALSE(LayoutOf(all, {.static_band = usable + 1}).has_value());
}

TEST(LayoutTest, ExclusionsAreClippedSortedAndMerged) {
  const U128 base = ip::ParseAddr("10.0.0.0")->bits();
  const Layout layout = Make("10.0.0.0/24", {.excluded = {{base + 50, base + 60},
                                                          {base - 9, base + 5},
                                                          {base + 61, base + 61},
                                                          {base + 55, base + 58},
                                                          {base + 250, base + 999},
                                                          {base + 999, base + 1000}}});
  EXPECT_EQ(layout.excluded(),
            (std::vector<Interval>{
                {base + 1, base + 5}, {base + 50, base + 61}, {base + 250, base + 254}}));
}

TEST(LayoutTest, APartOfItKeepsBandsAndExclusions) {
  const Layout whole = Make("30000-30099", {.excluded = {{30010, 30020}, {30090, 30095}}});
  EXPECT_EQ(whole.Within({0, 65535}), whole);
  EXPECT_EQ(whole.Within({30100, 30200}), std::nullopt);
  const auto part = whole.Within({30008, 30050});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->span(), (Interval{30008, 30050}));
  EXPECT_EQ(part->Usable(), 43u);
  EXPECT_EQ(part->BandSpan(Band::kStatic), (Interval{30008, 30015}));
  EXPECT_EQ(part->BandSpan(Band::kDynamic), (Interval{30016, 30050}));
  EXPECT_EQ(part->excluded(), (std::vector<Interval>{{30010, 30020}}));
  const auto above = whole.Within({30016, 30016});
  ASSERT_TRUE(above);
  EXPECT_EQ(above->BandSpan(Band::kStatic), std::nullopt);
  EXPECT_EQ(Make("10.0.0.0/24").Within({0, ~U128{0}}), Make("10.0.0.0/24"));
}

TEST(LayoutTest, TheBandsSplitTheRange) {
  const Layout layout = Make("10.0.0.0/24");
  const U128 base = ip::ParseAddr("10.0.0.0")->bits();
  EXPECT_EQ(layout.BandOf(base + 16), Band::kStatic);
  EXPECT_EQ(layout.BandOf(base + 17), Band::kDynamic);
  EXPECT_FALSE(layout.Contains(base));
  EXPECT_TRUE(layout.Contains(base + 254));
  EXPECT_FALSE(layout.Contains(base + 255));
}

}  // namespace
}  // namespace berth::alloc
