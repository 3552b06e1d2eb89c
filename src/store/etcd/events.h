// etcd's events as the store's: whole revisions, each event with a revision of its own, in order.
// Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "store/etcd/etcd.pb.h"
#include "store/etcd/layout.h"
#include "store/types.h"

namespace berth::store::etcd {

struct Decoded {
  std::vector<Event> events;  // In order of revisions; without the engine's own keys.
  int64_t last = 0;           // The last etcd revision seen, 0 for none.
  bool tick = false;          // The tick key was among them.
  /// A revision that Berth cannot have written: more deletes than slots, or two puts that claim the
  /// same one. Its events are not told apart; `last` counts it.
  bool foreign = false;
};

/// The events of one response (whole revisions, as etcd sends them) after the revision `after`.
/// What was there before, and what comes twice, is left out: older servers repeat themselves.
Decoded Decode(const Layout& layout, const etcdserverpb::WatchResponse& response, int64_t after);

}  // namespace berth::store::etcd
