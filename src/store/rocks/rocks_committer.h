// The one thread that writes. It takes all waiting transactions as a group, and writes and syncs
// the group as one batch. Then, in this order, it publishes the group, passes its events to the
// ring, and replies.
//
// After a failed write or sync the outcome of the group is unknown. The thread then closes the
// database and opens it again, which writes the contents of the logs into new, synced files. It
// checks whether the group's log record is among them. Only then does it settle the group and go
// on, with revisions above every one it has ever assigned. While reopening fails, reads are served
// from a database that is opened read-only, commits are refused, and the thread tries again.
//
// Seal: when no transaction waits any more, a small unsynced record follows the last synced one in
// RocksDB's log. With it, damage to the last synced record can be told from a torn tail
// (log_check.h). Nothing else is ever written unsynced, so at most one record at the end of a log
// is not on the disk.
//
// Threads: every function may be called from any thread. Replies are delivered on the committer's
// thread. Refusals may also be delivered on the caller's thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "obs/write_metrics.h"
#include "store/event_ring.h"
#include "store/rocks/database_gate.h"
#include "store/rocks/disk_guard.h"
#include "store/rocks/group.h"
#include "store/rocks/key_index.h"
#include "store/rocks/rocks_reader.h"
#include "store/types.h"

namespace berth::store::rocks {

/// Adds to a write batch.
using Fill = std::function<void(const Database&, rocksdb::WriteBatch&)>;

/// A write of the store's own, made together with the next group or alone.
struct Chore {
  Fill fill;  // Called on the committer's thread, before the group is decided.
  /// Called once: without an error when the chore is durable, or with the reason why it may not be.
  std::function<void(base::Result<void>)> done;
};

class Committer {
 public:
  struct Options {
    DatabaseOptions database;  // For opening the database again.
    bool sync = true;
    size_t max_waiting = 0;
    obs::WriteMetrics* metrics = nullptr;
    std::chrono::milliseconds retry{1000};
    /// `on_history_step` is called on the committer's thread each time history has grown by this
    /// many bytes.
    uint64_t history_step = 0;
    std::function<void()> on_history_step;
  };

  /// The parts of the engine that the committer uses. They must outlive it.
  struct Parts {
    DatabaseGate& gate;
    KeyIndex& index;
    Horizon& horizon;
    EventRing& ring;
    DiskGuard& disk;
    base::Logger& log;
    const base::Clock& clock;
  };

  /// Starts the thread. `last` is the newest revision. `history_bytes` is the number of bytes of
  /// history written so far.
  Committer(Options options, const Parts& parts, Revision last, uint64_t history_bytes);
  ~Committer() { Stop(); }
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  void Commit(Txn txn, std::function<void(TxnReply)> done) EXCLUDES(mutex_);
  void Do(Chore chore) EXCLUDES(mutex_);

  /// Gives up history up to `upto`, durably. The rows that are no longer needed stay until the
  /// housekeeper deletes them. `also` may add to the same write.
  void RaiseHorizon(Revision upto, Fill also, Done<void> done);

  /// Wakes every watch, so that it learns its progress.
  void WakeWatches() EXCLUDES(mutex_);

  /// Notes that RocksDB has stopped writing after a failure in the background. It is quick and
  /// takes no lock except the committer's.
  void NoteBackgroundError(const rocksdb::Status& status) EXCLUDES(mutex_);

  /// Settles everything. Later calls are refused.
  void Stop() EXCLUDES(mutex_);

  Health GetHealth() const EXCLUDES(mutex_);

  /// Returns the number of bytes of history ever written.
  uint64_t HistoryBytes() const { return history_bytes_.load(std::memory_order_relaxed); }

 private:
  std::optional<base::Error> WhyNot() const REQUIRES(mutex_);

  // Run by the thread.
  void Run() EXCLUDES(mutex_);
  bool TakeWork() EXCLUDES(mutex_);
  void WorkOff() EXCLUDES(mutex_);
  void RunGroup() EXCLUDES(mutex_);
  rocksdb::Status WriteGroup();
  void FillGroup();
  void Publish();
  void Seal();
  bool NothingWaits() const EXCLUDES(mutex_);
  void RefuseAll(const base::Error& error) EXCLUDES(mutex_);
  void FailChore(const base::Error& error);

  // After a failure (recovery.cc).
  void Recover(const rocksdb::Status& status) EXCLUDES(mutex_);
  base::Result<bool> Reopen();
  void ServeReadsAlone(const base::Error& why) EXCLUDES(mutex_);
  bool WaitForRetry() EXCLUDES(mutex_);
  void SetTrouble(std::optional<base::Error> error, bool refusing) EXCLUDES(mutex_);
  std::optional<base::Error> Trouble() const EXCLUDES(mutex_);

  const Options options_;
  const Parts parts_;

  mutable base::Mutex mutex_;
  base::CondVar work_;
  std::vector<Waiting> queue_ GUARDED_BY(mutex_);
  std::deque<Chore> chores_ GUARDED_BY(mutex_);
  bool wake_watches_ GUARDED_BY(mutex_) = false;
  bool idle_ GUARDED_BY(mutex_) = false;
  bool stop_ GUARDED_BY(mutex_) = false;
  std::optional<rocksdb::Status> background_error_ GUARDED_BY(mutex_);
  /// Why writes fail at present. Empty while all is well.
  std::optional<base::Error> trouble_ GUARDED_BY(mutex_);
  bool refusing_ GUARDED_BY(mutex_) = false;  // Refuses new writes too: the trouble may last.

  // Used by the thread only.
  Group group_;
  std::vector<Waiting> taken_;
  size_t next_taken_ = 0;
  std::optional<Chore> chore_;  // Written with the group.
  std::optional<rocksdb::Status> background_;
  bool wake_now_ = false;
  bool unsealed_ = false;
  Revision next_;
  std::optional<std::chrono::steady_clock::time_point> recovered_;
  uint64_t next_history_step_ = 0;

  std::atomic<uint64_t> history_bytes_;
  std::thread thread_;  // Declared last, because the thread uses all other members.
};

}  // namespace berth::store::rocks
