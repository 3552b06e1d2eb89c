// AddUsage: sorts values in use into ranges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "berth/plan/plan.h"

namespace berth::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Plans ranges with a list of used values. All must be valid.
Plan Planned(const std::vector<std::string>& ranges, std::string_view list,
             std::optional<U128> static_band = {}) {
  auto plan = PlanRanges(ranges, static_band);
  base::Result<Used> used = ReadUsed(list);
  EXPECT_TRUE(plan.has_value() && used.has_value());
  if (!plan || !used) return {};
  AddUsage(*plan, *std::move(used));
  return *std::move(plan);
}

std::vector<std::string> Values(const BandUsage& band) {
  std::vector<std::string> texts;
  for (const UsedValue& value : band.values) texts.push_back(ValueText(value.kind, value.value));
  return texts;
}

std::vector<std::string> Gaps(const RangePlan& range, const BandUsage& band) {
  std::vector<std::string> texts;
  for (const alloc::Interval& run : band.free_runs) {
    texts.push_back(ValueText(range.kind, run.first) + "-" + ValueText(range.kind, run.last));
  }
  return texts;
}

TEST(UsageTest, SortsValuesIntoBands) {
  const Plan plan = Planned({"10.0.0.0/24"}, "10.0.0.20\n10.0.0.1\n10.0.0.16\n10.0.0.17\n");
  const RangeUsage& usage = *plan.ranges[0].usage;
  EXPECT_THAT(Values(usage.static_band), ElementsAre("10.0.0.1", "10.0.0.16"));
  EXPECT_THAT(Values(usage.dynamic_band), ElementsAre("10.0.0.17", "10.0.0.20"));
  EXPECT_EQ(usage.static_band.used, 2u);
  EXPECT_EQ(usage.static_band.free, 14u);
  EXPECT_EQ(usage.dynamic_band.Total(), 238u);
  EXPECT_DOUBLE_EQ(usage.static_band.Percent(), 12.5);
  EXPECT_EQ(plan.used->values, 4u);
  EXPECT_EQ(plan.used->twice, 0u);
}

TEST(UsageTest, GapsEndAtTheBorderOfTheBands) {
  const Plan plan = Planned({"10.0.0.0/24"}, "10.0.0.1\n10.0.0.3\n10.0.0.254");
  const RangePlan& range = plan.ranges[0];
  EXPECT_THAT(Gaps(range, range.usage->static_band),
              ElementsAre("10.0.0.2-10.0.0.2", "10.0.0.4-10.0.0.16"));
  EXPECT_THAT(Gaps(range, range.usage->dynamic_band), ElementsAre("10.0.0.17-10.0.0.253"));
}

TEST(UsageTest, KeepsAllOwnersOfAValueUsedTwice) {
  const Plan plan = Planned({"30000-32767"}, "30001 a\n30002\n30001 b\n30001");
  const std::vector<UsedValue>& values = plan.ranges[0].usage->static_band.values;
  ASSERT_EQ(values.size(), 2u);
  EXPECT_TRUE(values[0].Twice());
  EXPECT_FALSE(values[1].Twice());
  ASSERT_EQ(values[0].uses.size(), 3u);
  EXPECT_EQ(values[0].uses[1].owner, "b");
  EXPECT_EQ(values[0].uses[2].line, 4u);
  EXPECT_EQ(plan.used->twice, 1u);
  EXPECT_EQ(plan.ranges[0].usage->static_band.used, 2u);
}

TEST(UsageTest, KnowsWhyAValueIsInNoRange) {
  const Plan plan =
      Planned({"10.0.0.0/24", "30000-32767"}, "10.0.0.0 a\n10.0.0.255\n10.0.1.1\n80\n10.0.0.9");
  std::vector<std::string> outside;
  for (const auto& [value, why] : plan.used->outside) {
    outside.push_back(ValueText(value.kind, value.value) + " " + why);
  }
  EXPECT_THAT(outside, ElementsAre("10.0.0.0 10.0.0.0/24: network address",
                                   "10.0.0.255 10.0.0.0/24: broadcast address",
                                   "10.0.1.1 in none of the ranges", "80 in none of the ranges"));
}

