// Writes that are refused for now: they wait for what writes in flight may change, and are decided
// again when they are called back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "commit/testing/sequencer_fixture.h"

namespace berth::commit {
namespace {

using state::ObjectPtr;
using state::testing::ServiceKey;
using testing::Append;
using testing::Create;
using ::testing::ElementsAre;
using testing::Key;
using testing::PutOf;

const base::Error kClosed{.reason = base::Reason::kInvalid, .message = "closed"};

class RefusalTest : public testing::SequencerTest {
 protected:
  using Again = std::function<void()>;

  /// Refuses the write until the door is open. Then `then` decides.
  Transform Through(Transform then) {
    return [this, then = std::move(then)](const state::Snapshot& snapshot,
                                          const ObjectPtr& current) -> Decided {
      ++decided_;
      if (open_) return then(snapshot, current);
      return tl::unexpected(Refusal(kClosed, [this](Again again) {
        waiting_.push_back(std::move(again));
        return true;
      }));
    };
  }
  void Tell(size_t waiter) { std::exchange(waiting_[waiter], nullptr)(); }

  bool open_ = false;
  int decided_ = 0;
  std::vector<Again> waiting_;
};

TEST_F(RefusalTest, GoesOnInTheOrderInWhichItIsTold) {
  Make();
  for (const char* name : {"a", "b", "c"}) Submit(ServiceKey("n", name), Through(Create(name)));
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("-", "-", "-"));
  open_ = true;
  for (const size_t waiter : {1U, 2U, 0U}) Tell(waiter);
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("created a @3", "created b @1", "created c @2"));
  EXPECT_EQ(replica_->sequencer->GetStats().waiting, 0U);
}

TEST_F(RefusalTest, ThatIsStillForNowWaitsAgain) {
  Make();
  Submit(Key(), Through(Create("1")));
  Tell(0);
  ASSERT_EQ(waiting_.size(), 2U);
  EXPECT_EQ(results_[0], "-");
  open_ = true;
  Tell(1);
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("created 1 @1"));
}

TEST_F(RefusalTest, ThatHoldsInTheEndIsTheAnswerAndOthersGoOn) {
  Make();
  Submit(Key(), Through([](const state::Snapshot&, const ObjectPtr&) -> Decided {
           return tl::unexpected(Refusal(kClosed));
         }));
  Submit(Key(), Create("behind"));
  open_ = true;
  Tell(0);
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("Invalid", "created behind @1"));
}

TEST_F(RefusalTest, ThatCanNoLongerWaitIsDecidedAgainAtOnce) {
  Make();
  int asked = 0;
  Submit(Key(), [&asked](const state::Snapshot& snapshot, const ObjectPtr& current) -> Decided {
    if (++asked > 3) return Create("1")(snapshot, current);
    return tl::unexpected(Refusal(kClosed, [](const Again&) { return false; }));
  });
  PumpAll();
  EXPECT_EQ(asked, 4);
  EXPECT_THAT(results_, ElementsAre("created 1 @1"));
}

TEST_F(RefusalTest, WaitsNoLongerThanItsDeadlineAndThenWritesNothing) {
  Make();
  Submit({.key = Key(),
          .transform = Through(Create("1")),
          .deadline = store_.clock.Steady() + std::chrono::seconds(5)});
  Submit(Key(), Create("behind"));
  PumpAll();
  store_.clock.Advance(std::chrono::seconds(6));
  PumpAll();
  EXPECT_EQ(results_[0], "Timeout");
  open_ = true;
  Tell(0);
  PumpAll();
  EXPECT_EQ(decided_, 1) << "nobody waits for it any more";
  EXPECT_THAT(results_, ElementsAre("Timeout", "created behind @1"));
  EXPECT_EQ(replica_->sequencer->GetStats().waiting, 0U);
}

TEST_F(RefusalTest, IsAnsweredWhenTheSequencerCloses) {
  Make();
  Submit(Key(), Through(Create("1")));
  Submit(Key(), Create("behind"));
  replica_->sequencer->Close();
  EXPECT_THAT(results_, ElementsAre("ServiceUnavailable", "ServiceUnavailable"));
  open_ = true;
  Tell(0);
  PumpAll();
  EXPECT_EQ(decided_, 1);
  EXPECT_EQ(Stored(), "nothing");
  waiting_.clear();
  replica_.reset();
}

TEST_F(RefusalTest, MayBeToldAfterTheSequencerIsGone) {
  Make();
  Submit(Key(), Through(Create("1")));
  replica_->sequencer.reset();
  open_ = true;
  Tell(0);
  EXPECT_EQ(decided_, 1);
}

