// How long the steps of a write take, and how many writes share a step. The store and the sequencer
// count them; the wiring in cmd/berth passes this object to both.
//
// Threads: any. It must outlive the store, the sequencer and the metrics that it was added to.
#pragma once

#include "obs/instruments.h"
#include "obs/metrics.h"

namespace berth::obs {

struct WriteMetrics {
  WriteMetrics();

  Histogram commit;  // From the arrival of a write until it is durable and published.
  Histogram apply;   // The part of it after the store's reply: the lag of the snapshot.
  Histogram store;   // One durable write of the store: RocksDB's with its sync, or etcd's Txn.
  Histogram store_shared;  // The number of transactions in one such write.

  void AddTo(Metrics& metrics) const;
};

}  // namespace berth::obs
