// The network between replicas and members, and among members, is cut while writers run.
#include <gtest/gtest.h>

#include "chaos/scenario.h"

namespace berth::chaos {
namespace {

class PartitionTest : public testing::Test {
 protected:
  void SetUp() override {
    if (TestNetwork() == nullptr) GTEST_SKIP() << WhyNoNetwork();
  }

  static ArenaOptions Options() { return {.network = TestNetwork(), .impatient = true}; }
};

TEST_F(PartitionTest, ReplicaCutFromOneMember) {
  RunScenario("replica cut from one member", Options(), CutReplicaFromMember);
}

TEST_F(PartitionTest, LeaderIsolatedFromItsPeers) {
  RunScenario("leader isolated from its peers", Options(), IsolateLeader);
}

TEST_F(PartitionTest, MemberUnplugged) { RunScenario("member unplugged", Options(), UnplugMember); }

TEST_F(PartitionTest, LateProposals) {
  RunScenario("proposals delayed beyond the deadline", Options(), DelayProposals);
}

}  // namespace
}  // namespace berth::chaos
