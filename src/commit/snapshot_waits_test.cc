#include "commit/snapshot_waits.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "commit/testing/ops.h"

namespace berth::commit {
namespace {

using state::testing::Stored;
using std::chrono::milliseconds;
using testing::Key;

class SnapshotWaitsTest : public ::testing::Test {
 protected:
  void Advance(milliseconds time) {
    test_.store.clock.Advance(time);
    test_.timers.FireUntil(test_.store.clock.Steady());
  }

  testing::TestParts test_{{.max_waiting = 1}};
  const SequencerParts parts_ = test_.Get();
  const GatePtr gate_ = std::make_shared<Gate>();
  SnapshotWaits waits_{parts_, gate_, milliseconds(100)};
  int64_t seen_ = 0;
};

TEST_F(SnapshotWaitsTest, ASnapshotShowsTheRevision) {
  const int64_t revision = test_.store.Put(Key(), Stored("one"));
  waits_.AwaitRevision(revision, [this](const state::Snapshot& at) { seen_ = at.Revision(); });
  EXPECT_EQ(seen_, 0);
  test_.PumpAll();
  EXPECT_EQ(seen_, revision);
}

TEST_F(SnapshotWaitsTest, AWaitThatIsRefusedIsTriedAgain) {
  const int64_t revision = test_.store.Put(Key(), Stored("one"));
  test_.follower->AwaitRevision(revision, base::SteadyTime::max(), [](const auto&) {});
  int64_t caught_up = 0;
  waits_.AwaitRevision(revision, [this](const state::Snapshot& at) { seen_ = at.Revision(); });
  waits_.CatchUp([&caught_up](const state::Snapshot& at) { caught_up = at.Revision(); });
  EXPECT_EQ(test_.timers.Size(), 2U);
  test_.PumpAll();
  Advance(milliseconds(99));
  EXPECT_EQ(seen_, 0);
  Advance(milliseconds(1));
  test_.PumpAll();
  EXPECT_EQ(seen_, revision);
  EXPECT_EQ(caught_up, revision);
}

TEST_F(SnapshotWaitsTest, NothingRunsOnceTheGateIsClosed) {
  const int64_t revision = test_.store.Put(Key(), Stored("one"));
  waits_.AwaitRevision(revision, [this](const state::Snapshot& at) { seen_ = at.Revision(); });
  gate_->Close();
  test_.PumpAll();
  EXPECT_EQ(seen_, 0);
}

}  // namespace
}  // namespace berth::commit
