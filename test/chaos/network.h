// A network of the test's own, which it can cut: three etcd members, each in its own network
// namespace, on a bridge with the test. Each replica has its own address for a member, so that the
// path from one replica to one member can be cut alone, in either direction.
//
//   10.77.0.1       the test: health, metrics, gateway. Never cut.
//   10.77.R.1       replica R (1, 2, 3), in the test's process
//   10.77.R.10+M    member M (0, 1, 2) as replica R sees it; with R = 0 as the other members do
//
// The namespaces have no names. They belong to this process and end with it, however it ends,
// together with everything made here. The machine's own network is not touched.
//
// Threads: any, one at a time. Make must be called while the process has only one thread.
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

  /// Moves the process into its own network namespace and builds the rest. If that is impossible
  /// (not root, a container that forbids it, no `ip`), returns the reason and leaves everything as
  /// it was.
  static base::Result<std::unique_ptr<Network>> Make();
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// Returns a member's address for the other members and for the test.
  static std::string MemberHost(int member);
  /// Returns a member's address for a replica.
  static std::string MemberHost(int member, int replica);
  /// Returns the command prefix that runs a command in the member's namespace.
  std::vector<std::string> Launcher(int member) const;

  // Each of these drops packets silently until the network is healed.

  /// Drops what a member sends to another one.
  void CutPeer(int from, int to);
  /// Drops what a replica sends to a member.
  void CutRequests(int replica, int member);
  /// Drops what a member sends to a replica.
  void CutReplies(int replica, int member);
  /// Drops everything from and to a member, the test's own calls included.
  void Unplug(int member);

  /// Heals the paths between replicas and members.
  void HealReplicas();
  void Heal();

 private:
  struct Cut {
    bool of_replica = false;
    std::string undo;  // A shell command.
  };

  Network() = default;

  base::Result<void> Build();
  base::Result<void> AddMember(int member);
  std::string Enter(int member) const;
  void Do(const std::string& command, Cut cut);
  void Undo(bool all);

  int home_ = -1;  // The namespace in which the process was before.
  std::array<int, kMembers> members_{-1, -1, -1};
  std::vector<Cut> cuts_;
};

}  // namespace berth::chaos
