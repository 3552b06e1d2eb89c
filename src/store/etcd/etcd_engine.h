// The engine for several replicas: one etcd prefix that is Berth's alone (exclusive mode). Many
// transactions share one etcd Txn as nested Txns, so that they share a quorum write; each is
// decided by its own compares.
//
// Revisions: base + (etcd's mod_revision << 12 | slot). A put's slot is its place in the etcd Txn,
// noted in its value; the k-th delete of a revision has slot 2048 + k; the store's own current
// revision has slot 4095. The base is in the marker key.
//
// Unknown outcomes (timeouts, lost connections, leader changes) are found out: every etcd Txn
// compares this process's fence key and puts a receipt; putting the fence anew makes sure that
// nothing late can commit any more, then the receipt tells whether it had. A reply waits for that.
//
// One watch on the whole prefix feeds the ring that all watches share; it begins with the first of
// them. When it breaks, it resumes from the last complete revision, on another member if need be.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/result.h"
#include "obs/write_metrics.h"
#include "store/engine.h"
#include "store/slot.h"

namespace berth::store::etcd {

class Client;
struct ClientOptions;

struct EtcdOptions {
  std::string prefix =
      "/registry";  // Without a slash at the end; in etcd only: callers see /registry.
  /// Of a prefix that is being taken into use; see RocksOptions::base.
  Revision base = {};
  bool create = true;        // Off: a prefix without a marker is an error.
  size_t max_txn_ops = 128;  // etcd's --max-txn-ops.
  bool group = true;         // Off: one transaction per etcd Txn, for measuring.
  size_t max_in_flight = 4;  // etcd Txns under way when grouping, each with its receipt key.
  size_t max_in_flight_ungrouped = 128;
  size_t max_waiting = 65'536;
  size_t ring_bytes = size_t{16} << 20;
  std::chrono::seconds compact_interval{300};  // 0: never; somebody else compacts.
  /// A transaction that etcd has not taken after so long is refused. One that etcd may have taken
  /// waits until that is known.
  std::chrono::milliseconds commit_timeout{30'000};
  obs::WriteMetrics* metrics = nullptr;  // Must outlive the engine.
};

class EtcdEngine : public Engine {
 public:
  /// Connects, checks marker and prefix, loads where the store is. Refuses a prefix that holds
  /// keys but no marker, naming some. `log` and `clock` must outlive it.
  static base::Result<std::unique_ptr<EtcdEngine>> Open(const ClientOptions& client,
                                                        const EtcdOptions& options, SlotCodec slots,
                                                        base::Logger& log,
                                                        const base::Clock& clock);

  /// The same on a client that is connected already; for tests that come between.
  static base::Result<std::unique_ptr<EtcdEngine>> OpenOn(std::unique_ptr<Client> client,
                                                          const EtcdOptions& options,
                                                          SlotCodec slots, base::Logger& log,
                                                          const base::Clock& clock);

  /// History up to here is gone, as far as this process knows.
  virtual Revision Compacted() const = 0;
};

}  // namespace berth::store::etcd
