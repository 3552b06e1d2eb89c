#include "berth/inspect/forecast_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "berth/inspect/forecast_document.h"
#include "berth/text.h"
#include "codec/json.h"
#include "inspect/testing/small_cluster.h"

namespace berth::cli {
namespace {

using inspect::SmallCluster;
using testing::HasSubstr;

inspect::Cluster GrowingCluster() {
  SmallCluster builder;
  builder.Range("10.96.0.0/24").Range("30000-32767");
  builder.Add({.name = "kubernetes", .values = {"10.96.0.1"}, .created = "2026-01-01T00:00:00Z"});
  for (int i = 0; i < 56; ++i) {
    const int day = 21 + i / 2;
    builder.Add({.name = "web-" + std::to_string(10 + i),
                 .values = {"10.96.0." + std::to_string(100 + i)},
                 .created = fmt::format("2026-{}-{:02}T18:00:00Z", day > 31 ? 11 : 10,
                                        day > 31 ? day - 31 : day)});
  }
  return builder.Finish();
}

std::string ForecastOf(const inspect::ForecastOptions& options, const std::string& add,
                       const Style& style) {
  const inspect::Cluster cluster = GrowingCluster();
  const inspect::Census census(cluster);
  return ForecastText(cluster, inspect::MakeForecast(census, options).value(), add, style);
}

TEST(ForecastTextTest, ShowsWhenRangesAreFullAndWhatIf) {
  EXPECT_EQ(
      ForecastOf({.range = "10.96.0.0/24", .add = 10, .resize = {"10.96.0.0/23", "10.96.0.0/28"}},
                 "10/day", {.width = 80}),
      R"(test.json   2026-11-18 12:00:00 UTC

10.96.0.0/24   57 of 254 used   ####................   22.4%
  Growth        +2/day (+1.6/day to +2.5/day), by creation times of the last 28
                days
  Dynamic full  in about 3 months, on 2027-02-17 (earliest 2027-01-30, latest
                2027-03-12)
  Range full    in about 3 months, on 2027-02-25 (earliest 2027-02-04, latest
                2027-03-22)

  With 10/day more
  Growth        +12/day (+12/day to +13/day), by creation times of the last 28
                days
  Dynamic full  in about 15 days, on 2026-12-03 (earliest 2026-12-03, latest
                2026-12-04)
  Range full    in about 16 days, on 2026-12-04 (earliest 2026-12-04, latest
                2026-12-05)

  As 10.96.0.0/23, with 10/day more
  Values        510 usable, 453 free, 422 of them dynamic
  Growth        +12/day (+12/day to +13/day), by creation times of the last 28
                days
  Dynamic full  in about 35 days, on 2026-12-23 (earliest 2026-12-22, latest
                2026-12-24)
  Range full    in about 38 days, on 2026-12-26 (earliest 2026-12-24, latest
                2026-12-27)
  In the way    no value in use lies outside

  As 10.96.0.0/28, with 10/day more
  Values        14 usable, 13 free, 13 of them dynamic
  Growth        +12/day (+12/day to +13/day), by creation times of the last 28
                days
  Dynamic full  in about 26 hours, on 2026-11-19
  Range full    in about 26 hours, on 2026-11-19
  In the way    56 values in use lie outside: 10.96.0.100 of shop/web-10,
                10.96.0.101 of shop/web-11, 10.96.0.102 of shop/web-12,
                10.96.0.103 of shop/web-13, 10.96.0.104 of shop/web-14, ...;
                berth blockers lists all

Rates come from the creation times of the Services that exist now. They are a
lower bound on how many are created, because deleted Services are not seen, and
the net growth is less where older Services were deleted meanwhile.
)");
}

TEST(ForecastTextTest, NoLineIsWiderThanTheTerminal) {
  for (const size_t width : {40U, 60U, 80U, 120U}) {
    std::istringstream lines(ForecastOf({.add = 10, .resize = {"10.96.0.0/28"}}, "10/day",
                                        {.utf8 = true, .width = width}));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(DisplayWidth(line), width) << line;
    }
  }
}

TEST(ForecastTextTest, SaysWhatTheSourceDoesNotShow) {
  inspect::Cluster cluster = GrowingCluster();
  cluster.gaps.push_back({.what = "jane may not list ipaddresses", .advice = "allow it"});
  const inspect::Census census(cluster);
  const inspect::ForecastView view = inspect::MakeForecast(census, {}).value();
  const std::string text = ForecastText(cluster, view, "", {});
  EXPECT_THAT(text, HasSubstr("jane may not list ipaddresses\n    -> allow it\n"));
  EXPECT_THAT(
      codec::WriteJson(ForecastDocument(cluster, view)),
      HasSubstr(R"("gaps":[{"what":"jane may not list ipaddresses","advice":"allow it"}])"));
}

TEST(ForecastDocumentTest, HasEveryScenario) {
  const inspect::Cluster cluster = GrowingCluster();
  const inspect::Census census(cluster);
  const std::string text = codec::WriteJson(ForecastDocument(
      cluster,
      inspect::MakeForecast(census, {.range = "10.96.0.0/24", .add = 3, .resize = {"10.96.0.0/28"}})
          .value()));
  EXPECT_THAT(text, HasSubstr(R"("kind":"Forecast")"));
  EXPECT_THAT(text, HasSubstr(R"("addedPerDay":3.0)"));
  EXPECT_THAT(text, HasSubstr(R"("now":{"usable":254,"usableText":"254","free":197)"));
  EXPECT_THAT(text, HasSubstr(R"("withAdded":{"usable":254)"));
  EXPECT_THAT(text, HasSubstr(R"("resized":[{"range":"10.96.0.0/28")"));
  EXPECT_THAT(text, HasSubstr(R"("blockerCount":56)"));
}

}  // namespace
}  // namespace berth::cli
