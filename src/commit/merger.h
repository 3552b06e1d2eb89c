// Sends writes with shared puts. They wait in one queue. Whenever keys are free, one thread, for
// all threads, merges the writes that can go together into one transaction. A transaction is
// committed as a whole or not at all, but each write gets its own answer: after a failed compare
// only the writes that made it go alone from then on, and after a definite error all go one by one.
// Internal to commit.
//
// No thread merges while another one does, or inside itself, so the stack stays flat whatever the
// store replies.
//
// Threads: every function may be called from any thread, inside the gate, but for TakeUnsent. All
// that is given must outlive the merger.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "commit/finisher.h"
#include "commit/gate.h"
#include "commit/merge_queue.h"
#include "commit/merged_txn.h"
#include "commit/op.h"
#include "commit/open_writes.h"
#include "commit/runner.h"
#include "commit/sequencer.h"
#include "commit/snapshot_waits.h"
#include "state/snapshot.h"
#include "store/types.h"

namespace berth::commit {

class Merger {
 public:
  Merger(const SequencerParts& parts, const SequencerOptions& options, GatePtr gate,
         OpenWrites& writes, Runner& runner, Finisher& finisher, SnapshotWaits& waits);

  /// Sends a decided write as soon as its shared keys are free, and ends its attempt.
  void Send(const OpPtr& op) EXCLUDES(mutex_);

  /// Returns the writes that are not in the store. Called once the gate is closed.
  Ops TakeUnsent() EXCLUDES(mutex_);

 private:
  /// A transaction in the store and its writes. Its `txn` is empty: the engine has it.
  struct Batch {
    Ops ops = {};
    MergedTxn merged = {};
  };
  using BatchPtr = std::shared_ptr<const Batch>;

  // Merging.
  void Merge() EXCLUDES(mutex_);
  bool SendNext(Ops& ready);
  void SendBatch(Ops ops, MergedTxn merged);
  void Release(const Batch& batch) EXCLUDES(mutex_);

  // The outcome of a batch.
  void OnReply(const BatchPtr& batch, const store::TxnReply& reply);
  void OnCommitted(const BatchPtr& batch, const store::TxnReply& reply);
  void OnConflict(const BatchPtr& batch, const store::TxnReply& reply);
  void OnRefused(const BatchPtr& batch, const base::Error& error);
  void OnCaughtUp(const BatchPtr& batch, const state::Snapshot& snapshot);
  static bool IsProvenUncommitted(const Batch& batch, const state::Snapshot& snapshot);
  void DriveThenRelease(const BatchPtr& batch, Ops ready);

  const SequencerParts& parts_;
  const SequencerOptions& options_;
  const GatePtr gate_;
  OpenWrites& writes_;
  Runner& runner_;
  Finisher& finisher_;
  SnapshotWaits& waits_;

  base::Mutex mutex_;
  bool merging_ GUARDED_BY(mutex_) = false;  // A thread merges.
  Ops arrived_ GUARDED_BY(mutex_);           // Writes for that thread to add to the queue,
  std::vector<MergedTxn::Key> released_ GUARDED_BY(mutex_);  // and keys for it to release.

  MergeQueue queue_;  // Belongs to the thread that merges.
};

}  // namespace berth::commit
