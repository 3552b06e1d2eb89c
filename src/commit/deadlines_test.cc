#include "commit/deadlines.h"

#include <gtest/gtest.h>

#include <optional>

#include "commit/testing/ops.h"

namespace berth::commit {
namespace {

using testing::KeysOf;
using testing::MakeOp;

base::SteadyTime AtSecond(int second) { return base::SteadyTime(std::chrono::seconds(second)); }

TEST(DeadlinesTest, TheTimerIsSetOnlyForAnEarlierDeadline) {
  Deadlines deadlines;
  EXPECT_EQ(deadlines.NextTimer(), std::nullopt);
  deadlines.Add(MakeOp("none"));
  EXPECT_EQ(deadlines.NextTimer(), std::nullopt);
  deadlines.Add(MakeOp("a", AtSecond(5)));
  EXPECT_EQ(deadlines.NextTimer(), AtSecond(5));
  deadlines.Add(MakeOp("b", AtSecond(7)));
  deadlines.Add(MakeOp("c", AtSecond(5)));
  EXPECT_EQ(deadlines.NextTimer(), std::nullopt);
  deadlines.Add(MakeOp("d", AtSecond(3)));
  EXPECT_EQ(deadlines.NextTimer(), AtSecond(3));
}

TEST(DeadlinesTest, LateWritesAreTakenEarliestFirstAndTheTimerIsSetAnew) {
  Deadlines deadlines;
  deadlines.Add(MakeOp("c", AtSecond(9)));
  deadlines.Add(MakeOp("b", AtSecond(4)));
  deadlines.Add(MakeOp("a", AtSecond(3)));
  EXPECT_EQ(deadlines.NextTimer(), AtSecond(3));
  EXPECT_EQ(KeysOf(deadlines.TakeLate(AtSecond(4))), "a b");
  EXPECT_EQ(deadlines.NextTimer(), AtSecond(9));
  EXPECT_EQ(KeysOf(deadlines.TakeLate(AtSecond(8))), "");
  EXPECT_EQ(deadlines.NextTimer(), AtSecond(9)) << "a timer that fired early is set again";
}

TEST(DeadlinesTest, ARemovedWriteIsNeverLate) {
  Deadlines deadlines;
  const OpPtr op = MakeOp("a", AtSecond(3));
  deadlines.Remove(op);
  deadlines.Add(op);
  deadlines.Add(MakeOp("b", AtSecond(3)));
  deadlines.Remove(op);
  EXPECT_EQ(KeysOf(deadlines.TakeLate(AtSecond(3))), "b");
  EXPECT_EQ(deadlines.NextTimer(), std::nullopt);
}

}  // namespace
}  // namespace berth::commit
