// A network of the test's own, which it can cut: three etcd members, each in a network namespace of
// its own, on a bridge with the test. Of the same member every replica knows another address, so
// that the way of one replica to one member can be cut for itself, in either direction.
//
//   10.77.0.1       the test: health, metrics, gateway. Never cut.
//   10.77.R.1       replica R (1, 2, 3), in the test's process
//   10.77.R.10+M    member M (0, 1, 2) as replica R sees it; with R = 0 as the other members do
//
// The namespaces have no names: they belong to this process and end with it, whatever ends it, and
// with them everything made here. The machine's own network is not touched.
//
// Threads: any, one at a time. Make must be called while the process has one thread only.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace berth::chaos {

class Network {
 public:
  static constexpr int kMembers = 3;
  static constexpr int kReplicas = 3;

  /// Moves the process into a network namespace of its own and builds the rest. When that cannot
  /// be (not root, a container that forbids it, no `ip`), says why and leaves all as it was.
  static base::Result<std::unique_ptr<Network>> Make();
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// A member's address for the other members and for the test.
  static std::string MemberHost(int member);
  /// For a replica.
  static std::string MemberHost(int member, int replica);
  /// What to put in front of a command so that it runs where the member lives.
  std::vector<std::string> Launcher(int member) const;

  // Each of these loses packets without a word to anybody, until it is healed.

  /// What a member sends to another one.
  void CutPeer(int from, int to);
  /// What a replica sends to a member.
  void CutRequests(int replica, int member);
  /// What a member sends to a replica.
  void CutReplies(int replica, int member);
  /// Everything from and to a member, the test's own calls included.
  void Unplug(int member);

  /// The ways between replicas and members.
  void HealReplicas();
  void Heal();

 private:
  struct Cut {
    bool of_replica = false;
    std::string undo;  // A command.
  };

  Network() = default;

  base::Result<void> Build();
  base::Result<void> AddMember(int member);
  std::string Enter(int member) const;
  void Do(const std::string& command, Cut cut);
  void Undo(bool all);

  int home_ = -1;  // Where the process was before.
  std::array<int, kMembers> members_{-1, -1, -1};
  std::vector<Cut> cuts_;
};

}  // namespace berth::chaos
