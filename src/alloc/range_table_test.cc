#include "alloc/range_table.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "alloc/testing/alloc_kit.h"
#include "ip/cidr.h"
#include "ip/port_range.h"

namespace berth::alloc {
namespace {

RangeFacts Facts(RangeKind kind, const std::string& name, const std::vector<std::string>& cidrs) {
  RangeFacts facts{.kind = kind};
  for (const std::string& cidr : cidrs) {
    RangeRow row = Row(cidr);
    row.name = name;
    const PoolId pool = PoolOf(ip::ParseCidr(cidr)->family());
    facts.parts.push_back({.pool = pool, .row = std::move(row)});
  }
  return facts;
}
RangeFacts IpRange(const std::string& name, const std::string& cidr) {
  return Facts(RangeKind::kIpRange, name, {cidr});
}
RangeFacts ServiceCidr(const std::string& name, const std::vector<std::string>& cidrs) {
  return Facts(RangeKind::kServiceCidr, name, cidrs);
}
RangeFacts PortFacts(const std::string& name, const std::string& range) {
  return {
      .kind = RangeKind::kNodePortRange,
      .parts = {
          {.pool = PoolId::kPorts,
           .row = {.name = name, .text = range, .layout = *LayoutOf(*ip::ParsePortRange(range))}}}};
}
RangeFacts Primary(RangeFacts facts) {
  facts.primary = true;
  return facts;
}
RangeFacts NotOpen(RangeFacts facts) {
  for (auto& part : facts.parts) part.row.open = false;
  return facts;
}

/// Returns "name text, ..."
std::string Text(const RangeTable& table, PoolId pool) {
  std::string text;
  for (const RangeRow& row : table.rows[pool]) {
    if (!text.empty()) text += ", ";
    text += row.name + " " + row.text;
    if (!row.open) text += " not open";
  }
  return text;
}
std::string Families(const RangeTable& table) {
  std::string text;
  for (const ip::Family family : table.families) text += family == ip::Family::kV4 ? "4" : "6";
  return text;
}

TEST(RangeTable, EachRangeIsARowOfItsPool) {
  const RangeTable table =
      MakeRangeTable({{"a", IpRange("four", "10.0.0.0/24")},
                      {"b", IpRange("six", "fd00::/64")},
                      {"c", PortFacts("ports", "30000-32767")},
                      {"d", ServiceCidr("cidr", {"10.1.0.0/24", "fd01::/64"})}},
                     {});
  EXPECT_EQ(Text(table, PoolId::kIpv4), "four 10.0.0.0/24, cidr 10.1.0.0/24");
  EXPECT_EQ(Text(table, PoolId::kIpv6), "six fd00::/64, cidr fd01::/64");
  EXPECT_EQ(Text(table, PoolId::kPorts), "ports 30000-32767");
  EXPECT_EQ(table.rows[0][0].kind, RangeKind::kIpRange);
  EXPECT_EQ(table.rows[0][1].kind, RangeKind::kServiceCidr);
  EXPECT_EQ(table.rows[2][0].kind, RangeKind::kNodePortRange);
  EXPECT_EQ(table.closing, PerPool<bool>{});
}

TEST(RangeTable, TheFirstRangesCloseWithTheirServiceCidrWhereAnotherRangeServes) {
  RangeFacts leaving = ServiceCidr("kubernetes", {"10.0.0.0/24", "fd00::/64"});
  for (auto& part : leaving.parts) part.row.leaving = true;
  RangeObjects objects = {{"a", Primary(IpRange("four", "10.0.0.0/24"))},
                          {"b", IpRange("six", "fd00::/64")},
                          {"c", leaving}};
  EXPECT_EQ(Text(MakeRangeTable(objects, {}), PoolId::kIpv4), "four 10.0.0.0/24") << "it is alone";
  objects["d"] = NotOpen(ServiceCidr("next", {"10.1.0.0/24"}));
  EXPECT_EQ(Text(MakeRangeTable(objects, {}), PoolId::kIpv4),
            "four 10.0.0.0/24, next 10.1.0.0/24 not open");
  objects["d"] = ServiceCidr("next", {"10.1.0.0/31"});
  EXPECT_EQ(Text(MakeRangeTable(objects, {}), PoolId::kIpv4), "four 10.0.0.0/24, next 10.1.0.0/31")
      << "it has no address";
  objects["d"] = ServiceCidr("next", {"10.1.0.0/24"});
  const RangeTable table = MakeRangeTable(objects, {});
  EXPECT_EQ(Text(table, PoolId::kIpv4), "four 10.0.0.0/24 not open, next 10.1.0.0/24");
  EXPECT_EQ(Text(table, PoolId::kIpv6), "six fd00::/64") << "each family by itself";
  EXPECT_EQ(Families(table), "46");
  EXPECT_FALSE(table.rows[PoolId::kIpv4][0].leaving) << "its values stay covered";
}

TEST(RangeTable, AnIpRangeSpeaksForAServiceCidrOfTheSameCidrAlsoWhenItIsNotOpen) {
  const RangeObjects objects = {{"a", NotOpen(IpRange("mine", "10.1.0.0/24"))},
                                {"d", ServiceCidr("cidr", {"10.1.0.0/24", "fd01::/64"})},
                                {"e", ServiceCidr("wider", {"10.1.0.0/16"})}};
  const RangeTable table = MakeRangeTable(objects, {});
  EXPECT_EQ(Text(table, PoolId::kIpv4), "mine 10.1.0.0/24 not open, wider 10.1.0.0/16");
  EXPECT_EQ(Text(table, PoolId::kIpv6), "cidr fd01::/64");
}

TEST(RangeTable, OverlappingRangesAreAllThere) {
  const RangeTable table = MakeRangeTable({{"a", IpRange("all", "10.0.0.0/16")},
                                           {"b", IpRange("part", "10.0.1.0/24")},
                                           {"c", ServiceCidr("one", {"10.0.1.0/25"})},
                                           {"d", ServiceCidr("two", {"10.0.1.0/25"})}},
                                          {});
  EXPECT_EQ(Text(table, PoolId::kIpv4),
            "all 10.0.0.0/16, part 10.0.1.0/24, one 10.0.1.0/25, two 10.0.1.0/25");
}

TEST(RangeTable, FamiliesComeInTheOrderOfThePrimaryThenOfTheDefaultThenOfKeys) {
  const RangeFacts four = IpRange("four", "10.0.0.0/24");
  const RangeFacts six = IpRange("six", "fd00::/64");
  const RangeFacts first_six = ServiceCidr("kubernetes", {"fd01::/64", "10.1.0.0/24"});
  EXPECT_EQ(Families(MakeRangeTable({}, {})), "");
  EXPECT_EQ(Families(MakeRangeTable({{"a", four}, {"b", six}}, {})), "46");
  EXPECT_EQ(Families(MakeRangeTable({{"a", four}, {"b", Primary(six)}}, {})), "64");
  EXPECT_EQ(Families(MakeRangeTable({{"a", four}, {"b", six}, {"k", first_six}}, {})), "64");
  EXPECT_EQ(Families(MakeRangeTable({{"a", Primary(four)}, {"b", six}, {"k", first_six}}, {})),
            "46");
  const RangeFacts other = ServiceCidr("other", {"fd01::/64", "10.1.0.0/24"});
  EXPECT_EQ(Families(MakeRangeTable({{"a", four}, {"k", other}}, {})), "46");
}

TEST(RangeTable, TheOrderOfTheDefaultCountsThoughIpRangesSpeakForItsCidrs) {
  EXPECT_EQ(
      Families(MakeRangeTable({{"a", IpRange("allocator.ipv4.k8s.io", "10.1.0.0/24")},
                               {"b", IpRange("allocator.ipv6.k8s.io", "fd01::/64")},
                               {"k", ServiceCidr("kubernetes", {"fd01::/64", "10.1.0.0/24"})}},
                              {})),
      "64");
}

TEST(RangeTable, AFamilyWithoutAnOpenRangeIsNone) {
  EXPECT_EQ(Families(MakeRangeTable({{"a", Primary(NotOpen(IpRange("four", "10.0.0.0/24")))},
                                     {"b", IpRange("six", "fd00::/64")},
                                     {"c", PortFacts("ports", "30000-32767")}},
                                    {})),
            "6");
}

TEST(RangeTable, WhatIsClosingHasNoLongerWhatItShallNotHaveInItsPoolOnly) {
  const RangeObjects objects = {{"a", IpRange("four", "10.0.0.0/24")},
                                {"b", IpRange("gone", "10.1.0.0/24")},
                                {"k", ServiceCidr("kubernetes", {"10.0.0.0/24", "fd00::/64"})},
                                {"p", PortFacts("ports", "30000-32767")}};
  Closings closings;
  closings[0] = Closing{.operation = "x",
                        .next = {{"a", IpRange("four", "10.0.0.0/28")},
                                 {"b", std::nullopt},
                                 {"k", ServiceCidr("kubernetes", {"10.0.0.0/28", "fd00::/48"})},
                                 {"new", IpRange("new", "10.2.0.0/24")}}};
  const RangeTable table = MakeRangeTable(objects, closings);
  EXPECT_EQ(Text(table, PoolId::kIpv4), "four 10.0.0.0/24");
  const RangeRow& row = table.rows[0].front();
  EXPECT_EQ(row.layout.span(), Row("10.0.0.0/28").layout.span());
  EXPECT_EQ(row.layout.BandSpan(Band::kStatic), row.layout.span()) << "as in the /24";
  EXPECT_EQ(Text(table, PoolId::kIpv6), "kubernetes fd00::/64") << "its fence is open";
  EXPECT_EQ(Text(table, PoolId::kPorts), "ports 30000-32767");
  EXPECT_EQ(table.closing, (PerPool<bool>{{true, false, false}}));
}

TEST(RangeTable, WhatIsClosingHasNothingYetThatItDidNotHave) {
  const RangeObjects objects = {{"a", IpRange("moves", "10.0.0.0/24")},
                                {"b", IpRange("grows", "10.1.0.0/24")},
                                {"p", PortFacts("ports", "100-199")}};
  Closings closings;
  closings[0] = Closing{
      .operation = "x",
      .next = {{"a", IpRange("moves", "10.2.0.0/24")}, {"b", IpRange("grows", "10.1.0.0/16")}}};
  closings[2] = Closing{.operation = "x", .next = {{"p", PortFacts("ports", "150-249")}}};
  const RangeTable table = MakeRangeTable(objects, closings);
  EXPECT_EQ(Text(table, PoolId::kIpv4), "grows 10.1.0.0/24");
  EXPECT_EQ(table.rows[0].front().layout, Row("10.1.0.0/24").layout);
  ASSERT_EQ(table.rows[2].size(), 1u);
  EXPECT_EQ(table.rows[2].front().layout.span(), (Interval{150, 199}));
}

TEST(RangeTable, AFamilyWhoseLastRangeIsClosingIsStillOne) {
  Closings closings;
  closings[1] = Closing{.operation = "x", .next = {{"b", std::nullopt}}};
  const RangeTable table = MakeRangeTable(
      {{"a", IpRange("four", "10.0.0.0/24")}, {"b", Primary(IpRange("six", "fd00::/64"))}},
      closings);
  EXPECT_EQ(Text(table, PoolId::kIpv6), "");
  EXPECT_EQ(Families(table), "64");
}

TEST(Covers, UsableValuesOfAnyRowExcludedOrNot) {
  std::vector<RangeRow> rows = Rows({"10.0.0.0/30", "10.0.0.8/29"});
  rows.push_back(Row("10.0.1.0/28", {.excluded = {{Value("10.0.1.4"), Value("10.0.1.4")}}}));
  rows.back().open = false;
  for (const char* in : {"10.0.0.1", "10.0.0.2", "10.0.0.9", "10.0.0.14", "10.0.1.4"}) {
    EXPECT_TRUE(Covers(rows, Value(in))) << in;
  }
  for (const char* out : {"10.0.0.0", "10.0.0.3", "10.0.0.8", "10.0.0.15", "10.0.1.15"}) {
    EXPECT_FALSE(Covers(rows, Value(out))) << out;
  }
}

TEST(Covers, HolesInARangeAreNotUsable) {
  const std::vector<RangeRow> rows = Rows({"::/64"});
  EXPECT_FALSE(Covers(rows, Value("::1:2")));
  EXPECT_TRUE(Covers(rows, Value("::1:0:1")));
  EXPECT_FALSE(Covers(rows, U128{0xffff'0a00'0001}));
  EXPECT_TRUE(Covers(rows, Value("::1:0:0:1")));
}

TEST(CoversAll, LargerNestedAndSplitRanges) {
  const auto covers = [](const std::vector<std::string>& after,
                         const std::vector<std::string>& before) {
    return CoversAll(Rows(after), Rows(before));
  };
  EXPECT_TRUE(covers({"10.0.0.0/16"}, {"10.0.0.0/24"}));
  EXPECT_FALSE(covers({"10.0.0.0/28"}, {"10.0.0.0/24"}));
  EXPECT_TRUE(covers({"10.0.0.0/24"}, {"10.0.0.0/24", "10.0.0.64/26"}));
  EXPECT_TRUE(covers({"10.0.0.0/24", "10.9.0.0/24"}, {"10.9.0.0/28", "10.0.0.4/30"}));
  EXPECT_FALSE(covers({"10.0.0.0/25", "10.0.0.128/25"}, {"10.0.0.0/24"}))
      << "10.0.0.127 and .128 are not covered";
  EXPECT_TRUE(
      covers({"10.0.0.0/25", "10.0.0.128/25", "10.0.0.120/29", "10.0.0.64/26", "10.0.0.0/24"},
             {"10.0.0.0/24"}));
  EXPECT_TRUE(covers({}, {}));
  EXPECT_TRUE(covers({"10.0.0.0/24"}, {}));
  EXPECT_TRUE(covers({}, {"10.0.0.0/32"})) << "it has no usable value";
  EXPECT_FALSE(covers({}, {"10.0.0.0/30"}));
  EXPECT_FALSE(covers({"10.1.0.0/24"}, {"10.0.0.0/24"}));
}

TEST(CoversAll, RangesThatMeetCoverWhatCrossesTheirBorder) {
  const auto row = [](const std::string& ports) {
    return RangeRow{.name = ports, .text = ports, .layout = *LayoutOf(*ip::ParsePortRange(ports))};
  };
  EXPECT_TRUE(CoversAll({row("200-300"), row("100-199")}, {row("150-250")}));
  EXPECT_FALSE(CoversAll({row("200-300"), row("100-198")}, {row("150-250")}));
  EXPECT_TRUE(CoversAll({row("1-65535")}, {row("0-65535")}));
}

TEST(CoversAll, HolesAreNotCovered) {
  EXPECT_TRUE(CoversAll(Rows({"::/64"}), Rows({"::/64"})));
  EXPECT_FALSE(CoversAll(Rows({"::1:0:0/96"}), Rows({"::/64"})));
  // A range that lies wholly in a hole has no usable value.
  EXPECT_TRUE(CoversAll(Rows({"fd00::/64"}), Rows({"::/112"})));
  // The network address of a range is covered by a wider range that contains it.
  EXPECT_FALSE(CoversAll(Rows({"10.0.1.0/24"}), Rows({"10.0.0.0/16"})));
}

TEST(CoversAll, AThousandRows) {
  std::vector<RangeRow> many;
  std::vector<RangeRow> fewer;
  for (int i = 0; i < 1000; ++i) {
    const std::string net = "10." + std::to_string(i / 250) + "." + std::to_string(i % 250) + ".";
    many.push_back(Row(net + "0/24"));
    if (i != 777) fewer.push_back(Row(net + "0/24"));
    fewer.push_back(Row(net + "64/26"));
  }
  EXPECT_TRUE(CoversAll(many, fewer));
  EXPECT_FALSE(CoversAll(fewer, many));
}

}  // namespace
}  // namespace berth::alloc
