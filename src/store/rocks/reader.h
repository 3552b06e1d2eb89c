// Everything that is read: keys as they are, pages of past states, and history for watches that
// have fallen behind the ring.
//
// What is read from the database is always older than the published revision: what lies above it
// may still be undone by a failed sync.
//
// Threads: every function may be called from any thread; it waits for the disk, and while the
// database is being reopened for that too.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "store/event_ring.h"
#include "store/rocks/database_gate.h"
#include "store/rocks/key_index.h"
#include "store/types.h"

namespace berth::store::rocks {

/// How far history has been given up. Raised before anything is deleted: whoever sees it below a
/// revision after having taken a view of the database finds that revision whole in the view.
class Horizon {
 public:
  Revision Get() const { return {compacted_.load()}; }
  /// One thread at a time.
  void Raise(Revision upto) {
    if (upto > Get()) compacted_.store(upto.value);
  }

 private:
  std::atomic<int64_t> compacted_{0};
};

class Reader final : public History {
 public:
  /// All of them must outlive it.
  Reader(std::string directory, DatabaseGate& gate, const KeyIndex& index, const Horizon& horizon,
         const base::Clock& clock)
      : directory_(std::move(directory)),
        gate_(gate),
        index_(index),
        horizon_(horizon),
        clock_(clock) {}

  base::Result<std::optional<Entry>> Get(std::string key) const;
  base::Result<ScanPage> Scan(const ScanRequest& request) const;
  base::Result<WatchBatch> Read(const std::string& prefix, Revision after, Revision upto,
                                size_t max) override;

 private:
  class HistoryWalk;

  tl::unexpected<base::Error> Failed(const rocksdb::Status& status) const;

  const std::string directory_;
  DatabaseGate& gate_;
  const KeyIndex& index_;
  const Horizon& horizon_;
  const base::Clock& clock_;
};

/// Milliseconds since 1970.
inline int64_t NowMillis(const base::Clock& clock) {
  return std::chrono::floor<std::chrono::milliseconds>(clock.Now()).time_since_epoch().count();
}

}  // namespace berth::store::rocks