TEST_F(RefusalTest, OthersOfTheSameObjectWaitBehindItAndBuildOnIt) {
  Make();
  Submit(Key(), Through(Create("1")));
  Submit(Key(), Append("2"));
  Submit(Key(), Through(Append("3")));
  Submit(Key(), Append("4"));
  Submit(ServiceKey("n", "other"), Create("x"));
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("-", "-", "-", "-", "created x @1"));
  EXPECT_EQ(waiting_.size(), 1U) << "those behind are not even asked";
  open_ = true;
  Tell(0);
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("created 1 @2", "updated 12 @3", "updated 123 @4",
                                    "updated 1234 @5", "created x @1"));
}

TEST_F(RefusalTest, ADryRunWaitsAsTheWriteWouldAndKeepsNothing) {
  Make();
  Submit({.key = Key(), .transform = Through(Create("1")), .dry_run = true});
  EXPECT_THAT(results_, ElementsAre("-"));
  open_ = true;
  Tell(0);
  EXPECT_THAT(results_, ElementsAre("created 1 @0"));
  EXPECT_EQ(Stored(), "nothing");
}

/// Each write is called back by the one before it, while that one is still being decided.
TEST_F(RefusalTest, HundredThousandAreToldByEachOtherWithoutADeepStack) {
  constexpr size_t kMany = 100'000;
  Make({.max_waiting = kMany});
  std::vector<size_t> order;
  for (size_t i = 0; i < kMany; ++i) {
    const auto last = [this, i, &order](const state::Snapshot&, const ObjectPtr&) -> Decided {
      Decision decision = PutOf("x");
      decision.on_outcome = [this, i, &order](bool) {
        order.push_back(i);
        if (i + 1 < kMany) Tell(i + 1);
      };
      return decision;
    };
    replica_->sequencer->Submit(
        {.key = ServiceKey("n", std::to_string(i)), .transform = Through(last), .dry_run = true},
        [](const base::Result<Written>&) {});
  }
  ASSERT_EQ(waiting_.size(), kMany);
  open_ = true;
  Tell(0);
  ASSERT_EQ(order.size(), kMany);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(replica_->sequencer->GetStats().waiting, 0U);
}

/// A thread that only calls back does not decide the writes.
TEST_F(RefusalTest, GoesOnWhereTransformsMayRun) {
  std::vector<std::function<void()>> tasks;
  Make({.run = [&tasks](std::function<void()> task) { tasks.push_back(std::move(task)); }});
  for (const char* name : {"a", "b", "c"}) Submit(ServiceKey("n", name), Through(Create(name)));
  open_ = true;
  for (const size_t waiter : {2U, 0U, 1U}) Tell(waiter);
  EXPECT_EQ(decided_, 3) << "none is decided again yet";
  ASSERT_EQ(tasks.size(), 1U) << "one goes through all that have been told";
  tasks[0]();
  PumpAll();
  for (size_t i = 1; i < tasks.size(); ++i) tasks[i]();
  EXPECT_THAT(results_, ElementsAre("created a @2", "created b @3", "created c @1"));
}

/// A step is work that the write itself needs, so later writes of the object wait for it.
TEST_F(RefusalTest, AStepIsDoneBeforeTheWriteIsDecidedAgain) {
  Make();
  std::vector<Again> steps;
  bool done = false;
  Submit(Key(), [&](const state::Snapshot& snapshot, const ObjectPtr& current) -> Decided {
    if (done) return Create("1")(snapshot, current);
    Refusal refusal(kClosed);
    refusal.step = [&steps](Again again) { steps.push_back(std::move(again)); };
    return tl::unexpected(std::move(refusal));
  });
  Submit(Key(), Append("2"));
  PumpAll();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_THAT(results_, ElementsAre("-", "-")) << "the step is under way";
  done = true;
  steps.front()();
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("created 1 @1", "updated 12 @2"));
  EXPECT_EQ(steps.size(), 1U);
}

/// A final refusal must be decided on current state where others write too.
TEST_F(RefusalTest, OnASharedStoreTheStoreIsAskedBeforeItHolds) {
  Make({}, {.shared_store = true});
  Submit(Key(), Through([](const state::Snapshot& snapshot, const ObjectPtr& current) -> Decided {
           if (!current) return tl::unexpected(Refusal(kClosed));
           return Append("+")(snapshot, current);
         }));
  store_.Put(Key(), state::testing::Stored("other"));  // Not yet in the snapshot.
  open_ = true;
  Tell(0);
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("updated other+ @2"));
}

}  // namespace
}  // namespace berth::commit
