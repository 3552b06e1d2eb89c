#include "commit/runner.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commit/testing/ops.h"

namespace berth::commit {
namespace {

using testing::MakeOp;

/// A write is run by noting its key.
class RunnerTest : public ::testing::Test {
 protected:
  SequencerOptions options_;
  const GatePtr gate_ = std::make_shared<Gate>();
  std::string ran_;
  std::function<void(const OpPtr& op, Ops& ready)> on_run_;
  Runner runner_{options_, gate_, [this](const OpPtr& op, Ops& ready) {
                   ran_ += op->write.key;
                   if (on_run_) on_run_(op, ready);
                 }};
};

TEST_F(RunnerTest, WhatBecomesReadyRunsAfterWhatIsReady) {
  on_run_ = [](const OpPtr& op, Ops& ready) {
    if (op->write.key == "a") ready.push_back(MakeOp("c"));
  };
  runner_.Drive({MakeOp("a"), MakeOp("b")});
  EXPECT_EQ(ran_, "abc");
}

TEST_F(RunnerTest, ResumedWritesRunInOrderAndNotInsideOneAnother) {
  int depth = 0;
  on_run_ = [&](const OpPtr& op, Ops&) {
    EXPECT_EQ(++depth, 1);
    if (op->write.key == "a") {
      runner_.Resume(MakeOp("b"));
      runner_.Resume(MakeOp("c"));
    }
    --depth;
  };
  runner_.Resume(MakeOp("a"));
  EXPECT_EQ(ran_, "abc");
}

TEST_F(RunnerTest, WritesRunWhereTheOwnerSaysUntilTheGateIsClosed) {
  std::vector<std::function<void()>> work;
  options_.run = [&work](std::function<void()> call) { work.push_back(std::move(call)); };
  runner_.Dispatch({});
  EXPECT_TRUE(work.empty());
  runner_.Dispatch({MakeOp("a")});
  runner_.Resume(MakeOp("b"));
  EXPECT_EQ(ran_, "");
  ASSERT_EQ(work.size(), 2U);
  work[0]();
  EXPECT_EQ(ran_, "a");
  gate_->Close();
  work[1]();
  EXPECT_EQ(ran_, "a");
}

}  // namespace
}  // namespace berth::commit
