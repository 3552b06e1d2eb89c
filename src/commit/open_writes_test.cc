#include "commit/open_writes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "commit/testing/ops.h"

namespace berth::commit {
namespace {

using std::chrono::seconds;
using testing::MakeOp;

class OpenWritesTest : public ::testing::Test {
 protected:
  void Make(SequencerOptions options = {}) {
    options_ = std::move(options);
    writes_ = std::make_unique<OpenWrites>(clock_, timers_, options_, gate_);
  }
  /// Returns "first", "waits" or the reason of the refusal.
  std::string Enter(const OpPtr& op) {
    bool first = false;
    const auto refused = writes_->Enter(op, first);
    if (refused) return std::string(ReasonText(refused->reason));
    return first ? "first" : "waits";
  }
  base::SteadyTime In(seconds time) const { return clock_.Steady() + time; }
  void Advance(seconds time) {
    clock_.Advance(time);
    timers_.FireUntil(clock_.Steady());
  }

  base::ManualClock clock_;
  testing::ManualTimers timers_;
  SequencerOptions options_;
  const GatePtr gate_ = std::make_shared<Gate>();
  std::unique_ptr<OpenWrites> writes_;
};

TEST_F(OpenWritesTest, TheNextOfAnObjectGoesOnWhenTheFirstIsAnswered) {
  Make();
  std::string one = "-";
  std::string two = "-";
  const OpPtr first = MakeOp("a", one);
  const OpPtr second = MakeOp("a", two);
  EXPECT_EQ(Enter(first), "first");
  EXPECT_EQ(Enter(second), "waits");
  EXPECT_EQ(writes_->Size(), 2U);
  EXPECT_FALSE(writes_->IsAnswered(*first));
  Ops ready;
  writes_->Answer(first, Written{.revision = 7}, ready);
  EXPECT_EQ(one, "unchanged nothing @7");
  EXPECT_TRUE(writes_->IsAnswered(*first));
  EXPECT_EQ(ready, Ops{second});
  EXPECT_EQ(two, "-");
}

TEST_F(OpenWritesTest, TooManyAreRefused) {
  Make({.max_waiting = 1});
  EXPECT_EQ(Enter(MakeOp("a")), "first");
  EXPECT_EQ(Enter(MakeOp("b")), "TooManyRequests");
}

TEST_F(OpenWritesTest, ALateWriteIsAnsweredOnceAndKeepsItsLane) {
  Make();
  std::string one = "-";
  std::string two = "-";
  const OpPtr first = MakeOp("a", one, In(seconds(5)));
  Enter(first);
  Enter(MakeOp("a", two, In(seconds(7))));
  EXPECT_EQ(timers_.Size(), 1U) << "they share a timer";
  Advance(seconds(5));
  EXPECT_EQ(one, "Timeout");
  EXPECT_TRUE(writes_->IsAnswered(*first));
  EXPECT_EQ(writes_->Size(), 2U);
  EXPECT_EQ(two, "-");
  one = "-";
  Ops ready;
  writes_->Answer(first, Written{}, ready);
  EXPECT_EQ(one, "-");
  EXPECT_EQ(ready.size(), 1U);
  Advance(seconds(2));
  EXPECT_EQ(two, "Timeout");
}

TEST_F(OpenWritesTest, AtTheEndEveryWriteIsAnswered) {
  Make();
  std::string one = "-";
  std::string two = "-";
  Enter(MakeOp("a", one));
  Enter(MakeOp("a", two, In(seconds(1))));
  writes_->Close();
  EXPECT_EQ(Enter(MakeOp("b")), "ServiceUnavailable");
  EXPECT_EQ(one, "-");
  gate_->Close();
  writes_->AnswerAll();
  EXPECT_EQ(one, "ServiceUnavailable");
  EXPECT_EQ(two, "ServiceUnavailable");
  two = "-";
  Advance(seconds(1));
  EXPECT_EQ(two, "-");
  EXPECT_EQ(writes_->Size(), 0U);
}

}  // namespace
}  // namespace berth::commit
