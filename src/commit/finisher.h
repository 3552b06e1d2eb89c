// Ends attempts: every attempt is ended here exactly once, whether its write was sent alone or
// merged with others. Then the write is answered or decided again. Internal to commit.
//
// Threads: every function may be called from any thread, inside the gate, by the thread that works
// on the write. All that is given must outlive it.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/error.h"
#include "commit/gate.h"
#include "commit/op.h"
#include "commit/open_writes.h"
#include "commit/runner.h"
#include "commit/sequencer.h"
#include "state/snapshot.h"

namespace berth::commit {

class Finisher {
 public:
  Finisher(const SequencerParts& parts, const SequencerOptions& options, GatePtr gate,
           OpenWrites& writes, Runner& runner);

  /// Ends an attempt that was not committed, and leaves the write where it is.
  void Abandon(Op& op);
  /// Ends an attempt that was not committed and answers the write with the error.
  void Fail(const OpPtr& op, base::Error error, Ops& ready);
  /// Ends an attempt that was committed, with the revision in the attempt, and answers the write.
  /// The snapshot shows the write.
  void Succeed(const OpPtr& op, const state::Snapshot& snapshot, Ops& ready);

  /// Ends an attempt that was in conflict, counted in `conflicts`, one of the write's two counters.
  /// Decides the write again on the newest snapshot, or fails it after too many conflicts.
  void DecideAgain(const OpPtr& op, int& conflicts);
  /// Does the same without deciding: returns true if the caller shall decide the write again.
  bool Withdraw(const OpPtr& op, int& conflicts, Ops& ready);
  /// Ends the attempt, and decides the write again on a snapshot that shows everything that was
  /// acknowledged before now, on any server. Answers the write if no such snapshot is published by
  /// its deadline.
  void DecideOnNewest(const OpPtr& op);

  /// Counts a transaction whose reply was lost.
  void CountLostReply() { lost_replies_.fetch_add(1, std::memory_order_relaxed); }

  // Counts since the start.
  uint64_t Committed() const { return committed_.load(std::memory_order_relaxed); }
  uint64_t Conflicts() const { return conflicts_.load(std::memory_order_relaxed); }
  uint64_t LostReplies() const { return lost_replies_.load(std::memory_order_relaxed); }

 private:
  void EndAttempt(Op& op, bool committed);
  void Measure(const Op& op) const;

  const SequencerParts& parts_;
  const SequencerOptions& options_;
  const GatePtr gate_;
  OpenWrites& writes_;
  Runner& runner_;
  std::atomic<uint64_t> committed_ = 0;
  std::atomic<uint64_t> conflicts_ = 0;
  std::atomic<uint64_t> lost_replies_ = 0;
};

}  // namespace berth::commit
