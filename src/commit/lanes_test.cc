#include "commit/lanes.h"

#include <gtest/gtest.h>

#include "commit/testing/ops.h"

namespace berth::commit {
namespace {

using testing::KeysOf;
using testing::MakeOp;

TEST(LanesTest, OneWriteOfAnObjectIsUnderWayAndTheOthersFollowInOrder) {
  Lanes lanes(10, 10);
  const OpPtr first = MakeOp("a");
  const OpPtr second = MakeOp("a");
  const OpPtr third = MakeOp("a");
  EXPECT_EQ(lanes.Enter(first), Lanes::Entered::kFirst);
  EXPECT_EQ(lanes.Enter(second), Lanes::Entered::kWaits);
  EXPECT_EQ(lanes.Enter(third), Lanes::Entered::kWaits);
  EXPECT_EQ(lanes.Enter(MakeOp("b")), Lanes::Entered::kFirst);
  EXPECT_EQ(lanes.Size(), 4U);

  Ops ready;
  lanes.Leave(*first, ready);
  EXPECT_EQ(ready, Ops{second});
  lanes.Leave(*second, ready);
  EXPECT_EQ(ready, (Ops{second, third}));
  lanes.Leave(*third, ready);
  EXPECT_EQ(ready.size(), 2U);
  EXPECT_EQ(lanes.Size(), 1U);
  EXPECT_EQ(lanes.Enter(MakeOp("a")), Lanes::Entered::kFirst);
}

TEST(LanesTest, TheNumberOfWritesIsBoundedInAllAndPerObject) {
  Lanes lanes(3, 2);
  EXPECT_EQ(lanes.Enter(MakeOp("a")), Lanes::Entered::kFirst);
  EXPECT_EQ(lanes.Enter(MakeOp("a")), Lanes::Entered::kWaits);
  EXPECT_EQ(lanes.Enter(MakeOp("a")), Lanes::Entered::kFull);
  EXPECT_EQ(lanes.Enter(MakeOp("b")), Lanes::Entered::kFirst);
  EXPECT_EQ(lanes.Enter(MakeOp("c")), Lanes::Entered::kFull);
  EXPECT_EQ(lanes.Size(), 3U);
}

TEST(LanesTest, OnlyAWriteInTheStoreIsWaitedFor) {
  Lanes lanes(10, 10);
  const OpPtr guard = MakeOp("guard");
  const OpPtr waits = MakeOp("a");
  EXPECT_FALSE(lanes.WaitForStore("guard", waits)) << "there is no such write";
  lanes.Enter(guard);
  EXPECT_FALSE(lanes.WaitForStore("guard", waits)) << "it is not in the store";
  lanes.EnterStore(*guard);
  EXPECT_TRUE(lanes.WaitForStore("guard", waits));

  Ops ready;
  lanes.LeaveStore(*guard, ready);
  EXPECT_EQ(ready, Ops{waits});
  EXPECT_FALSE(lanes.WaitForStore("guard", waits)) << "it has left the store";
}

TEST(LanesTest, WritesThatWaitedComeBeforeTheNextOfTheLane) {
  Lanes lanes(10, 10);
  const OpPtr guard = MakeOp("guard");
  const OpPtr waits = MakeOp("a");
  const OpPtr next = MakeOp("guard");
  lanes.Enter(guard);
  lanes.Enter(next);
  lanes.EnterStore(*guard);
  EXPECT_TRUE(lanes.WaitForStore("guard", waits));
  Ops ready;
  lanes.Leave(*guard, ready);
  EXPECT_EQ(ready, (Ops{waits, next}));
  EXPECT_FALSE(lanes.WaitForStore("guard", waits)) << "the next one is not in the store yet";
}

TEST(LanesTest, ClearReturnsEveryWriteOnce) {
  Lanes lanes(10, 10);
  const OpPtr guard = MakeOp("guard");
  const OpPtr waits = MakeOp("a");
  lanes.Enter(guard);
  lanes.Enter(waits);
  lanes.EnterStore(*guard);
  EXPECT_TRUE(lanes.WaitForStore("guard", waits));
  EXPECT_EQ(lanes.Clear().size(), 2U);
  EXPECT_EQ(lanes.Size(), 0U);
  EXPECT_EQ(KeysOf(lanes.Clear()), "");
}

}  // namespace
}  // namespace berth::commit
