// Looks at the view of a cluster: Services, records and ranges, and says what the view does not
// show. Pure.
#pragma once

#include "berth/verify/look.h"
#include "inspect/cluster.h"

namespace berth::cli {

/// The view may be that of files, of Kubernetes, or of a Berth that keeps records.
Look LookAtView(const inspect::Cluster& cluster);

}  // namespace berth::cli
