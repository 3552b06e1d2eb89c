// The one thread that writes. It takes all that waits, makes a group of it, writes and syncs it as
// one batch, and then, in this order: publishes it, hands its events to the ring, replies.
//
// A failed write or sync makes its group unknown. The thread then closes the database and opens it
// again, which writes what the logs hold into new, synced files; looks whether the group's log
// record is among it; and only then settles the group and goes on, above every revision it has ever
// handed out. While that fails, reads are served from a database opened for reading alone, commits
// are refused, and it is tried again.
//
// Seal: once nothing waits any more, a small unsynced record follows the last synced one in
// RocksDB's log, so that damage to the latter can be told from a torn tail (log_check.h). Nothing
// else is ever written unsynced, so at most one record of a log's end is not on the disk.
//
// Threads: every function may be called from any thread. Replies come on the thread of the
// committer, refusals also on the caller's.
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
#include "store/rocks/reader.h"
#include "store/types.h"

namespace berth::store::rocks {

/// Adds to a write batch.
using Fill = std::function<void(const Database&, rocksdb::WriteBatch&)>;

/// Something that the store writes for itself, together with the next group or alone.
struct Chore {
  Fill fill;  // Called on the committer's thread, before the group is decided.
  /// Called once: when it is durable, or with why it is not known to be.
  std::function<void(base::Result<void>)> done;
};

class Committer {
 public:
  struct Options {
    DatabaseOptions database;  // For opening it again.
    bool sync = true;
    size_t max_waiting = 0;
    obs::WriteMetrics* metrics = nullptr;
    std::chrono::milliseconds retry{1000};
    /// Called on the committer's thread whenever history has grown by this much.
    uint64_t history_step = 0;
    std::function<void()> on_history_step;
  };

  /// The parts of the engine that it works on; they must outlive it.
  struct Parts {
    DatabaseGate& gate;
    KeyIndex& index;
    Horizon& horizon;
    EventRing& ring;
    DiskGuard& disk;
    base::Logger& log;
    const base::Clock& clock;
  };

  /// `last` is the newest revision, `history_bytes` what has been written of history so far.
  Committer(Options options, const Parts& parts, Revision last, uint64_t history_bytes);
  ~Committer() { Stop(); }
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  void Commit(Txn txn, std::function<void(TxnReply)> done) EXCLUDES(mutex_);
  void Do(Chore chore) EXCLUDES(mutex_);

  /// Gives up history up to `upto`, durably; what is no longer needed stays until somebody deletes
  /// it. `also` may add to the same write.
  void RaiseHorizon(Revision upto, Fill also, Done<void> done);

  /// Wakes every watch, so that it sees how far it is.
  void WakeWatches() EXCLUDES(mutex_);

  /// RocksDB gave up writing by itself. Quick; takes no locks but its own.
  void NoteBackgroundError(const rocksdb::Status& status) EXCLUDES(mutex_);

  /// Settles everything; whatever comes later is refused.
  void Stop() EXCLUDES(mutex_);

  Health GetHealth() const EXCLUDES(mutex_);

  /// Bytes of history ever written.
  uint64_t HistoryBytes() const { return history_bytes_.load(std::memory_order_relaxed); }

 private:
  std::optional<base::Error> WhyNot() const REQUIRES(mutex_);

  // The thread.
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
  /// Why no writes are taken; nothing while all is well.
  std::optional<base::Error> trouble_ GUARDED_BY(mutex_);
  bool refusing_ GUARDED_BY(mutex_) = false;  // New ones as well: it will take a while.

  // Of the thread alone.
  Group group_;
  std::vector<Waiting> taken_;
  size_t next_taken_ = 0;
  std::optional<Chore> chore_;  // Travels with the group.
  std::optional<rocksdb::Status> background_;
  bool wake_now_ = false;
  bool unsealed_ = false;
  Revision next_;
  std::optional<std::chrono::steady_clock::time_point> recovered_;
  uint64_t next_history_step_ = 0;

  std::atomic<uint64_t> history_bytes_;
  std::thread thread_;  // Last: it uses all the others.
};

}  // namespace berth::store::rocks
