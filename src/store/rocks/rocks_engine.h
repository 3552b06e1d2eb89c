// The embedded engine: RocksDB in a directory of its own. One thread commits: it takes every
// transaction that waits, decides each on the state the ones before it leave, and writes them as
// one batch with one sync. A reply follows the sync.
//
// Layout (store/rocks/layout.h): every version of a key under key and revision; a log of revisions
// with key, previous revision and operation; notes about the store itself. Compares are decided by
// an index in memory (a hash of the key and its revision); values are read from RocksDB.
//
// A failed sync makes its batch unknown: the engine takes no writes, closes RocksDB, opens it
// again, which writes what the log holds into new synced files, looks which of the batch is there,
// and only then replies and goes on, above every revision ever handed out. While that fails it
// serves reads alone, says why in GetHealth, and tries again.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "obs/write_metrics.h"
#include "store/engine.h"

namespace berth::store::rocks {

struct RocksOptions {
  std::string directory = {};  // Made when missing, its parent must be there.
  bool sync = true;            // Off: for measuring only; what was replied can be lost.
  bool create = true;          // Off: a directory without a store is an error.
  bool read_only = false;      // Open for reading alone; takes the directory's lock all the same.
  /// Of a store that is being made: revisions begin above it, what lies before is compacted.
  Revision base = {};
  std::chrono::seconds history_age{600};
  size_t history_bytes = size_t{256} << 20;
  size_t ring_bytes = size_t{16} << 20;
  size_t cache_bytes = size_t{32} << 20;
  size_t write_buffer_bytes = size_t{16} << 20;
  /// Below this much free space on the disk writes are refused, so that reads, flushes and
  /// compactions have room to go on.
  size_t min_free_bytes = size_t{64} << 20;
  size_t max_waiting = 65'536;  // Transactions that wait; more are refused (kTooManyRequests).
  obs::WriteMetrics* metrics = nullptr;  // Must outlive the engine.
};

class RocksEngine : public Engine {
 public:
  /// Opens or makes the store. Fails with what a person must do: who holds the directory, which
  /// file is damaged and where, no permission, no space. `log` and `clock` must outlive it.
  static base::Result<std::unique_ptr<RocksEngine>> Open(const RocksOptions& options,
                                                         base::Logger& log,
                                                         const base::Clock& clock);

  /// History up to here is gone.
  virtual Revision Compacted() const = 0;

  /// Live keys.
  virtual size_t KeyCount() const = 0;
};

}  // namespace berth::store::rocks
