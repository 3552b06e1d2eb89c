// The engine for several replicas. It uses one etcd prefix that belongs to Berth alone (exclusive
// mode). Many transactions share one etcd Txn as nested Txns, so that they share a quorum write.
// Each transaction is decided by its own compares.
//
// Revisions are base + (etcd's mod_revision << 12 | slot). A put's slot is its position in the etcd
// Txn and is noted in its value. The k-th delete of a revision has slot 2048 + k. The store's own
// current revision has slot 4095. The base is stored in the marker key.
//
// Unknown outcomes (timeouts, lost connections, leader changes) are resolved. Every etcd Txn
// compares this process's epoch key and puts a receipt. Putting that key again makes sure that
// nothing late can commit. After that, the receipt shows whether the Txn had committed. The reply
// waits until the outcome is known.
//
// One watch on the whole prefix feeds the ring that all watches share. It begins with the first
// watch. When its stream breaks, it resumes after the last complete revision, on another member if
// necessary.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/result.h"
#include "obs/write_metrics.h"
#include "store/engine.h"
#include "store/etcd/note.h"
#include "store/event_slot.h"

namespace berth::store::etcd {

class Client;
struct ClientOptions;

struct EtcdOptions {
  /// Without a trailing slash. Used in etcd only; callers see /registry.
  std::string prefix = "/registry";
  /// Base for a prefix that is being taken into use; see RocksOptions::base.
  Revision base = {};
  bool create = true;        // If false, a prefix without a marker is an error.
  size_t max_txn_ops = 128;  // etcd's --max-txn-ops.
  bool group = true;         // If false, each etcd Txn has one transaction; for measurements.
  size_t max_in_flight = 4;  // etcd Txns in flight when grouping, each with its own receipt key.
  size_t max_in_flight_ungrouped = 128;
  size_t max_waiting = 65'536;
  size_t ring_bytes = size_t{16} << 20;
  std::chrono::seconds compact_interval{300};  // 0 means never: another process compacts.
  /// A transaction that etcd has not accepted after this time is refused. A transaction that etcd
  /// may have accepted waits until its outcome is known.
  std::chrono::milliseconds commit_timeout{30'000};
  obs::WriteMetrics* metrics = nullptr;  // Must outlive the engine.
  /// What an earlier process noted. If the store is not the one of the note, or has another time
  /// line, a new time line begins, whose revisions are above the note's.
  std::optional<Note> note = {};
  /// Called with a new note every few seconds, and when the engine closes.
  std::function<void(const Note&)> keep_note = nullptr;
  /// Called once if the engine has to be opened again; GetHealth has the reason. Must be quick and
  /// must not call into the engine.
  std::function<void()> stopped = nullptr;
};

class EtcdEngine : public Engine {
 public:
  /// Connects, checks the marker and the prefix, and reads the store's current revision. Refuses a
  /// prefix that has keys but no marker, and names some of the keys. `log` and `clock` must outlive
  /// the engine.
  static base::Result<std::unique_ptr<EtcdEngine>> Open(const ClientOptions& client,
                                                        const EtcdOptions& options, SlotCodec slots,
                                                        base::Logger& log,
                                                        const base::Clock& clock);

  /// Does the same on a connected client, for tests that wrap the client.
  static base::Result<std::unique_ptr<EtcdEngine>> OpenOn(std::unique_ptr<Client> client,
                                                          const EtcdOptions& options,
                                                          SlotCodec slots, base::Logger& log,
                                                          const base::Clock& clock);

  /// Returns the revision up to which history has been deleted, as far as this process knows.
  virtual Revision Compacted() const = 0;
};

}  // namespace berth::store::etcd
