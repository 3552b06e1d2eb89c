#include "berth/observe/cluster_follower.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::cli {
namespace {

using kube::WatchEvent;
using observe::WatchedKind;
using std::chrono::seconds;
using testing::ElementsAre;

/// Notes what it is told.
class NotingSink final : public observe::ClusterSink {
 public:
  void Describe(observe::ClusterOutline /*outline*/) override {}
  void GiveRanges(std::vector<inspect::Range> /*ranges*/) override {}
  void BeginList(WatchedKind /*kind*/) override { told.emplace_back("begin"); }
  void Put(WatchedKind /*kind*/, const codec::Value& /*object*/) override {
    told.emplace_back("put");
  }
  void Remove(WatchedKind /*kind*/, const codec::Value& /*object*/) override {
    told.emplace_back("remove");
  }
  void EndList(WatchedKind /*kind*/, int64_t revision) override {
    told.push_back(fmt::format("end {}", revision));
  }
  void Seen(WatchedKind /*kind*/, int64_t revision) override {
    told.push_back(fmt::format("seen {}", revision));
  }
  void Late(WatchedKind /*kind*/, std::string_view why) override {
    told.push_back(fmt::format("late {}", why));
  }
  void Lost(WatchedKind /*kind*/, std::string_view /*why*/) override { told.emplace_back("lost"); }

  std::vector<std::string> Take() { return std::exchange(told, {}); }
  std::vector<std::string> told;
};

class WatchRelayTest : public testing::Test {
 protected:
  void Event(WatchEvent::Type type, const std::string& revision = {}) {
    relay_.OnEvent({.type = type, .revision = revision});
  }
  void List() {
    Event(WatchEvent::Type::kListBegin);
    Event(WatchEvent::Type::kListed);
    Event(WatchEvent::Type::kListEnd, "7");
  }

  base::ManualClock clock_;
  base::Logger log_{{}, clock_};
  NotingSink sink_;
  WatchRelay relay_{WatchedKind::kServices, sink_, log_};
};

TEST_F(WatchRelayTest, PassesListsAndChangesOn) {
  List();
  Event(WatchEvent::Type::kAdded, "8");
  Event(WatchEvent::Type::kDeleted, "9");
  Event(WatchEvent::Type::kBookmark, "12");
  EXPECT_THAT(sink_.Take(), ElementsAre("begin", "put", "end 7", "put", "remove", "seen 12"));
}

TEST_F(WatchRelayTest, OnlyAnotherListMeansThatChangesWereMissed) {
  Event(WatchEvent::Type::kListBegin);  // Is cut off.
  List();
  EXPECT_THAT(sink_.Take(), ElementsAre("begin", "begin", "put", "end 7"));
  relay_.Tick({.last_error = "refused", .last_error_at = clock_.Now()}, clock_.Now());
  Event(WatchEvent::Type::kModified, "8");
  EXPECT_THAT(sink_.Take(), ElementsAre("late refused", "put"));
  Event(WatchEvent::Type::kListBegin);
  List();
  EXPECT_THAT(sink_.Take(), ElementsAre("lost", "begin", "begin", "put", "end 7"));
}

TEST_F(WatchRelayTest, AnOpenWatchIsSeenEvenIfItIsSilent) {
  const auto start = clock_.Now();
  kube::WatchState state{.connected_since = start, .revision = "41"};
  relay_.Tick(state, start + seconds(5));
  EXPECT_THAT(sink_.Take(), ElementsAre("late "));  // The list is not complete.
  List();
  sink_.Take();
  relay_.Tick(state, start);  // What was missed may still be on its way.
  EXPECT_THAT(sink_.Take(), ElementsAre());
  relay_.Tick(state, start + seconds(5));
  EXPECT_THAT(sink_.Take(), ElementsAre("seen 41"));
  // An error that is older than the last event does not explain why the watch is closed now.
  state = {.last_heard = start + seconds(9), .last_error = "old", .last_error_at = start};
  relay_.Tick(state, start + seconds(10));
  EXPECT_THAT(sink_.Take(), ElementsAre("late "));
}

TEST_F(WatchRelayTest, ANewConnectionIsToldOnce) {
  const auto start = clock_.Now();
  List();
  kube::WatchState state{.connected_since = start, .revision = "41", .watches = 1};
  EXPECT_FALSE(relay_.Tick(state, start + seconds(5))) << "The first one is known";
  state.watches = 3;
  EXPECT_TRUE(relay_.Tick(state, start + seconds(6)));
  EXPECT_FALSE(relay_.Tick(state, start + seconds(7)));
}

}  // namespace
}  // namespace berth::cli
