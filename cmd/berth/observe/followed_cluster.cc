#include "berth/observe/followed_cluster.h"

#include <optional>
#include <utility>

#include "berth/inspect/load_cluster.h"
#include "berth/observe/cluster_follower.h"
#include "inspect/cluster_reader.h"
#include "kube/find_access.h"
#include "kube/surroundings.h"

namespace berth::cli {
namespace {

/// Returns whether it makes sense to ask the API server again after such an error.
bool MayPass(const base::Error& error) {
  switch (error.reason) {
    case base::Reason::kServiceUnavailable:
    case base::Reason::kTimeout:
    case base::Reason::kServerTimeout:
    case base::Reason::kTooManyRequests:
    case base::Reason::kInternalError:
      return true;
    default:
      return false;
  }
}

}  // namespace

base::Result<FollowedCluster> FindFollowedCluster(const SourceArguments& source,
                                                  const base::Clock& clock, base::Logger& log) {
  auto access = kube::FindAccess(AccessOptionsOf(source), kube::RealSurroundings());
  if (!access) return tl::unexpected(access.error());
  inspect::ClusterReader unused({});
  if (auto added = AddFlagRanges(source, unused); !added) return tl::unexpected(added.error());
  auto outline = LoadOutline(*access, source, clock, nullptr);
  if (!outline && !MayPass(outline.error())) return tl::unexpected(outline.error());
  if (!outline) {
    log.Warn("the API server does not answer; it is tried again until it does",
             {{"why", outline.error().message}});
  }
  FollowedCluster followed{.answers = outline.has_value()};
  auto now = outline ? std::optional(*std::move(outline)) : std::nullopt;
  followed.follower =
      std::make_unique<WatchingFollower>(*access, source, std::move(now), clock, log);
  followed.access = *std::move(access);
  return followed;
}

}  // namespace berth::cli
