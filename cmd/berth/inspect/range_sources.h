// Says where the ranges of a view come from, and whether they are exact or assumed. Pure.
#pragma once

#include <string>

#include "inspect/cluster.h"

namespace berth::cli {

/// Returns a line without its end: "Ranges: addresses from ServiceCIDR kubernetes (exact), node
/// ports assumed, as Kubernetes' default".
std::string RangeSources(const inspect::Cluster& cluster);

}  // namespace berth::cli
