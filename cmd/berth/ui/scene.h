// A view of a cluster with everything that is computed once for each view, and what the page is
// told about it. web/src/api.ts describes the documents; each function here makes one of them.
//
// A scene never changes, so any number of requests read it at the same time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "codec/value.h"
#include "inspect/census.h"
#include "inspect/checks.h"
#include "inspect/cluster.h"
#include "inspect/finding_groups.h"
#include "inspect/matches.h"
#include "inspect/top.h"
#include "inspect/used_values.h"
#include "inspect/whois.h"

namespace berth::cli {

struct SceneOptions {
  uint64_t seq = 1;
  bool live = false;  ///< The cluster is followed.
  inspect::UseHistory use = {};
  inspect::History past = {};  ///< Unset without a history.
};

class Scene {
 public:
  Scene(inspect::Cluster cluster, SceneOptions options);

  const inspect::Cluster& cluster() const { return cluster_; }
  const inspect::Census& census() const { return census_; }
  const inspect::TopView& top() const { return top_; }
  const audit::Report& report() const { return report_; }
  const inspect::UsedValues& used() const { return used_; }
  /// Returns what is wrong, the worst first.
  const std::vector<inspect::FindingGroup>& findings() const { return findings_; }
  const SceneOptions& options() const { return options_; }
  /// Returns what matches a filter. Pages ask for many tiles with one text, so the last few answers
  /// are kept.
  std::shared_ptr<const inspect::Matches> MatchesOf(const inspect::Filter& filter) const
      EXCLUDES(mutex_);
  uint64_t seq() const { return options_.seq; }

 private:
  const inspect::Cluster cluster_;
  const SceneOptions options_;
  const inspect::Census census_;
  const inspect::UsedValues used_;
  const inspect::TopView top_;
  const audit::Report report_;
  const std::vector<inspect::FindingGroup> findings_;
  mutable base::Mutex mutex_;
  mutable std::deque<std::shared_ptr<const inspect::Matches>> matches_ GUARDED_BY(mutex_);
};

/// Why the cluster is not followed at the moment.
struct SceneTrouble {
  std::string message = {};
  base::WallTime since = {};
};

codec::Value OverviewDocument(const Scene& scene, const std::optional<SceneTrouble>& trouble);
codec::Value FindingsDocument(const Scene& scene);

/// The following fail with kInvalid if a parameter cannot be read, and with kNotFound if there is
/// no such range.
base::Result<codec::Value> RangeDetailDocument(const Scene& scene, std::string_view key);

struct TileQuestion {
  std::string key = {};
  std::string bits = {};
  std::string index = {};
  std::string find = {};  ///< May be empty.
};
base::Result<codec::Value> TileDocument(const Scene& scene, const TileQuestion& question);

struct TableQuestion {
  std::string key = {};
  std::string first = {};  ///< Empty means the first value of the range.
  std::string last = {};
  std::string find = {};
  std::string after = {};
};
base::Result<codec::Value> TableDocument(const Scene& scene, const TableQuestion& question);

/// Exactly one of the two is given. Reads the history, if there is one, so it may block.
base::Result<codec::Value> DetailsDocument(const Scene& scene, std::string_view value,
                                           std::string_view service);
base::Result<codec::Value> SearchDocument(const Scene& scene, std::string_view text);
base::Result<codec::Value> WhatIfDocument(const Scene& scene, std::string_view key,
                                          const std::vector<std::string>& to);

/// Returns the data of a `view` event: what differs from the view before, which may be null.
codec::Value ViewDocument(const Scene* before, const Scene& now);

}  // namespace berth::cli
