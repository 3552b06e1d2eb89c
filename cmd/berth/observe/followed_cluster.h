// Finds the running cluster that a program follows for as long as it runs.
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "berth/inspect/source_arguments.h"
#include "kube/access.h"
#include "observe/follower.h"

namespace berth::cli {

struct FollowedCluster {
  kube::Access access = {};
  std::unique_ptr<observe::ClusterFollower> follower = {};
  bool answers = true;  ///< False if the API server is away.
};

/// Fails if the arguments or the kubeconfig cannot be used, or if the API server refuses. A server
/// that does not answer at the moment is no error, because that is not the fault of this program:
/// the follower tries it again until it answers. All requests share one access, so a credential
/// plugin runs once. The clock and the log must outlive the follower.
base::Result<FollowedCluster> FindFollowedCluster(const SourceArguments& source,
                                                  const base::Clock& clock, base::Logger& log);

}  // namespace berth::cli
