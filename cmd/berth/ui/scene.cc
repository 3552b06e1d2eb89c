#include "berth/ui/scene.h"

#include <utility>

namespace berth::cli {
namespace {

constexpr size_t kHoldersShown = 20;

inspect::TopOptions TopOptionsOf(const SceneOptions& options) {
  return {.holders = kHoldersShown, .given_history = !options.use.empty(), .history = options.use};
}

}  // namespace

Scene::Scene(inspect::Cluster cluster, SceneOptions options)
    : cluster_(std::move(cluster)),
      options_(std::move(options)),
      census_(cluster_),
      used_(census_),
      top_(inspect::MakeTop(census_, TopOptionsOf(options_))),
      report_(inspect::CheckCluster(cluster_)),
      findings_(inspect::GroupFindings(census_, report_, inspect::CheckRunning(census_))) {}

std::shared_ptr<const inspect::Matches> Scene::MatchesOf(const inspect::Filter& filter) const {
  constexpr size_t kMostKept = 8;
  {
    const base::MutexLock lock(mutex_);
    for (const auto& each : matches_) {
      if (each->filter().text() == filter.text()) return each;
    }
  }
  auto found = std::make_shared<const inspect::Matches>(census_, used_, filter);
  const base::MutexLock lock(mutex_);
  matches_.push_front(found);
  if (matches_.size() > kMostKept) matches_.pop_back();
  return found;
}

}  // namespace berth::cli