TEST(UsageTest, AValueIsInsideWhenAnyRangeCanGiveItOut) {
  const Plan plan = Planned({"10.0.0.0/24", "10.0.0.0/16"}, "10.0.0.255\n10.0.0.5");
  EXPECT_THAT(plan.used->outside, IsEmpty());
  EXPECT_EQ(plan.ranges[0].usage->static_band.used, 1u);
  EXPECT_EQ(plan.ranges[1].usage->static_band.used, 2u);
}

TEST(UsageTest, OnlyCountsKindsWithoutARange) {
  const Plan plan = Planned({"fd00::/112"}, "10.0.0.1\n10.0.0.1\n10.0.0.2\n30000\nfd00::1");
  ASSERT_EQ(plan.used->unchecked.size(), 2u);
  EXPECT_EQ(plan.used->unchecked[0].kind, ValueKind::kIpv4);
  EXPECT_EQ(plan.used->unchecked[0].values, 2u);
  EXPECT_EQ(plan.used->unchecked[1].kind, ValueKind::kNodePort);
  EXPECT_EQ(plan.used->unchecked[1].values, 1u);
  EXPECT_EQ(plan.used->twice, 0u);
  EXPECT_THAT(plan.used->outside, IsEmpty());
}

TEST(UsageTest, ARangeWithNothingUsableHasNoUsage) {
  const Plan plan = Planned({"10.0.0.0/31"}, "10.0.0.1");
  EXPECT_EQ(plan.ranges[0].usage->dynamic_band.Total(), 0u);
  EXPECT_EQ(plan.ranges[0].usage->dynamic_band.Percent(), 0);
  ASSERT_EQ(plan.used->outside.size(), 1u);
  EXPECT_EQ(plan.used->outside[0].why, "10.0.0.0/31: broadcast address");
}

TEST(UsageTest, HolesAreNeitherUsedNorFree) {
  const Plan plan = Planned({"::/64"}, "::1\n::1:0:5");
  const RangePlan& range = plan.ranges[0];
  EXPECT_EQ(range.usage->dynamic_band.Total(), range.dynamic_band.usable);
  EXPECT_THAT(Gaps(range, range.usage->dynamic_band),
              ElementsAre("::1:0:100-::fffe:ffff:ffff", "::1:0:0:0-::ffff:ffff:ffff:ffff"));
  ASSERT_EQ(plan.used->outside.size(), 1u);
  EXPECT_THAT(plan.used->outside[0].why, HasSubstr("in ::/96"));
}

TEST(UsageTest, AdviceKnowsWhatIsFree) {
  EXPECT_THAT(Advice(Planned({"10.0.0.0/24"}, "10.0.0.1").ranges[0]),
              HasSubstr(" 15 of them are free, the first is 10.0.0.2."));
  EXPECT_THAT(Advice(Planned({"10.0.0.0/24"}, "10.0.0.1", 1).ranges[0]),
              HasSubstr(" All of them are in use."));
  EXPECT_THAT(Advice(Planned({"10.0.0.0/24"}, "10.0.0.1", 2).ranges[0]),
              HasSubstr(" One of them is free: 10.0.0.2."));
}

TEST(UsageTest, AdviceWarnsWhenTheDynamicBandIsFull) {
  const std::string advice = Advice(Planned({"30000-30003"}, "30003", 3).ranges[0]);
  EXPECT_THAT(advice, HasSubstr("The dynamic band is full"));
  EXPECT_THAT(advice, HasSubstr("(30000 to 30002)"));
}

/// The used and free values and the gaps must add up, whatever values are in use.
RC_GTEST_PROP(UsageTest, NumbersAddUp, (const std::vector<uint8_t>& hosts)) {
  std::string list;
  for (const uint8_t host : hosts) list += "10.0.0." + std::to_string(host) + "\n";
  const Plan plan = Planned({"10.0.0.0/24"}, list);
  const RangePlan& range = plan.ranges[0];
  size_t values = plan.used->outside.size();
  for (const auto& [band, usage] : {std::pair(&range.static_band, &range.usage->static_band),
                                    std::pair(&range.dynamic_band, &range.usage->dynamic_band)}) {
    RC_ASSERT(usage->used == usage->values.size());
    RC_ASSERT(usage->Total() == band->usable);
    U128 free = 0;
    for (const alloc::Interval& run : usage->free_runs) free += run.Size();
    RC_ASSERT(free == usage->free);
    values += usage->values.size();
  }
  RC_ASSERT(values == plan.used->values);
}

}  // namespace
}  // namespace berth::cli
