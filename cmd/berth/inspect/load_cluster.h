// Reads the view of a cluster from the source that the arguments name. Reads only.
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "berth/inspect/api_listings.h"
#include "berth/inspect/source_arguments.h"
#include "http/stop_signal.h"
#include "inspect/cluster.h"
#include "inspect/cluster_reader.h"
#include "kube/find_access.h"

namespace berth::cli {

/// Returns the flags that name a cluster.
kube::AccessOptions AccessOptionsOf(const SourceArguments& source);

/// Fails with kInvalid if the arguments name more than one source.
base::Result<void> CheckSource(const SourceArguments& source);

/// Returns the view. Fails with kInvalid if the arguments or files cannot be used, and with another
/// reason if the source cannot be read.
/// With `some_services`, a user who may not list all Services gets a view with some of them, and a
/// gap. Such a view shows what it can and proves nothing.
base::Result<inspect::Cluster> LoadCluster(const SourceArguments& source, const base::Clock& clock,
                                           bool some_services = false);

/// Returns the view of the cluster that `access` leads to. The source gives only the ranges.
base::Result<inspect::Cluster> LoadServer(const kube::Access& access, const SourceArguments& source,
                                          const base::Clock& clock, bool some_services = false);

/// A view of a cluster and what is needed to follow it.
struct RunningCluster {
  kube::Access access = {};
  std::vector<Listing> readable = {};  ///< What the server shows beside Services.
  inspect::Cluster view = {};
};

/// Reads the view of a cluster that is to be followed. Fails as LoadCluster does, and with kInvalid
/// if the source is a file or a store at rest.
base::Result<RunningCluster> LoadRunning(const SourceArguments& source, const base::Clock& clock);

/// Reads the same of the cluster that `access` leads to, but a view without Services and records.
/// It is quick and small however large the cluster is. The source gives only the ranges. Ends early
/// if `stop`, which may be null, is raised.
base::Result<RunningCluster> LoadOutline(const kube::Access& access, const SourceArguments& source,
                                         const base::Clock& clock,
                                         std::shared_ptr<const http::StopSignal> stop);

/// Returns the ranges that no object of the cluster shows and that are not assumed.
std::vector<inspect::Range> GivenRanges(const inspect::Cluster& cluster);

/// Replaces the ranges of ports by the one that a flag gives, and adds the CIDRs that flags give.
base::Result<void> AddFlagRanges(const SourceArguments& source, inspect::ClusterReader& reader);

}  // namespace berth::cli
