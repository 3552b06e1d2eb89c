// The marker key, which shows that a prefix of etcd belongs to Berth. It is text, so that a person
// can read it with etcdctl:
//
//   format=1
//   mode=exclusive
//   revisionBase=0
//
// It changes only when a new time line begins, because etcd was restored from a backup: then the
// base is raised above all revisions that clients have seen (opening.h), and every process opens
// the store again. How a store keeps allocations may change, so that is noted among its objects
// (registry/allocation_forms.h) and moves with them from one engine to another. Earlier markers had
// a line ClusterIPAllocatorAPI= for it, which no longer has a meaning.
//
// A marker that this version does not fully understand is refused. A replica that ignored a line
// would write what the other replicas must not see.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/types.h"

namespace berth::store::etcd {

/// The highest base. It leaves room for 2^50 etcd revisions above it.
inline constexpr int64_t kMaxBase = int64_t{1} << 62;

struct Marker {
  Revision base;

  bool operator==(const Marker&) const = default;
};

std::string MarkerText(const Marker& marker);

/// Parses a marker. The error says what is wrong with the text and which version could read it.
base::Result<Marker> ParseMarker(std::string_view text);

}  // namespace berth::store::etcd
