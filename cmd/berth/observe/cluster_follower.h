// Follows a running cluster with one watch for each kind that its API server shows, and reports to
// an observer. An API server that is away is tried until it answers. Reads only.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "berth/inspect/load_cluster.h"
#include "berth/inspect/source_arguments.h"
#include "http/stop_signal.h"
#include "kube/access.h"
#include "kube/watch.h"
#include "observe/follower.h"

namespace berth::cli {

/// Passes what one watch reports to a sink.
///
/// A watch that was cut resumes at its revision, so changes only come late. If the watch
/// has to list again, changes were missed, and the sink is told that it is lost.
class WatchRelay {
 public:
  /// The sink and the log must outlive the relay.
  WatchRelay(observe::WatchedKind kind, observe::ClusterSink& sink, base::Logger& log)
      : kind_(kind), sink_(sink), log_(log) {}

  void OnEvent(const kube::WatchEvent& event) EXCLUDES(mutex_);
  /// Tells the sink how the watch is doing now. Returns whether it has a new connection, on which
  /// another API server may answer.
  bool Tick(const kube::WatchState& state, base::WallTime now) EXCLUDES(mutex_);

 private:
  const observe::WatchedKind kind_;
  observe::ClusterSink& sink_;
  base::Logger& log_;
  base::Mutex mutex_;
  bool listed_ GUARDED_BY(mutex_) = false;    // A list is complete, and no other one has begun.
  bool troubled_ GUARDED_BY(mutex_) = false;  // A trouble was logged that is not over.
  uint64_t watches_ GUARDED_BY(mutex_) = 1;   // Connections so far, as the caller knows.
};

class WatchingFollower final : public observe::ClusterFollower {
 public:
  /// `outline` is what LoadOutline has read with this access, or nullopt if the API server was
  /// away. The source gives only the ranges. All requests share the credentials of the access. The
  /// clock and the log must outlive the follower.
  WatchingFollower(kube::Access access, SourceArguments source,
                   std::optional<RunningCluster> outline, const base::Clock& clock,
                   base::Logger& log);
  ~WatchingFollower() override;
  WatchingFollower(const WatchingFollower&) = delete;
  WatchingFollower& operator=(const WatchingFollower&) = delete;

  void Start(observe::ClusterSink& sink) override;
  void Tick() override EXCLUDES(mutex_);

 private:
  struct Followed {
    std::unique_ptr<WatchRelay> relay;
    std::unique_ptr<kube::Watch> watch;  // Ends before the relay.
  };

  /// Reads the outline until the API server answers, and then follows. Returns the ranges that no
  /// object shows, or nullopt at the end.
  std::optional<std::vector<inspect::Range>> WaitForServer(observe::ClusterSink& sink);
  /// Looks after each new connection whether the flags of the API server give other ranges, until
  /// the end.
  void KeepRanges(std::vector<inspect::Range> given, observe::ClusterSink& sink);
  void Follow(const RunningCluster& cluster, observe::ClusterSink& sink) EXCLUDES(mutex_);

  const kube::Access access_;
  const SourceArguments source_;
  std::optional<RunningCluster> outline_;
  const base::Clock& clock_;
  base::Logger& log_;
  const std::shared_ptr<http::StopSignal> stop_ = std::make_shared<http::StopSignal>();
  base::Mutex mutex_;
  std::vector<Followed> followed_ GUARDED_BY(mutex_);
  std::atomic<bool> reconnected_ = false;
  std::thread thread_;
};

}  // namespace berth::cli
