#include "controllers/auditor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "controllers/testing/auditor_kit.h"

namespace berth::controllers {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

class RunningAuditorTest : public testing::AuditorTest {
 protected:
  /// Returns one of the lines of /metrics that begins so, without that begin.
  std::string Metric(const std::string& name) {
    obs::Metrics metrics;
    auditor_metrics_.AddTo(metrics);
    const std::string text = metrics.Text();
    const size_t at = text.find("\n" + name + " ");
    if (at == std::string::npos) return "missing";
    const size_t begin = at + name.size() + 2;
    return text.substr(begin, text.find('\n', begin) - begin);
  }
  /// Lets the controllers write the status of ranges, at most once a second each.
  void Settle() {
    for (int i = 0; i < 3; ++i) Advance(seconds(1));
  }
  codec::Value ConsistentOf(const std::string& range) {
    const auto found = Get(At("allocation.berth.io/ipranges", "", range));
    for (const codec::Value& each : codec::ArrayAt(*found, "status", "conditions")) {
      if (codec::StringAt(each, "type") == "Consistent") return each;
    }
    return codec::Object();
  }
  std::unique_ptr<Auditor> NewAuditor(
      std::chrono::nanoseconds interval,
      std::function<std::chrono::nanoseconds()> cpu_time = ThreadCpuTime) {
    Auditor::Parts parts{
        .follower = *follower_,
        .follow_up = {.registry = *registry_,
                      .ledger = addresses_.ledger,
                      .clock = store_.clock,
                      .log = *audit_log_,
                      .run = [this](commit::Write write) { return RunWrite(std::move(write)); }},
        .cpu_time = std::move(cpu_time)};
    return std::make_unique<Auditor>(parts, interval, base::SeededRandom(1));
  }
};

TEST_F(RunningAuditorTest, APassIsDueAtOnceAndThenAfterTheInterval) {
  EXPECT_LE(auditor_->NextDue(), store_.clock.Steady());
  EXPECT_TRUE(auditor_->Work());
  EXPECT_FALSE(auditor_->Work());
  EXPECT_EQ(auditor_->NextDue(), store_.clock.Steady() + seconds(5));
  store_.clock.Advance(seconds(5));
  EXPECT_TRUE(auditor_->Work());
  EXPECT_EQ(auditor_->GetStatus().passes, 2);
}

TEST_F(RunningAuditorTest, APassThatIsAskedForRunsAtOnce) {
  EXPECT_TRUE(auditor_->Work());
  EXPECT_EQ(auditor_->Ask(), 2);
  EXPECT_TRUE(auditor_->Work());
  EXPECT_FALSE(auditor_->Work());
  EXPECT_EQ(auditor_->GetStatus().passes, 2);
}

TEST_F(RunningAuditorTest, WithoutAnIntervalPassesRunOnlyIfAskedFor) {
  auto auditor = NewAuditor({});
  auditor->AwaitFirst(seconds(100));  // Returns, though the clock stands still.
  store_.clock.Advance(std::chrono::hours(1));
  EXPECT_FALSE(auditor->Work());
  EXPECT_EQ(auditor->Ask(), 1);
  EXPECT_TRUE(auditor->Work());
  EXPECT_FALSE(auditor->Work());
}

TEST_F(RunningAuditorTest, WhileTheStateIsUnreadItWaits) {
  sequencer_->Close();
  follower_->Stop();
  state::Follower unread(*store_.engine, resources_, {}, state::FollowerOptions(), store_.clock,
                         store_.log);
  Auditor auditor({.follower = unread,
                   .follow_up = {.registry = *registry_,
                                 .ledger = addresses_.ledger,
                                 .clock = store_.clock,
                                 .log = *audit_log_,
                                 .run = nullptr}},
                  seconds(5), base::SeededRandom(1));
  auditor.Ask();
  EXPECT_FALSE(auditor.Work());
  EXPECT_GT(auditor.NextDue(), store_.clock.Steady()) << "it does not ask all the time";
  while (unread.Pump()) {
  }
  store_.clock.Advance(Auditor::kUnreadPause);
  EXPECT_TRUE(auditor.Work());
}

TEST_F(RunningAuditorTest, MetricsShowWhatWasCheckedAndFound) {
  MakeService("web", "'clusterIP':'10.96.0.10'");
  EXPECT_EQ(Kinds(), "");
  const std::string clean = std::to_string(Revision());
  EXPECT_EQ(Metric("berth_audit_passes_total"), "1");
  EXPECT_EQ(Metric("berth_audit_checked{what=\"services\"}"), "1");
  EXPECT_EQ(Metric("berth_audit_checked{what=\"records\"}"), "1");
  EXPECT_EQ(Metric("berth_audit_last_clean_revision"), clean);
  EXPECT_EQ(Metric("berth_audit_findings{kind=\"NoRecord\"}"), "0");
  Lose(KeyOf(Address("10.96.0.10")));
  const std::string damaged = std::to_string(Revision());
  EXPECT_EQ(Kinds(), "NoRecord 10.96.0.10");
  EXPECT_EQ(Metric("berth_audit_passes_total"), "2");
  EXPECT_EQ(Metric("berth_audit_findings{kind=\"NoRecord\"}"), "1");
  EXPECT_EQ(Metric("berth_audit_findings{kind=\"TwoOwners\"}"), "0");
  EXPECT_EQ(Metric("berth_audit_repairs_total{kind=\"RecordMade\"}"), "1");
  EXPECT_EQ(Metric("berth_audit_last_revision"), damaged);
  EXPECT_EQ(Metric("berth_audit_last_clean_revision"), clean);
}

TEST_F(RunningAuditorTest, TheRangeHasACondition) {
  Must(Create(At("allocation.berth.io/ipranges", "", ""),
              "{'metadata':{'name':'blue'},'spec':{'range':'10.60.0.0/24'}}"));
  MakeService("web", "'clusterIP':'10.60.0.10'");
  EXPECT_EQ(Kinds(), "");
  Settle();
  EXPECT_EQ(ConsistentOf("blue"), codec::Value(codec::Object())) << "there never was a finding";
  Copy("web", "xeb");
  EXPECT_EQ(Kinds(), "TwoOwners 10.60.0.10");
  Settle();
  EXPECT_EQ(codec::StringAt(ConsistentOf("blue"), "status"), "False");
  EXPECT_EQ(codec::StringAt(ConsistentOf("blue"), "reason"), "TwoOwners");
  EXPECT_THAT(std::string(codec::StringAt(ConsistentOf("blue"), "message")),
              HasSubstr("The address 10.60.0.10 belongs to 2 Services at once: shop/web and "
                        "shop/xeb"));
  Delete(Service("xeb"));
  EXPECT_EQ(Kinds(), "");
  Settle();
  EXPECT_EQ(codec::StringAt(ConsistentOf("blue"), "status"), "True");
  EXPECT_EQ(codec::StringAt(ConsistentOf("blue"), "reason"), "NoFindings");
}

TEST_F(RunningAuditorTest, ACountThatIsNotWrittenYetIsNoFinding) {
  Must(Create(At("allocation.berth.io/ipranges", "", ""),
              "{'metadata':{'name':'blue'},'spec':{'range':'10.60.0.0/24'}}"));
  Settle();
  MakeService("web", "'clusterIP':'10.60.0.10'");
  EXPECT_EQ(Kinds(), "") << "the status says 0 used, and the controllers have not run";
  EXPECT_EQ(Kinds(), "");
  EXPECT_EQ(Kinds(), "WrongCount") << "now it was so for ten seconds";
  Settle();
  EXPECT_EQ(Kinds(), "");
}

TEST_F(RunningAuditorTest, APassInProgressIsGivenUp) {
  for (int i = 0; i < 3000; ++i) {
    store_.Put(ServiceRow().prefix + "shop/s" + std::to_string(i),
               codec::EncodeStored(
                   codec::Object{{"metadata", codec::Object{{"name", "s" + std::to_string(i)},
                                                            {"namespace", "shop"}}}},
                   *ServiceRow().kind));
  }
  PumpAll();
  // Each look at the processor time finds that much has passed, so a pass makes long pauses.
  std::atomic<int64_t> looks = 0;
  std::atomic<bool> go = false;
  auto auditor = NewAuditor(seconds(5), [&looks, &go] {
    while (!go) std::this_thread::yield();
    return std::chrono::nanoseconds(seconds(++looks));
  });
  auditor->Start();
  store_.clock.Advance(2 * Auditor::kQuickStart);  // From here on it makes pauses.
  go = true;
  while (looks < 2) std::this_thread::yield();
  auditor->Stop();
  EXPECT_EQ(auditor->GetStatus().passes, 0);
  EXPECT_EQ(auditor->GetStatus().report, nullptr);
}

TEST(Pacer, UsesAShareOfTheTime) {
  std::chrono::nanoseconds cpu{0};
  std::chrono::nanoseconds slept{0};
  Pacer pacer({.cpu_time = [&cpu] { return cpu; },
               .share = [] { return 0.25; },
               .sleep =
                   [&slept](std::chrono::nanoseconds time) {
                     slept += time;
                     return true;
                   }});
  for (int i = 0; i < 1000; ++i) {
    cpu += std::chrono::microseconds(100);
    EXPECT_TRUE(pacer.Step());
  }
  EXPECT_EQ(pacer.Worked(), milliseconds(100));
  EXPECT_EQ(slept, milliseconds(300));
}

TEST(Pacer, StopsIfToldSo) {
  std::chrono::nanoseconds cpu{0};
  int sleeps = 0;
  Pacer pacer({.cpu_time = [&cpu] { return cpu; },
               .share = [] { return 0.25; },
               .sleep =
                   [&sleeps](std::chrono::nanoseconds) {
                     ++sleeps;
                     return false;
                   }});
  EXPECT_TRUE(pacer.Step());
  cpu += Pacer::kSlice;
  EXPECT_FALSE(pacer.Step());
  EXPECT_FALSE(pacer.Step());
  EXPECT_EQ(sleeps, 1);
}

}  // namespace
}  // namespace berth::controllers
