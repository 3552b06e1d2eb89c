// Follows a cluster through watches of its API server, and makes views of it. Reads only.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "berth/inspect/api_listings.h"
#include "inspect/cluster.h"
#include "inspect/live_cluster.h"
#include "kube/access.h"
#include "kube/watch.h"

namespace berth::cli {

class LiveSource {
 public:
  /// Starts to follow. `first` is a view of the cluster that was just read, with what does not
  /// change, and `readable` are the listings that the server shows beside Services. The clock must
  /// outlive the source.
  LiveSource(const kube::Access& access, inspect::Cluster first, std::vector<Listing> readable,
             const base::Clock& clock);

  /// Waits until the cluster has been listed and differs from the last view, or until the troubles
  /// differ from those of the last view. Returns false after `limit` without either.
  bool WaitForNews(std::chrono::nanoseconds limit) EXCLUDES(mutex_);

  /// Returns the cluster as it is now. A watch that is cut off becomes a gap. Until everything has
  /// been listed, it is the first view.
  inspect::Cluster View() EXCLUDES(mutex_);

  /// Returns the gaps of the last view that are watches that are cut off.
  const std::vector<inspect::Gap>& troubles() const { return shown_troubles_; }

 private:
  /// Returns a gap for each watch that has been cut off for a while.
  std::vector<inspect::Gap> Troubles();
  void OnEvent(size_t kind, kube::WatchEvent event) EXCLUDES(mutex_);

  const base::Clock& clock_;
  inspect::Cluster first_;  // Emptied when everything has been listed.
  inspect::Cluster head_;   // What does not change, and no objects.
  std::vector<Listing> listings_;

  // Of the caller's thread:
  std::vector<std::optional<base::WallTime>> cut_since_;  // Of each watch that is cut off.
  std::vector<inspect::Gap> shown_troubles_;              // Of the last view.

  base::Mutex mutex_;
  base::CondVar changed_;
  inspect::LiveCluster live_ GUARDED_BY(mutex_);
  bool news_ GUARDED_BY(mutex_) = false;
  size_t lists_to_come_ GUARDED_BY(mutex_) = 0;
  std::vector<bool> listed_ GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<kube::Watch>> watches_;  // Last, so that they end first.
};

}  // namespace berth::cli
