// The place of chaos: a cluster of three etcd members and three replicas of Berth on it, which can
// be killed, paused, cut off and closed, and the functions that repair everything.
//
// Threads: one thread causes faults and heals; the replicas themselves may be used by any number.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "chaos/network.h"
#include "chaos/replica.h"
#include "store/etcd/testing/etcd_server.h"

namespace berth::chaos {

struct ArenaOptions {
  Network* network = nullptr;  // If null, all share one loopback address and nothing can be cut.
  bool durable = false;        // Keeps the data on disk.
  /// Uses deadlines of one or two seconds instead of eight and more, so that a silent member is
  /// noticed within a short test.
  bool impatient = false;
  std::vector<std::string> flags = {};   // Flags of etcd.
  size_t ring_bytes = size_t{16} << 20;  // Size of each replica's ring.
};

/// The last lines that were logged, for the message of a failed test.
class LogTail {
 public:
  void Add(std::string_view line) EXCLUDES(mutex_);
  std::string Text() const EXCLUDES(mutex_);

 private:
  mutable base::Mutex mutex_;
  std::deque<std::string> lines_ GUARDED_BY(mutex_);
};

class Arena {
 public:
  static constexpr int kMembers = Network::kMembers;
  static constexpr int kReplicas = Network::kReplicas;

  static base::Result<std::unique_ptr<Arena>> Make(const ArenaOptions& options);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  store::etcd::testing::EtcdCluster& Cluster() { return *cluster_; }
  /// May be called only with a network.
  Network& Net() { return *options_.network; }
  Replica& At(int replica) { return *replicas_[static_cast<size_t>(replica)]; }
  std::vector<store::Engine*> Engines();
  Journal& Commits() { return journal_; }
  base::Logger& Log() { return log_; }
  const base::Clock& Clock() const { return clock_; }

  /// Returns the options by which a replica reaches etcd.
  store::etcd::ClientOptions ClientOf(int replica) const;
  /// Makes one more replica on the network paths of this one. The caller must open it.
  std::unique_ptr<Replica> NewReplica(int replica);

  /// Repairs the network, resumes and starts members, and opens replicas. Returns false if that
  /// does not succeed within a minute.
  bool Heal();

  /// Returns the logs, for the message of a failed test.
  std::string Logs() const;

 private:
  explicit Arena(const ArenaOptions& options);

  const ArenaOptions options_;
  const base::SystemClock clock_;
  LogTail tail_;
  base::Logger log_;
  Journal journal_;
  std::unique_ptr<store::etcd::testing::EtcdCluster> cluster_;
  std::vector<std::unique_ptr<Replica>> replicas_;
};

}  // namespace berth::chaos
