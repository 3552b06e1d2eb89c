// Members are killed, restarted and paused, and replicas are closed, while writers run. Needs no
// privileges.
#include <gtest/gtest.h>

#include "chaos/scenario.h"

namespace berth::chaos {
namespace {

TEST(KillTest, LeaderOnDisk) {
  RunScenario("leader killed, data on disk", {.durable = true}, KillLeader);
}

TEST(KillTest, Follower) { RunScenario("follower killed", {}, KillFollower); }

TEST(KillTest, WholeCluster) { RunScenario("whole cluster killed", {}, RestartCluster); }

TEST(KillTest, MemberPaused) { RunScenario("member paused", {.impatient = true}, PauseMember); }

TEST(KillTest, ReplicaClosedWithoutALeader) {
  RunScenario("replica closed while the leader is down", {.impatient = true}, CloseReplica);
}

}  // namespace
}  // namespace berth::chaos
