// What is done to the cluster while clients work. Each function causes one fault, lets it last for
// a while, and repairs it. A round calls one of them many times.
#pragma once

#include <chrono>
#include <functional>

#include "base/random.h"
#include "chaos/arena.h"

namespace berth::chaos {

using Fault = std::function<void(Arena&, base::Random&)>;

// These work everywhere.
void KillLeader(Arena& arena, base::Random& random);
void KillFollower(Arena& arena, base::Random& random);
void RestartCluster(Arena& arena, base::Random& random);
void PauseMember(Arena& arena, base::Random& random);
/// Closes a replica while the leader is down, so that it ends with writes in flight, and opens it
/// again.
void CloseReplica(Arena& arena, base::Random& random);

// These need a network.
/// Cuts one replica from one member: its requests, the replies, or both are lost.
void CutReplicaFromMember(Arena& arena, base::Random& random);
/// Cuts the leader from its peers in both directions. Clients still reach all members.
void IsolateLeader(Arena& arena, base::Random& random);
/// Takes a member off the network altogether.
void UnplugMember(Arena& arena, base::Random& random);
/// Makes all clients use one follower, whose messages to the leader are held up for longer than a
/// client waits, and arrive in the end.
void DelayProposals(Arena& arena, base::Random& random);

}  // namespace berth::chaos
