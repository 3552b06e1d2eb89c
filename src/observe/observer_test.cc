#include "observe/observer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "base/temp_dir.h"
#include "codec/json.h"
#include "codec/timestamp.h"
#include "history/history_reader.h"
#include "inspect/cluster_reader.h"
#include "observe/observer_metrics.h"

namespace berth::observe {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

codec::Value Json(const std::string& text) { return codec::ParseJson(text).value(); }

codec::Value ServiceObject(const std::string& name, const std::string& address) {
  return Json(R"({"apiVersion":"v1","kind":"Service","metadata":{"namespace":"shop","name":")" +
              name + R"(","uid":"uid-)" + name + R"("},"spec":{"clusterIP":")" + address +
              R"(","clusterIPs":[")" + address + R"("]}})");
}

codec::Value AddressObject(const std::string& address, const std::string& service) {
  return Json(R"({"apiVersion":"networking.k8s.io/v1","kind":"IPAddress","metadata":{"name":")" +
              address + R"(","labels":{"ipaddress.kubernetes.io/managed-by":)" +
              R"("ipallocator.k8s.io"}},"spec":{"parentRef":{"group":"","resource":"services",)" +
              R"("namespace":"shop","name":")" + service + R"("}}})");
}

codec::Value CidrObject(const std::string& name, const std::string& cidr) {
  return Json(R"({"apiVersion":"networking.k8s.io/v1","kind":"ServiceCIDR","metadata":{"name":")" +
              name + R"("},"spec":{"cidrs":[")" + cidr + R"("]}})");
}

class ObserverTest : public testing::Test {
 protected:
  ObserverTest() {
    clock_.Advance(codec::ParseTime("2026-01-02T03:00:00Z")->time_since_epoch());
    history_ = history::History::Open({.directory = dir_.Path()}, clock_, log_).value();
    observer_.emplace(ClusterOutline{.kinds = {WatchedKind::kServices, WatchedKind::kAddresses,
                                               WatchedKind::kServiceCidrs},
                                     .keeps = audit::Keeps::kAddressesOnly},
                      *history_, clock_);
    AddObserverMetrics(*observer_, clock_, metrics_);
  }

  void List(WatchedKind kind, const std::vector<codec::Value>& objects, int64_t revision = 1) {
    observer_->BeginList(kind);
    for (const codec::Value& object : objects) observer_->Put(kind, object);
    observer_->EndList(kind, revision);
  }

  void ListAll() {
    List(WatchedKind::kServiceCidrs, {CidrObject("kubernetes", "10.96.0.0/24")});
    List(WatchedKind::kServices,
         {ServiceObject("web", "10.96.0.10"), ServiceObject("api", "10.96.0.200")});
    List(WatchedKind::kAddresses,
         {AddressObject("10.96.0.10", "web"), AddressObject("10.96.0.200", "api")});
  }

  std::string Scrape() {
    observer_->Refresh();
    return metrics_.Text();
  }
  static std::string Taken(const std::string& band, int count) {
    return R"(berth_observer_range_values{range="10.96.0.0/24",name="kubernetes",kind="ServiceCIDR",band=")" +
           band + R"(",state="taken"} )" + std::to_string(count);
  }

  const base::TempDir dir_{base::TempDir::Medium::kMemory};
  base::ManualClock clock_;
  base::Logger log_{{}, clock_};
  std::unique_ptr<history::History> history_;
  std::optional<Observer> observer_;
  obs::Metrics metrics_;
};

TEST_F(ObserverTest, GaugesFollowListsAndEvents) {
  EXPECT_THAT(Scrape(), Not(HasSubstr("berth_observer_range_values{")));
  ListAll();
  EXPECT_THAT(Scrape(), HasSubstr(Taken("static", 1)));
  EXPECT_THAT(Scrape(), HasSubstr(Taken("dynamic", 1)));
  observer_->Put(WatchedKind::kServices, ServiceObject("new", "10.96.0.201"));
  observer_->Remove(WatchedKind::kServices, ServiceObject("web", "10.96.0.10"));
  observer_->Remove(WatchedKind::kAddresses, AddressObject("10.96.0.10", "web"));
  EXPECT_THAT(Scrape(), HasSubstr(Taken("static", 0)));
  EXPECT_THAT(Scrape(), HasSubstr(Taken("dynamic", 2)));
  // A list replaces everything, and a range that is gone has no series.
  List(WatchedKind::kServices, {});
  List(WatchedKind::kAddresses, {});
  EXPECT_THAT(Scrape(), HasSubstr(Taken("dynamic", 0)));
  List(WatchedKind::kServiceCidrs, {CidrObject("other", "10.97.0.0/24")});
  EXPECT_THAT(Scrape(), Not(HasSubstr("10.96.0.0/24")));
}

TEST_F(ObserverTest, RangesOfFlagsAreReplaced) {
  ListAll();
  const auto ports = [](std::string_view text) {
    inspect::ClusterReader reader({});
    EXPECT_TRUE(reader.AddGivenRange(text, "a flag", true));
    return reader.view().ranges;
  };
  observer_->GiveRanges(ports("30000-30999"));
  EXPECT_THAT(Scrape(), HasSubstr(R"(range="30000-30999")"));
  observer_->GiveRanges(ports("30000-30700"));
  EXPECT_THAT(Scrape(),
              AllOf(HasSubstr(R"(range="30000-30700")"), Not(HasSubstr(R"(range="30000-30999")"))));
}

