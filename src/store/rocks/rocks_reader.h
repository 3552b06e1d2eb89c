// The read functions of the engine: keys as they are now, pages of past states, and history for
// watches whose next event has left the ring.
//
// A reader shows nothing above the published revision, because a failed sync may still undo it.
//
// Threads: every function may be called from any thread. It waits for the disk, and for the
// database while that is being reopened.
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

/// The revision up to which history has been given up. It is raised before anything is deleted. So
/// a reader first takes a view of the database and then looks at the horizon. If the horizon is not
/// above a revision, the view holds that revision completely.
class Horizon {
 public:
  Revision Get() const { return {compacted_.load()}; }
  /// Raises the horizon. May be called by one thread at a time.
  void Raise(Revision upto) {
    if (upto > Get()) compacted_.store(upto.value);
  }

 private:
  std::atomic<int64_t> compacted_{0};
};

class Reader final : public History {
 public:
  /// The arguments must outlive the reader.
  Reader(std::string directory, DatabaseGate& gate, const KeyIndex& index, const Horizon& horizon,
         const base::Clock& clock)
      : directory_(std::move(directory)),
        gate_(gate),
        index_(index),
        horizon_(horizon),
        clock_(clock) {}

  base::Result<std::optional<Entry>> Get(std::string key) const;
  base::Result<ScanPage> Scan(const ScanRequest& request) const;
  base::Result<WatchBatch> ReadHistory(const HistoryRequest& request) override;

 private:
  class HistoryWalk;

  tl::unexpected<base::Error> Failed(const rocksdb::Status& status) const;

  const std::string directory_;
  DatabaseGate& gate_;
  const KeyIndex& index_;
  const Horizon& horizon_;
  const base::Clock& clock_;
};

/// Returns the time in milliseconds since 1970.
inline int64_t NowMillis(const base::Clock& clock) {
  return std::chrono::floor<std::chrono::milliseconds>(clock.Now()).time_since_epoch().count();
}

}  // namespace berth::store::rocks
