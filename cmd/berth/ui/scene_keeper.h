// Makes a new scene whenever the cluster that is followed has changed, and notices when it is not
// followed any more. A scene of a large cluster takes a while, so it is made on a thread of its
// own, twice a second at most and a fifth of the time at most.
//
// Threads: any, as observe::ClusterSink says.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "berth/ui/scene.h"
#include "berth/ui/scene_board.h"
#include "inspect/census.h"
#include "inspect/live_cluster.h"
#include "inspect/top.h"
#include "inspect/whois.h"
#include "observe/follower.h"

namespace berth::cli {

/// What a history adds to a scene. Both may be unset, and both may read files.
struct ScenePast {
  std::function<inspect::UseHistory(const inspect::Census& ranges)> use = {};
  inspect::History owners = {};
};

struct KeeperTimes {
  std::chrono::nanoseconds least_pause = std::chrono::milliseconds(500);
  /// The pause after a scene is so many times as long as making it took.
  int pause_factor = 4;
  /// Shorter cuts are not told: watches end and begin again all the time.
  std::chrono::nanoseconds worth_telling = std::chrono::seconds(2);
  /// A quiet cluster is shown anew so often, because ages and forecasts depend on the time.
  std::chrono::nanoseconds longest_pause = std::chrono::minutes(10);
  /// How long what `ScenePast::use` says is good for.
  std::chrono::nanoseconds use_lasts = std::chrono::minutes(5);
};

class SceneKeeper final : public observe::ClusterSink {
 public:
  /// The board and the clock must outlive the keeper.
  SceneKeeper(SceneBoard& board, ScenePast past, const base::Clock& clock, KeeperTimes times = {});
  ~SceneKeeper() override;
  SceneKeeper(const SceneKeeper&) = delete;
  SceneKeeper& operator=(const SceneKeeper&) = delete;

  void Describe(observe::ClusterOutline outline) override EXCLUDES(mutex_);
  void GiveRanges(std::vector<inspect::Range> ranges) override EXCLUDES(mutex_);
  void BeginList(observe::WatchedKind kind) override EXCLUDES(mutex_);
  void Put(observe::WatchedKind kind, const codec::Value& object) override EXCLUDES(mutex_);
  void Remove(observe::WatchedKind kind, const codec::Value& object) override EXCLUDES(mutex_);
  void EndList(observe::WatchedKind kind, int64_t revision) override EXCLUDES(mutex_);
  void Seen(observe::WatchedKind kind, int64_t revision) override EXCLUDES(mutex_);
  void Late(observe::WatchedKind kind, std::string_view why) override EXCLUDES(mutex_);
  void Lost(observe::WatchedKind kind, std::string_view why) override EXCLUDES(mutex_);

 private:
  struct Followed {
    bool wanted = false;
    bool listed = false;
    std::optional<base::SteadyTime> cut = {};  ///< Since when it is late or lost.
    base::WallTime cut_at = {};
    std::string why = {};
  };

  Followed& Of(observe::WatchedKind kind) REQUIRES(mutex_) {
    return kinds_[static_cast<size_t>(kind)];
  }
  void Cut(observe::WatchedKind kind, std::string_view why) REQUIRES(mutex_);
  bool IsComplete() const REQUIRES(mutex_);
  std::optional<SceneTrouble> TroubleNow() const REQUIRES(mutex_);
  inspect::Cluster MakeView() REQUIRES(mutex_);

  void Run() EXCLUDES(mutex_);
  void ShowTrouble() EXCLUDES(mutex_);
  void ShowScene(inspect::Cluster view);
  const inspect::UseHistory& UseOf(const inspect::Cluster& view);

  SceneBoard& board_;
  const ScenePast past_;
  const base::Clock& clock_;
  const KeeperTimes times_;

  base::Mutex mutex_;
  base::CondVar wake_;
  observe::ClusterOutline outline_ GUARDED_BY(mutex_);
  std::optional<inspect::LiveCluster> live_ GUARDED_BY(mutex_);
  std::array<Followed, observe::kAllWatchedKinds.size()> kinds_ GUARDED_BY(mutex_);
  bool news_ GUARDED_BY(mutex_) = false;
  bool over_ GUARDED_BY(mutex_) = false;

  // Of the thread:
  uint64_t seq_ = 0;
  std::string told_;  // The trouble that was told last.
  inspect::UseHistory use_;
  std::string use_of_;  // The ranges that it is about.
  std::optional<base::SteadyTime> use_at_;

  std::thread thread_;  // The last member, because the thread uses the others.
};

}  // namespace berth::cli
