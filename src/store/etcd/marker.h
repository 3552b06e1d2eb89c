// The marker key: what makes a prefix of etcd Berth's. Text, so that a person can read it with
// etcdctl:
//
//   format=1
//   mode=exclusive
//   revisionBase=0
//
// It stays as it was made. How a store keeps allocations, which may change, is noted among its
// objects (registry/allocation_forms.h) and so goes with them from one engine to another; markers
// of before had a line ClusterIPAllocatorAPI= for it, which says nothing any more.
//
// A marker that this version does not fully understand is refused: a replica that overlooked a line
// would write what the others must not see.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/types.h"

namespace berth::store::etcd {

struct Marker {
  Revision base;

  bool operator==(const Marker&) const = default;
};

std::string MarkerText(const Marker& marker);

/// The error says what is wrong with the text and who could read it.
base::Result<Marker> ParseMarker(std::string_view text);

}  // namespace berth::store::etcd
