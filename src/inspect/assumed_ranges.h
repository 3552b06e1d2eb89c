// Guesses the ranges of a cluster whose source does not show them, from the values in use. Pure.
#pragma once

#include <string>
#include <vector>

#include "inspect/cluster.h"

namespace berth::inspect {

struct AssumedRange {
  std::string text = {};    ///< A CIDR or a port range.
  std::string source = {};  ///< Says that it is assumed, and why.
};

/// Returns a range for each pool that has values in use but no range, and the ports in any case:
///
/// - ports: Kubernetes' default, widened by the node ports in use;
/// - addresses: the smallest CIDR that contains all addresses in use, but at least a /24, or a /112
///   for IPv6, because smaller ones are rare.
std::vector<AssumedRange> AssumeRanges(const Cluster& cluster);

}  // namespace berth::inspect
