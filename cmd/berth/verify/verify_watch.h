// Runs `berth verify --watch`: looks at what the watches of a running cluster show, and again
// whenever the cluster has changed. Reads only.
#pragma once

#include <functional>

#include "base/result.h"
#include "berth/inspect/load_cluster.h"
#include "berth/inspect/show.h"
#include "berth/inspect/source_arguments.h"
#include "berth/verify/look.h"

namespace berth::cli {

/// Returns how a look is printed, and its exit code.
using LookRenderer = std::function<Rendered(const Look& look)>;

/// Looks until the user ends the program or the reader of the output closes it. A finding counts
/// once two looks some seconds apart have it. Returns the exit code of the last look, or
/// `not_written`.
base::Result<int> WatchCluster(RunningCluster running, const base::Clock& clock, bool table,
                               int not_written, const LookRenderer& render);

}  // namespace berth::cli
