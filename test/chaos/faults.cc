#include "chaos/faults.h"

#include <thread>

namespace berth::chaos {
namespace {

using std::chrono::milliseconds;

void SleepBetween(base::Random& random, int64_t least, int64_t most) {
  const auto spread = static_cast<uint64_t>(most - least);
  std::this_thread::sleep_for(
      milliseconds(least + static_cast<int64_t>(base::Uniform(random, spread + 1))));
}

int AnyOf(base::Random& random, int count) {
  return static_cast<int>(base::Uniform(random, static_cast<uint64_t>(count)));
}

int OtherThan(base::Random& random, int member) {
  return (member + 1 + AnyOf(random, Arena::kMembers - 1)) % Arena::kMembers;
}

/// Returns the leader, or some member if there is no leader in time: any member will do for a
/// fault.
int Leader(Arena& arena) { return std::max(0, arena.Cluster().Leader()); }

void KillAndRestart(Arena& arena, int member, base::Random& random) {
  arena.Cluster().Kill(member);
  SleepBetween(random, 200, 1200);
  arena.Cluster().Restart(member);
  arena.Cluster().WaitHealthy();
  SleepBetween(random, 100, 500);
}

}  // namespace

void KillLeader(Arena& arena, base::Random& random) {
  KillAndRestart(arena, Leader(arena), random);
}

void KillFollower(Arena& arena, base::Random& random) {
  KillAndRestart(arena, OtherThan(random, Leader(arena)), random);
}

void RestartCluster(Arena& arena, base::Random& random) {
  const int first = AnyOf(random, Arena::kMembers);
  for (int i = 0; i < Arena::kMembers; ++i) arena.Cluster().Kill((first + i) % Arena::kMembers);
  SleepBetween(random, 0, 500);
  for (int i = 0; i < Arena::kMembers; ++i) arena.Cluster().Restart((first + i) % Arena::kMembers);
  arena.Cluster().WaitHealthy();
  SleepBetween(random, 300, 1000);
}

void PauseMember(Arena& arena, base::Random& random) {
  const int member = AnyOf(random, 2) == 0 ? Leader(arena) : AnyOf(random, Arena::kMembers);
  arena.Cluster().Pause(member);
  SleepBetween(random, 1000, 3000);
  arena.Cluster().Resume(member);
  SleepBetween(random, 100, 500);
}

void CloseReplica(Arena& arena, base::Random& random) {
  const int leader = Leader(arena);
  const int replica = AnyOf(random, Arena::kReplicas);
  arena.Cluster().Kill(leader);
  SleepBetween(random, 0, 50);
  arena.At(replica).Close();
  arena.Cluster().Restart(leader);
  arena.Heal();
  SleepBetween(random, 100, 500);
}

void CutReplicaFromMember(Arena& arena, base::Random& random) {
  const int replica = AnyOf(random, Arena::kReplicas);
  const int member = AnyOf(random, Arena::kMembers);
  const int way = AnyOf(random, 3);
  if (way != 0) arena.Net().CutReplies(replica, member);
  if (way != 1) arena.Net().CutRequests(replica, member);
  SleepBetween(random, 500, 2500);
  arena.Net().Heal();
  SleepBetween(random, 100, 800);
}

void IsolateLeader(Arena& arena, base::Random& random) {
  const int leader = Leader(arena);
  for (int peer = 0; peer < Arena::kMembers; ++peer) {
    if (peer == leader) continue;
    arena.Net().CutPeer(leader, peer);
    arena.Net().CutPeer(peer, leader);
  }
  SleepBetween(random, 1000, 2500);
  arena.Net().Heal();
  SleepBetween(random, 300, 1000);
}

void UnplugMember(Arena& arena, base::Random& random) {
  arena.Net().Unplug(AnyOf(random, 2) == 0 ? Leader(arena) : AnyOf(random, Arena::kMembers));
  SleepBetween(random, 500, 2500);
  arena.Net().Heal();
  SleepBetween(random, 300, 1000);
}

void DelayProposals(Arena& arena, base::Random& random) {
  const int leader = Leader(arena);
  const int follower = OtherThan(random, leader);
  for (int replica = 0; replica < Arena::kReplicas; ++replica) {
    for (int member = 0; member < Arena::kMembers; ++member) {
      if (member != follower) arena.Net().CutRequests(replica, member);
    }
  }
  // By now the replicas are connecting to the follower.
  SleepBetween(random, 500, 2000);
  arena.Net().CutPeer(follower, leader);
  SleepBetween(random, 200, 1500);
  arena.Net().HealReplicas();
  SleepBetween(random, 500, 2000);
  arena.Net().Heal();
  SleepBetween(random, 200, 500);
}

}  // namespace berth::chaos
