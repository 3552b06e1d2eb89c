#include "commit/finisher.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "commit/attempt.h"
#include "commit/testing/ops.h"

namespace berth::commit {
namespace {

using state::testing::Stored;
using testing::Key;

/// A write under way, whose attempts the test ends.
class FinisherTest : public ::testing::Test {
 protected:
  FinisherTest() {
    options_.max_conflicts = 1;
    bool first = false;
    EXPECT_FALSE(writes_.Enter(op_, first));
  }
  void Prepare() {
    op_->attempt.decision = testing::PutOf("one");
    op_->attempt.decision.on_outcome = [this](bool committed) {
      outcomes_ += committed ? "+" : "-";
    };
    MakeExpectedTxn(Key(), op_->attempt, *test_.follower);
    writes_.EnterStore(*op_);
  }

  testing::TestParts test_;
  const SequencerParts parts_ = test_.Get();
  SequencerOptions options_;
  const GatePtr gate_ = std::make_shared<Gate>();
  int decided_ = 0;
  OpenWrites writes_{parts_.clock, parts_.timers, options_, gate_};
  Runner runner_{options_, gate_, [this](const OpPtr&, Ops&) { ++decided_; }};
  Finisher finisher_{parts_, options_, gate_, writes_, runner_};
  std::string answer_ = "-";
  const OpPtr op_ = testing::MakeOp(Key(), answer_);
  std::string outcomes_;
  Ops ready_;
};

TEST_F(FinisherTest, AnAttemptIsEndedOnceAndNoLongerExpected) {
  Prepare();
  const state::ExpectationPtr expectation = op_->attempt.expected.front();
  finisher_.Abandon(*op_);
  finisher_.Abandon(*op_);
  EXPECT_EQ(outcomes_, "-");
  test_.store.Put(Key(), Stored("one"));
  test_.PumpAll();
  EXPECT_EQ(expectation->revision, 0);
  EXPECT_EQ(answer_, "-");
}

TEST_F(FinisherTest, ACommittedWriteIsAnsweredWithItsRevision) {
  Prepare();
  op_->attempt.revision = test_.store.Put(Key(), Stored("one"));
  test_.PumpAll();
  finisher_.Succeed(op_, *test_.follower->Current(), ready_);
  EXPECT_EQ(outcomes_, "+");
  EXPECT_EQ(answer_, "created one @" + std::to_string(op_->attempt.revision));
  EXPECT_EQ(finisher_.Committed(), 1U);
  EXPECT_EQ(writes_.Size(), 0U);
}

TEST_F(FinisherTest, AFailedWriteIsAnsweredWithItsErrorAfterItsOutcome) {
  Prepare();
  op_->attempt.decision.on_outcome = [this](bool) { outcomes_ = answer_; };
  finisher_.Fail(op_, {.reason = base::Reason::kForbidden, .message = "no"}, ready_);
  EXPECT_EQ(outcomes_, "-");
  EXPECT_EQ(answer_, "Forbidden");
  EXPECT_EQ(finisher_.Committed(), 0U);
}

TEST_F(FinisherTest, AConflictLetsThoseGoOnThatWaitedAndDecidesAgain) {
  Prepare();
  const OpPtr waits = testing::MakeOp("other");
  ASSERT_TRUE(writes_.WaitForStore(Key(), waits));
  finisher_.DecideAgain(op_, op_->conflicts);
  test_.PumpAll();
  EXPECT_EQ(outcomes_, "-");
  EXPECT_EQ(decided_, 2) << "the write and the one that waited for it";
  EXPECT_TRUE(op_->verified);
  EXPECT_EQ(answer_, "-");
}

TEST_F(FinisherTest, AfterTooManyConflictsTheWriteFails) {
  Prepare();
  EXPECT_TRUE(finisher_.Withdraw(op_, op_->conflicts, ready_));
  EXPECT_TRUE(finisher_.Withdraw(op_, op_->shared_conflicts, ready_));
  EXPECT_EQ(answer_, "-");
  EXPECT_FALSE(finisher_.Withdraw(op_, op_->conflicts, ready_));
  EXPECT_EQ(answer_, "ServerTimeout");
  EXPECT_EQ(finisher_.Conflicts(), 3U);
}

TEST_F(FinisherTest, WithoutASnapshotTheWriteIsAnswered) {
  Prepare();
  test_.follower->Stop();
  finisher_.DecideOnNewest(op_);
  EXPECT_EQ(outcomes_, "-");
  EXPECT_EQ(answer_, "ServiceUnavailable");
  EXPECT_EQ(decided_, 0);
}

}  // namespace
}  // namespace berth::commit
