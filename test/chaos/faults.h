// What is done to the cluster while clients work. Each function does one harm, lets it last for a
// while, and takes it back (the faults of a round are many calls of one of them).
#pragma once

#include <chrono>
#include <functional>

#include "base/random.h"
#include "chaos/arena.h"

namespace berth::chaos {

using Fault = std::function<void(Arena&, base::Random&)>;

// Everywhere.
void KillLeader(Arena& arena, base::Random& random);
void KillFollower(Arena& arena, base::Random& random);
void RestartCluster(Arena& arena, base::Random& random);
void PauseMember(Arena& arena, base::Random& random);
/// Closes a replica while the leader is down, so that it ends with writes under way, and opens it
/// again.
void CloseReplica(Arena& arena, base::Random& random);

// With a network.
/// One replica is cut from one member: what it sends is lost, or what it is sent, or both.
void CutReplicaFromMember(Arena& arena, base::Random& random);
/// The leader does not reach its peers, nor they it; clients reach all of them.
void IsolateLeader(Arena& arena, base::Random& random);
/// A member is off the network altogether.
void UnplugMember(Arena& arena, base::Random& random);
/// All clients have to work through one follower, and what that hands on to the leader stays in
/// the wires for longer than a client waits, and arrives in the end.
void DelayProposals(Arena& arena, base::Random& random);

}  // namespace berth::chaos
