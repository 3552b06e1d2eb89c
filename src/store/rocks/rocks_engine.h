// The embedded engine: RocksDB in a directory of its own. One thread commits. It takes every
// waiting transaction, decides each on the state that the ones before it leave, and writes them as
// one batch with one sync. Replies follow the sync.
//
// Layout (store/rocks/rocks_layout.h): RocksDB holds every version of a key under key and revision,
// a log of revisions with key, previous revision and operation, and notes about the store itself.
// An index in memory (a hash of each key and its revision) decides compares. Values are read from
// RocksDB.
//
// After a failed sync the outcome of the batch is unknown. The engine then takes no writes. It
// closes RocksDB and opens it again, which writes the contents of the log into new synced files,
// and checks whether the batch is there. Only then does it reply and go on, with revisions above
// every one ever assigned. While reopening fails, the engine serves only reads, reports the reason
// in GetHealth, and tries again.
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
  std::string directory = {};  // Created if it is missing. Its parent must exist.
  bool sync = true;            // False only for measurements: acknowledged writes can be lost.
  bool create = true;          // If false, a directory without a store is an error.
  bool read_only = false;      // Opens read-only, but takes the directory's lock all the same.
  /// The base of a new store. Revisions begin above it, and history up to it counts as compacted.
  Revision base = {};
  std::chrono::seconds history_age{600};
  size_t history_bytes = size_t{256} << 20;
  size_t ring_bytes = size_t{16} << 20;
  size_t cache_bytes = size_t{32} << 20;
  size_t write_buffer_bytes = size_t{16} << 20;
  /// Writes are refused while the disk has less free space than this, so that reads, flushes and
  /// compactions have room to go on.
  size_t min_free_bytes = size_t{64} << 20;
  size_t max_waiting = 65'536;  // Waiting transactions. More are refused (kTooManyRequests).
  obs::WriteMetrics* metrics = nullptr;  // Must outlive the engine.
};

class RocksEngine : public Engine {
 public:
  /// Opens or creates the store. If it fails, the message says what a person can do about it: which
  /// process holds the directory, which file is damaged and where, no permission, no space. `log`
  /// and `clock` must outlive the engine.
  static base::Result<std::unique_ptr<RocksEngine>> Open(const RocksOptions& options,
                                                         base::Logger& log,
                                                         const base::Clock& clock);

  /// Returns the revision up to which history is given up.
  virtual Revision Compacted() const = 0;

  /// Returns the number of live keys.
  virtual size_t KeyCount() const = 0;
};

}  // namespace berth::store::rocks