TEST_F(ObserverTest, TwoRangesOfOneCidrHaveDifferentSeries) {
  ListAll();
  List(WatchedKind::kServiceCidrs,
       {CidrObject("kubernetes", "10.96.0.0/24"), CidrObject("new", "10.96.0.0/24")});
  std::istringstream lines(Scrape());
  std::set<std::string> series;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line;
  }
}

TEST_F(ObserverTest, FindingsCountOnceTheyStay) {
  ListAll();
  observer_->Put(WatchedKind::kServices, ServiceObject("twin", "10.96.0.10"));
  observer_->Put(WatchedKind::kAddresses, AddressObject("10.96.0.77", "gone"));
  EXPECT_THAT(Scrape(), HasSubstr(R"(berth_observer_findings{kind="TwoOwners"} 0)"));
  const std::string second = Scrape();
  EXPECT_THAT(second, HasSubstr(R"(berth_observer_findings{kind="TwoOwners"} 1)"));
  EXPECT_THAT(observer_->figures()->messages.front(), HasSubstr("shop/twin"));
  // Kubernetes removes a record that a failed creation left after a minute.
  EXPECT_THAT(second, HasSubstr(R"(berth_observer_findings{kind="Orphan"} 0)"));
  clock_.Advance(seconds(59));
  EXPECT_THAT(Scrape(), HasSubstr(R"(berth_observer_findings{kind="Orphan"} 0)"));
  clock_.Advance(seconds(1));
  EXPECT_THAT(Scrape(), HasSubstr(R"(berth_observer_findings{kind="Orphan"} 1)"));
  observer_->Remove(WatchedKind::kServices, ServiceObject("twin", "10.96.0.10"));
  observer_->Remove(WatchedKind::kAddresses, AddressObject("10.96.0.77", "gone"));
  EXPECT_THAT(Scrape(), HasSubstr(R"(berth_observer_findings{kind="TwoOwners"} 0)"));
}

TEST_F(ObserverTest, StatusTellsLagAndTrouble) {
  List(WatchedKind::kServices, {}, 41);
  clock_.Advance(seconds(5));
  auto status = observer_->status();
  ASSERT_EQ(status.size(), 3U);
  EXPECT_TRUE(status[0].listed);
  EXPECT_FALSE(status[1].listed);
  EXPECT_EQ(status[0].lag, seconds(5));
  observer_->Seen(WatchedKind::kServices, 42);
  observer_->Lost(WatchedKind::kServices, "connection refused");
  status = observer_->status();
  EXPECT_EQ(status[0].lag, seconds(0));
  EXPECT_EQ(status[0].revision, 42);
  EXPECT_EQ(status[0].cuts, 1U);
  EXPECT_EQ(status[0].trouble, "connection refused");
}

TEST_F(ObserverTest, WhatHappensWhileTheWatchIsLostHasBounds) {
  ListAll();
  clock_.Advance(minutes(1));
  observer_->Seen(WatchedKind::kServices, 5);
  observer_->Lost(WatchedKind::kServices, "cut");
  clock_.Advance(minutes(9));
  List(WatchedKind::kServices, {ServiceObject("api", "10.96.0.200")});
  ASSERT_TRUE(history_->Flush());
  const auto past = history::HistoryReader::Open(dir_.Path())->HistoryOfService("shop", "web");
  ASSERT_EQ(past->spans.size(), 1U);
  ASSERT_TRUE(past->spans[0].to);
  EXPECT_EQ(past->spans[0].to->latest - *past->spans[0].to->earliest, minutes(9));
  EXPECT_EQ(past->gaps.size(), 1U);
}

TEST_F(ObserverTest, WhatComesLateHasBoundsAndLeavesNoGap) {
  ListAll();
  clock_.Advance(minutes(1));
  observer_->Seen(WatchedKind::kServices, 5);
  clock_.Advance(minutes(9));
  observer_->Late(WatchedKind::kServices, "connection refused");
  EXPECT_EQ(observer_->status()[0].trouble, "connection refused");
  EXPECT_EQ(observer_->status()[0].lag, minutes(9));
  observer_->Remove(WatchedKind::kServices, ServiceObject("web", "10.96.0.10"));
  observer_->Seen(WatchedKind::kServices, 6);
  EXPECT_EQ(observer_->status()[0].trouble, "");
  clock_.Advance(minutes(1));
  observer_->Remove(WatchedKind::kServices, ServiceObject("api", "10.96.0.200"));
  ASSERT_TRUE(history_->Flush());
  const auto reader = history::HistoryReader::Open(dir_.Path());
  const auto late = reader->HistoryOfService("shop", "web");
  ASSERT_TRUE(late->spans.at(0).to);
  EXPECT_EQ(late->spans[0].to->latest - *late->spans[0].to->earliest, minutes(9));
  EXPECT_EQ(late->gaps.size(), 0U);
  EXPECT_TRUE(reader->HistoryOfService("shop", "api")->spans.at(0).to->IsExact());
}

TEST_F(ObserverTest, CountsOfRangesAreRecordedHourly) {
  ListAll();
  for (int i = 0; i < 180; ++i) {
    observer_->Refresh();
    clock_.Advance(minutes(1));
  }
  ASSERT_TRUE(history_->Flush());
  const auto counts =
      history::HistoryReader::Open(dir_.Path())
          ->CountsOf("10.96.0.0/24", clock_.Now() - std::chrono::hours(10), clock_.Now());
  ASSERT_EQ(counts->size(), 3U);
  EXPECT_EQ(counts->front().count.taken, 2U);
  EXPECT_EQ(counts->front().count.usable, 254U);
}

}  // namespace
}  // namespace berth::observe
