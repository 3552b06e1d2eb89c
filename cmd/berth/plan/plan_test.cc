#include "berth/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace berth::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Plans a range that must be valid.
RangePlan Planned(std::string_view text, std::optional<U128> static_band = {}) {
  base::Result<RangePlan> plan = PlanRange(text, static_band);
  EXPECT_TRUE(plan.has_value()) << text << ": " << (plan ? "" : plan.error().message);
  return plan.value_or(RangePlan{});
}

std::string Problem(std::string_view text, std::optional<U128> static_band = {}) {
  const base::Result<RangePlan> plan = PlanRange(text, static_band);
  return plan ? "" : plan.error().message;
}

std::string BandText(const RangePlan& range, const BandPlan& band) {
  if (!band.span) return "none";
  return ValueText(range.kind, band.span->first) + " " + ValueText(range.kind, band.span->last) +
         " " + base::ToDecimal(band.usable);
}

TEST(PlanTest, SplitsRangesAsKubernetesDoes) {
  struct Row {
    std::string_view range;
    ValueKind kind;
    std::string_view size;
    std::string_view static_band;
    std::string_view dynamic_band;
  };
  const std::vector<Row> rows = {
      {"10.96.0.0/16", ValueKind::kIpv4, "65536", "10.96.0.1 10.96.1.0 256",
       "10.96.1.1 10.96.255.254 65278"},
      {"fd00:10:96::/112", ValueKind::kIpv6, "65536", "fd00:10:96::1 fd00:10:96::100 256",
       "fd00:10:96::101 fd00:10:96::ffff 65279"},
      {"30000-32767", ValueKind::kNodePort, "2768", "30000 30085 86", "30086 32767 2682"},
      {"30000+2767", ValueKind::kNodePort, "2768", "30000 30085 86", "30086 32767 2682"},
      {"2001:db8::/48", ValueKind::kIpv6, "1208925819614629174706176",
       "2001:db8::1 2001:db8::100 256",
       "2001:db8::101 2001:db8:0:ffff:ffff:ffff:ffff:ffff 1208925819614629174705919"},
      {"10.0.0.0/27", ValueKind::kIpv4, "32", "10.0.0.1 10.0.0.16 16", "10.0.0.17 10.0.0.30 14"},
      {"30000-30015", ValueKind::kNodePort, "16", "none", "30000 30015 16"},
      {"30080", ValueKind::kNodePort, "1", "none", "30080 30080 1"},
      {"0-16", ValueKind::kNodePort, "17", "1 16 16", "none"},
      {"10.0.0.0/31", ValueKind::kIpv4, "2", "none", "none"},
      {"::/0", ValueKind::kIpv6, "340282366920938463463374607431768211456", "none",
       "::1:0:0 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 340282366920938463463374607423178276864"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.range);
    const RangePlan plan = Planned(row.range);
    EXPECT_EQ(plan.kind, row.kind);
    EXPECT_EQ(plan.size_decimal, row.size);
    EXPECT_EQ(BandText(plan, plan.static_band), row.static_band);
    EXPECT_EQ(BandText(plan, plan.dynamic_band), row.dynamic_band);
  }
}

TEST(PlanTest, SaysWhyABandIsEmpty) {
  EXPECT_EQ(Planned("10.0.0.0/28").static_band.why_empty, EmptyReason::kTooFewValues);
  EXPECT_EQ(Planned("30000-30015").static_band.why_empty, EmptyReason::kTooFewValues);
  EXPECT_EQ(Planned("0.0.0.0/0").static_band.why_empty, EmptyReason::kWidePrefix);
  EXPECT_EQ(Planned("8000::/1").static_band.why_empty, EmptyReason::kWidePrefix);
  EXPECT_EQ(Planned("10.0.0.0/8", 0).static_band.why_empty, EmptyReason::kAskedFor);
  EXPECT_EQ(Planned("10.0.0.0/31").static_band.why_empty, EmptyReason::kNothingUsable);
  EXPECT_EQ(Planned("10.0.0.0/31").dynamic_band.why_empty, EmptyReason::kNothingUsable);
  EXPECT_EQ(Planned("10.0.0.0/24", 254).dynamic_band.why_empty, EmptyReason::kStaticBandTakesAll);
  EXPECT_EQ(Planned("10.0.0.0/24").static_band.why_empty, std::nullopt);
}

TEST(PlanTest, KnowsWhereCustomaryAddressesLie) {
  const RangePlan large = Planned("10.96.0.0/16");
  EXPECT_EQ(ValueText(large.kind, large.first->value.value()), "10.96.0.1");
  EXPECT_EQ(ValueText(large.kind, large.tenth->value.value()), "10.96.0.10");
  EXPECT_EQ(large.tenth->band, alloc::Band::kStatic);

  const RangePlan small = Planned("10.0.0.0/29");
  EXPECT_EQ(small.first->band, alloc::Band::kDynamic);
  EXPECT_EQ(small.tenth->value, std::nullopt);
  EXPECT_EQ(small.tenth->why_not, "the range has no such address");

  const RangePlan unusable = Planned("10.0.0.0/31");
  EXPECT_EQ(unusable.first->band, std::nullopt);
  EXPECT_EQ(unusable.first->why_not, "broadcast address");

  EXPECT_EQ(Planned("fd00::/112", 5).tenth->band, alloc::Band::kDynamic);
  EXPECT_FALSE(Planned("30000-32767").first.has_value());
}

