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

}  // namespace berth::cli
