// How long the steps of a write take, and how many writes share one: counted by the store and by
// the sequencer, which are given this by the wiring.
//
// Threads: any. It must outlive whoever counts, and the metrics that it was added to.
#pragma once

#include "obs/instruments.h"
#include "obs/metrics.h"

namespace berth::obs {

struct WriteMetrics {
  WriteMetrics();

  Histogram commit;  // From the moment a write comes until it is durable and published.
  Histogram apply;   // Of that: from the store's reply on; so far the picture lags behind.
  Histogram store;   // One durable write of the store: RocksDB's with its sync, or etcd's Txn.
  Histogram store_shared;  // The transactions in it.

  void AddTo(Metrics& metrics) const;
};

}  // namespace berth::obs
