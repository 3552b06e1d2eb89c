// Which kinds of objects a cluster is read from, and how an object of each is read.
#pragma once

#include <string_view>
#include <vector>

#include "api/kinds.h"
#include "inspect/cluster.h"
#include "inspect/live_cluster.h"

namespace berth::cli {

struct Listing {
  const api::Kind* kind = nullptr;
  inspect::AddObject add = nullptr;
};

/// Returns which program has such a version: "v1.36.4", "v1.36.4+berth.0.9".
inspect::ServerKind ServerKindOf(std::string_view version);

/// Returns the listing of Services. Without it there is nothing to see.
Listing ServiceListing();

/// Returns the other listings that such a server may have: records and ranges. Berth shows more
/// about its records than Kubernetes does.
std::vector<Listing> OtherListings(inspect::ServerKind server);

}  // namespace berth::cli
