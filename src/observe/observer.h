// Follows a cluster: keeps what it shows now, records who holds what, and counts ranges and
// findings from time to time.
//
// The Services are kept once, in the history. Records and ranges are kept here. Figures are
// computed by Refresh, which takes a fraction of a second for 100,000 Services, and are then read
// by any number of scrapes.
//
// Threads: any.
#pragma once

#include <absl/container/btree_map.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alloc/pool_id.h"
#include "audit/facts.h"
#include "audit/finding.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "history/history.h"
#include "inspect/census.h"
#include "inspect/cluster.h"
#include "observe/follower.h"

namespace berth::observe {

/// More ranges are not shown, so that metrics stay bounded.
inline constexpr size_t kMaxRanges = 256;
inline constexpr size_t kMaxNamespaces = 100;

struct RangeReport {
  std::string name = {};  ///< Of the object, or the text of a range that has none.
  std::string text = {};  ///< "10.96.0.0/16".
  std::string kind = {};  ///< "ServiceCIDR", "IPRange" or "NodePortRange".
  std::string source = {};
  bool exact = true;
  alloc::PoolId pool = alloc::PoolId::kIpv4;
  inspect::RangeFigures figures = {};
};

struct Figures {
  base::WallTime at = {};
  std::vector<RangeReport> ranges = {};
  std::vector<std::pair<std::string, uint64_t>> namespaces = {};  ///< Values held; the most first.
  uint64_t services = 0;                                          ///< That hold a value.
  alloc::PerPool<uint64_t> held = {};
  /// What is wrong with the cluster. A finding counts once two passes in a row have it, because
  /// kinds are followed one by one and an API server updates records a little later.
  std::array<uint64_t, audit::kFindingKinds> findings = {};
  std::vector<std::string> messages = {};  ///< Of the first findings that count.
};

/// How well one kind is followed.
struct KindStatus {
  WatchedKind kind = WatchedKind::kServices;
  bool listed = false;              ///< It has been listed since the start.
  std::chrono::nanoseconds lag{0};  ///< Since when nothing was reported; 0 if not listed.
  int64_t revision = 0;
  uint64_t lists = 0;
  uint64_t cuts = 0;         ///< How often the follower lost the cluster.
  std::string trouble = {};  ///< Why it is lost now; empty if all is well.
};

class Observer final : public ClusterSink {
 public:
  /// `history` and `clock` must outlive the observer.
  Observer(ClusterOutline outline, history::History& history, const base::Clock& clock);

  void Describe(ClusterOutline outline) override EXCLUDES(mutex_);
  void GiveRanges(std::vector<inspect::Range> ranges) override EXCLUDES(mutex_);
  void BeginList(WatchedKind kind) override EXCLUDES(mutex_);
  void Put(WatchedKind kind, const codec::Value& object) override EXCLUDES(mutex_);
  void Remove(WatchedKind kind, const codec::Value& object) override EXCLUDES(mutex_);
  void EndList(WatchedKind kind, int64_t revision) override EXCLUDES(mutex_);
  void Seen(WatchedKind kind, int64_t revision) override EXCLUDES(mutex_);
  void Late(WatchedKind kind, std::string_view why) override EXCLUDES(mutex_);
  void Lost(WatchedKind kind, std::string_view why) override EXCLUDES(mutex_);

  /// Takes a whole view at once, as if every kind had been listed.
  void Replace(const inspect::Cluster& cluster) EXCLUDES(mutex_);

  /// Counts everything anew, and records the counts of ranges in the history once an hour. To be
  /// called by one thread, every half minute or so.
  void Refresh() EXCLUDES(mutex_);
  /// Returns the last figures, or null before the first Refresh.
  std::shared_ptr<const Figures> figures() const EXCLUDES(mutex_);

  std::vector<KindStatus> status() const EXCLUDES(mutex_);
  history::History& history() { return history_; }

 private:
  using ValueKey = std::pair<alloc::PoolId, base::U128>;
  struct KindState {
    bool followed = false;
    bool listed = false;
    uint32_t list = 0;
    base::SteadyTime seen = {};
    int64_t revision = 0;
    uint64_t lists = 0;
    uint64_t cuts = 0;
    std::string trouble = {};
  };
  /// Most records only say which Service has the value. The others are kept whole.
  struct Record {
    std::string service = {};  ///< Namespace and name, with a slash in between.
    std::unique_ptr<const audit::RecordFacts> whole = {};
    uint32_t list = 0;
    bool says_family = false;
  };
  struct Range {
    inspect::Range range = {};
    uint32_t list = 0;
  };
  struct SeenFinding {
    std::string message = {};
    base::SteadyTime first = {};  ///< When it was first found, without a pass in between.
  };

  KindState& Of(WatchedKind kind) REQUIRES(mutex_) { return kinds_[static_cast<size_t>(kind)]; }
  bool AllListed() const REQUIRES(mutex_);
  void PutRecord(WatchedKind kind, audit::RecordFacts facts) REQUIRES(mutex_);
  static audit::RecordFacts FactsOf(const ValueKey& key, const Record& record);
  void PutRange(WatchedKind kind, inspect::Range range) REQUIRES(mutex_);
  inspect::Cluster ViewForCounts(const std::vector<history::Held>& held) const REQUIRES(mutex_);
  void CountRanges(const inspect::Cluster& cluster, Figures& figures) const;
  void CountFindings(const audit::Report& report, Figures& figures) REQUIRES(mutex_);
  void RecordCounts(const Figures& figures) REQUIRES(mutex_);

  history::History& history_;
  const base::Clock& clock_;

  mutable base::Mutex mutex_;
  std::array<KindState, kAllWatchedKinds.size()> kinds_ GUARDED_BY(mutex_);
  absl::btree_map<ValueKey, Record> records_ GUARDED_BY(mutex_);
  std::map<std::string, Range> ranges_ GUARDED_BY(mutex_);  ///< By key.
  audit::Keeps keeps_ GUARDED_BY(mutex_) = audit::Keeps::kNothing;
  std::vector<inspect::Range> given_ranges_ GUARDED_BY(mutex_);
  std::vector<SeenFinding> last_findings_ GUARDED_BY(mutex_);  ///< Of the last pass; sorted.
  std::shared_ptr<const Figures> figures_ GUARDED_BY(mutex_);
  std::optional<base::WallTime> counted_ GUARDED_BY(mutex_);
};

/// Returns what the history needs to know about a Service.
history::ServiceState StateOf(const inspect::Service& service);

}  // namespace berth::observe
