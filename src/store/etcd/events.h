// Converts etcd's events to the store's: whole revisions, in order, where each event has its own
// revision. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "store/etcd/etcd.pb.h"
#include "store/etcd/etcd_layout.h"
#include "store/types.h"

namespace berth::store::etcd {

struct Decoded {
  std::vector<Event> events;  // In the order of revisions; without the engine's own keys.
  int64_t last = 0;           // The last etcd revision seen, or 0.
  bool tick = false;          // The tick key was among the events.
  /// A revision that Berth cannot have written: it has more deletes than there are slots, or two
  /// puts with the same slot. Its events are left out, but `last` includes it.
  bool foreign = false;
};

/// Decodes the events of one response (whole revisions, as etcd sends them) after the revision
/// `after`. Leaves out earlier and repeated events, because older servers send some twice.
Decoded Decode(const Layout& layout, const etcdserverpb::WatchResponse& response, int64_t after);

}  // namespace berth::store::etcd
