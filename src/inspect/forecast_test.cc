#include "inspect/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspect/testing/small_cluster.h"

namespace berth::inspect {
namespace {

using testing::HasSubstr;

std::string ErrorOf(const Census& census, const ForecastOptions& options) {
  const auto view = MakeForecast(census, options);
  return view ? "" : view.error().message;
}

TEST(ForecastTest, MoreValuesAreFullEarlier) {
  const Cluster cluster =
      SmallCluster()
          .Range("10.96.0.0/24")
          .Add({.name = "a", .values = {"10.96.0.1"}, .created = "2020-01-01T00:00:00Z"})
          .Finish();
  const Census census(cluster);
  const auto view = MakeForecast(census, {.range = "10.96.0.0/24", .add = 2.0});
  ASSERT_TRUE(view.has_value());
  ASSERT_EQ(view->ranges.size(), 1U);
  EXPECT_FALSE(view->ranges[0].now.full.likely.has_value());
  ASSERT_TRUE(view->ranges[0].with_added.has_value());
  EXPECT_DOUBLE_EQ(view->ranges[0].with_added->full.likely.value(), 253 / 2.0);
  EXPECT_DOUBLE_EQ(view->ranges[0].with_added->dynamic_full.likely.value(), 238 / 2.0);
}

TEST(ForecastTest, AnotherSizeNamesWhatIsInTheWay) {
  const Cluster cluster = SmallCluster().Range("10.96.0.0/24").Row(10, 29).Finish();
  const Census census(cluster);
  const auto view = MakeForecast(census, {.resize = {"10.96.0.0/28", "10.96.0.0/20"}});
  ASSERT_TRUE(view.has_value());
  const std::vector<Resized>& resized = view->ranges[0].resized;
  ASSERT_EQ(resized.size(), 2U);
  EXPECT_EQ(resized[0].outlook.usable, 14U);
  EXPECT_EQ(resized[0].outlook.free, 9U);
  EXPECT_EQ(resized[0].blockers, 15U);
  ASSERT_EQ(resized[0].first_blockers.size(), kBlockersShown);
  EXPECT_EQ(resized[0].first_blockers[0].value, "10.96.0.15");
  EXPECT_EQ(resized[0].first_blockers[0].service, "shop/s1015");
  EXPECT_EQ(resized[1].outlook.usable, 4094U);
  EXPECT_EQ(resized[1].blockers, 0U);
}

TEST(ForecastTest, AValueOfAnotherRangeIsNotInTheWay) {
  const Cluster cluster =
      SmallCluster().Range("10.96.0.0/24").Range("10.96.0.0/16").Row(100, 100).Finish();
  const Census census(cluster);
  const auto view = MakeForecast(census, {.range = "10.96.0.0/24", .resize = {"10.96.0.0/28"}});
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->ranges[0].resized[0].blockers, 0U);
}

TEST(ForecastTest, OwnRulesOfARangeStay) {
  const Cluster cluster =
      SmallCluster().IpRange(R"({"range":"10.96.0.0/24","staticBand":100,"strict":true})").Finish();
  const Census census(cluster);
  const auto view = MakeForecast(census, {.resize = {"10.96.0.0/23"}});
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->ranges[0].resized[0].outlook.dynamic_free, 410U);
}

TEST(ForecastTest, ErrorsSayWhatToDo) {
  const Cluster cluster =
      SmallCluster().Range("10.96.0.0/24").Range("10.97.0.0/24").Row(1, 1).Finish();
  const Census census(cluster);
  EXPECT_THAT(ErrorOf(census, {.range = "x"}),
              HasSubstr("--range \"x\": there is no such range; the ranges are 10.96.0.0/24, "
                        "10.97.0.0/24, 30000-32767"));
  EXPECT_THAT(ErrorOf(census, {.resize = {"10.96.0.0/8"}}), HasSubstr("must not have bits set"));
  EXPECT_THAT(ErrorOf(census, {.resize = {"10.0.0.0/8"}}),
              HasSubstr("it could replace 10.96.0.0/24 or 10.97.0.0/24; choose one with --range"));
  EXPECT_THAT(ErrorOf(census, {.resize = {"fd00::/64"}}), HasSubstr("there is no IPv6 range"));
  EXPECT_THAT(ErrorOf(census, {.resize = {"abc"}}), HasSubstr("--resize \"abc\""));
  EXPECT_THAT(ErrorOf(census, {.resize = {"10.96.0.0/32"}}), HasSubstr("no usable value"));
  EXPECT_EQ(ErrorOf(census, {.range = "10.96.0.0/24", .resize = {"10.0.0.0/8"}}), "");
}

}  // namespace
}  // namespace berth::inspect
