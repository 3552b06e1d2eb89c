#include "berth/inspect/past_source.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/temp_dir.h"
#include "berth/inspect/forecast_document.h"
#include "berth/inspect/forecast_text.h"
#include "berth/inspect/value_text.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "history/history.h"
#include "inspect/forecast.h"
#include "inspect/testing/small_cluster.h"

namespace berth::cli {
namespace {

using inspect::SmallCluster;
using std::chrono::hours;
using testing::HasSubstr;
using testing::Not;

/// A history as `berth observe --once` records it from cron.
class PastSourceTest : public testing::Test {
 protected:
  PastSourceTest() {
    clock_.Advance(SmallCluster::At("2026-11-01T00:00:00Z").time_since_epoch());
    history_ = history::History::Open({.directory = dir_.Path()}, clock_, log_).value();
  }

  /// Looks at a cluster of so many Services, and then not for six hours.
  void Look(unsigned services) {
    history_->BeginList();
    for (unsigned i = 0; i < services; ++i) {
      history_->Put({.owner = {.name_space = "shop", .name = fmt::format("s{}", i), .uid = "u"},
                     .holds = {{.value = inspect::ValueOf(fmt::format("10.96.0.{}", 20 + i))}}});
    }
    history_->EndList(0);
    history_->Lost();
    clock_.Advance(hours(6));
  }

  history::HistoryReader Reader() {
    EXPECT_TRUE(history_->Flush());
    return history::HistoryReader::Open(dir_.Path()).value();
  }

  /// Returns the cluster of now, whose Services are all old.
  inspect::Cluster Now(unsigned services) const {
    SmallCluster cluster(codec::FormatTime(clock_.Now()));
    cluster.Range("10.96.0.0/24");
    for (unsigned i = 0; i < services; ++i) {
      cluster.Add({.name = fmt::format("s{}", i),
                   .values = {fmt::format("10.96.0.{}", 20 + i)},
                   .created = "2026-01-01T00:00:00Z"});
    }
    return cluster.Finish();
  }

  const base::TempDir dir_{base::TempDir::Medium::kMemory};
  base::ManualClock clock_;
  base::Logger log_{{.minimum = base::LogLevel::kError}, clock_};
  std::unique_ptr<history::History> history_;
};

TEST_F(PastSourceTest, LooksFromCronTellTheGrowth) {
  for (unsigned look = 0; look < 80; ++look) Look(20 + look * 5 / 4);  // Five more every day.
  const auto reader = Reader();
  const inspect::Cluster cluster = Now(118);
  const inspect::Census census(cluster);
  const auto view = inspect::MakeForecast(
      census, {.range = "10.96.0.0/24", .given_history = true, .history = PastUse(reader, census)});
  const inspect::Growth& growth = view->ranges.front().now.growth;
  EXPECT_EQ(growth.basis, inspect::GrowthBasis::kHistory);
  EXPECT_NEAR(growth.likely, 5, 0.2);
  // The last look counts, not only those of full days.
  EXPECT_NEAR(growth.days, 19.75, 0.01);
  EXPECT_THAT(ForecastText(cluster, *view, "", {.width = 120}), Not(HasSubstr("it was not used")));
}

TEST_F(PastSourceTest, AHistoryThatIsTooShortIsSaid) {
  for (unsigned look = 0; look < 4; ++look) Look(20 + look);
  const auto reader = Reader();
  const inspect::Cluster cluster = Now(24);
  const inspect::Census census(cluster);
  const auto view = inspect::MakeForecast(
      census, {.range = "10.96.0.0/24", .given_history = true, .history = PastUse(reader, census)});
  EXPECT_EQ(view->ranges.front().now.growth.basis, inspect::GrowthBasis::kCreationTimes);
  EXPECT_THAT(ForecastText(cluster, *view, "", {.width = 120}), HasSubstr("it was not used"));
  const codec::Value document = ForecastDocument(cluster, *view);
  EXPECT_FALSE(codec::BoolAt(document.Find("ranges")->AsArray()->front(), "historyUsed"));
}

TEST_F(PastSourceTest, WhatTheHistoryDoesNotKnowIsShown) {
  Look(1);
  Look(0);
  Look(0);
  const auto reader = Reader();
  const inspect::Cluster cluster = Now(0);
  const inspect::Census census(cluster);
  const auto text = [&](const char* value) {
    std::istringstream words(ValueAnswerText(
        census, inspect::AskValue(census, inspect::ValueOf(value), PastOwners(reader)),
        Paint({.width = 100})));
    std::string line;
    for (std::string word; words >> word;) line += word + " ";
    return line;
  };
  EXPECT_THAT(text("10.96.0.20"),
              HasSubstr("shop/s0 from 2026-11-01T00:00:00Z or earlier, until between "
                        "2026-11-01T00:00:00Z and 2026-11-01T06:00:00Z"));
  EXPECT_THAT(text("10.96.0.99"),
              HasSubstr("nobody is known to have had it; the history begins at "
                        "2026-11-01T00:00:00Z and has 2 gaps, in which owners may have been "
                        "missed; its last look was at 2026-11-01T12:00:00Z"));
}

}  // namespace
}  // namespace berth::cli