TEST(PlanTest, TheStaticBandCanBeChosen) {
  const RangePlan plan = Planned("30000-32767", 1000);
  EXPECT_EQ(BandText(plan, plan.static_band), "30000 30999 1000");
  EXPECT_EQ(Problem("10.0.0.0/24", 255),
            "\"10.0.0.0/24\": a static band of 255 does not fit: the range has 254 usable values");
}

TEST(PlanTest, HolesAreNotCountedInABand) {
  // ::ffff:0:0/96 is inside ::/64, so a static band as large as this spans it.
  const RangePlan plan = Planned("::/64", base::MakeU128(0, uint64_t{1} << 60));
  EXPECT_EQ(plan.static_band.usable, (U128{1} << 60) - (U128{1} << 32));
  EXPECT_EQ(plan.static_band.usable + plan.dynamic_band.usable, plan.layout.Usable());
}

TEST(PlanTest, ProblemsNameTheRangeAndWhatToDo) {
  EXPECT_EQ(Problem("10.0.0.1/16"),
            "\"10.0.0.1/16\": must not have bits set beyond the prefix length; did you mean "
            "10.0.0.0/16?");
  EXPECT_EQ(Problem("0-70000"),
            "\"0-70000\": the port range cannot be greater than 65535: 0-70000");
  EXPECT_EQ(Problem("FD00::/112"), "\"FD00::/112\": must be in canonical form (\"fd00::/112\")");
  EXPECT_THAT(Problem("010.0.0.0/8"), HasSubstr("leading 0s"));
  EXPECT_THAT(Problem("010.0.0.0/8"), HasSubstr("did you mean 10.0.0.0/8?"));
  EXPECT_THAT(Problem("10.96.0.10"), HasSubstr("as in 10.96.0.0/16"));
  EXPECT_THAT(Problem("fd00::5"), HasSubstr("as in fd00::/112"));
  EXPECT_THAT(Problem("10.0.0.0/33"), HasSubstr("must be a valid CIDR value"));
  EXPECT_THAT(Problem("5-4"), HasSubstr("end port cannot be less than start port"));
  EXPECT_THAT(Problem("10.0.0.0/8,fd00::/112"), HasSubstr("a separate argument"));
  for (const std::string_view text : {"", " ", "foo", "1-", "-1", "1-2+3", "\x1b[31m"}) {
    EXPECT_THAT(Problem(text), HasSubstr("must be a CIDR such as 10.96.0.0/16 or a port range"));
  }
  EXPECT_EQ(Problem("\x1b[31m").find('\x1b'), std::string::npos);
}

TEST(PlanTest, EveryBadRangeIsReported) {
  const auto plan = PlanRanges({"10.0.0.0/8", "foo", "10.0.0.0/8", "5-4"});
  ASSERT_FALSE(plan.has_value());
  EXPECT_THAT(plan.error(), ElementsAre(HasSubstr("\"foo\""), HasSubstr("\"5-4\"")));
}

TEST(PlanTest, RangesMayRepeatAndOverlap) {
  const auto plan = PlanRanges({"10.0.0.0/8", "10.0.0.0/8", "10.1.0.0/16"});
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->ranges.size(), 3u);
}

TEST(PlanTest, AdviceSaysWhatIsSafe) {
  EXPECT_EQ(Advice(Planned("30000-32767")),
            "Safe to hard-code: 30000 to 30085; a dynamic request takes one of these only when the "
            "dynamic band is full.");
  EXPECT_EQ(Advice(Planned("30000-30015")),
            "A range of 16 values or fewer has no static band, so any value may be picked "
            "dynamically and none is safe to hard-code without reserving it.");
  EXPECT_EQ(Advice(Planned("10.0.0.0/31")),
            "Nothing in 10.0.0.0/31 can be allocated: it has no usable value (10.0.0.0: network "
            "address; 10.0.0.1: broadcast address).");
  EXPECT_THAT(Advice(Planned("0.0.0.0/0")), HasSubstr("prefix length of 0 or 1"));
  EXPECT_THAT(Advice(Planned("10.0.0.0/8", 0)), HasSubstr("--static-band 0"));
  EXPECT_THAT(Advice(Planned("10.0.0.0/24", 254)), HasSubstr("There is no dynamic band"));
  EXPECT_THAT(Advice(Planned("10.0.0.0/24", 1)), HasSubstr("hard-code: 10.0.0.1; a dynamic request "
                                                           "takes it only"));
  EXPECT_THAT(Advice(Planned("::/112")), HasSubstr(":: to ::ffff: in ::/96"));
}

}  // namespace
}  // namespace berth::cli
