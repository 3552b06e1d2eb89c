#include "commit/merger.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "commit/attempt.h"
#include "commit/outcome.h"
#include "store/engine.h"

namespace berth::commit {

Merger::Merger(const SequencerParts& parts, const SequencerOptions& options, GatePtr gate,
               OpenWrites& writes, Runner& runner, Finisher& finisher, SnapshotWaits& waits)
    : parts_(parts),
      options_(options),
      gate_(std::move(gate)),
      writes_(writes),
      runner_(runner),
      finisher_(finisher),
      waits_(waits) {}

void Merger::Send(const OpPtr& op) {
  {
    base::MutexLock lock(mutex_);
    arrived_.push_back(op);
  }
  Merge();
}

/// Sends everything that can be sent, unless another thread, or a caller of this function, does.
void Merger::Merge() {
  {
    base::MutexLock lock(mutex_);
    if (std::exchange(merging_, true)) return;  // That thread looks again before it ends.
  }
  for (bool worked = true;;) {
    Ops arrived;
    std::vector<MergedTxn::Key> released;
    {
      base::MutexLock lock(mutex_);
      arrived.swap(arrived_);
      released.swap(released_);
      if (!worked && arrived.empty() && released.empty()) {
        merging_ = false;
        return;
      }
    }
    queue_.Release(released);
    for (OpPtr& op : arrived) queue_.Add(std::move(op));
    Ops ready;
    worked = SendNext(ready);
    runner_.Dispatch(std::move(ready));
  }
}

/// Sends the next transaction. Returns false if no write in the queue could be tried.
bool Merger::SendNext(Ops& ready) {
  MergedTxnBuilder builder(parts_.follower, parts_.resources, parts_.engine.MaxTxnItems());
  using Added = MergedTxnBuilder::Added;
  Ops ops;
  bool worked = false;
  MergeQueue::Walk walk(queue_);
  while (MergeQueue::Entry* entry = walk.Next()) {
    const OpPtr op = entry->op;
    if (op->send_alone && !ops.empty()) continue;
    worked = true;
    if (writes_.IsAnswered(*op)) {  // Its deadline has passed.
      walk.Remove();
      finisher_.Abandon(*op);
      writes_.Answer(op, Written{}, ready);
      continue;
    }
    if (!entry->txn) {
      entry->txn = MakeExpectedTxn(op->write.key, op->attempt, parts_.follower);
    }
    const Added added =
        builder.Add(*entry->txn, op->attempt.object_put, op->attempt.decision.shared);
    if (added == Added::kFull) break;
    if (added == Added::kClashes) continue;
    walk.Remove();
    if (added == Added::kYes) {
      ops.push_back(op);
      if (op->send_alone || ops.size() >= options_.max_merged) break;
    } else if (added == Added::kOutdated) {
      // The transaction would fail for all its writes. Listeners may not know yet what the snapshot
      // shows, and the transform may rely on them, so the write waits until they were notified.
      finisher_.DecideAgain(op, op->shared_conflicts);
    } else if (added == Added::kDecideAgain) {
      finisher_.DecideAgain(op, op->conflicts);
    } else {
      finisher_.Fail(op, builder.Failure(), ready);
    }
  }
  if (!ops.empty()) SendBatch(std::move(ops), builder.Build());
  return worked;
}

void Merger::SendBatch(Ops ops, MergedTxn merged) {
  store::Txn txn = std::move(merged.txn);
  queue_.Occupy(merged.keys);
  writes_.EnterStore(ops);
  const auto batch =
      std::make_shared<const Batch>(Batch{.ops = std::move(ops), .merged = std::move(merged)});
  parts_.engine.Commit(std::move(txn), Gated(gate_, [this, batch](const store::TxnReply& reply) {
                         OnReply(batch, reply);
                       }));
}

/// Frees the keys of the batch for the next one.
void Merger::Release(const Batch& batch) {
  {
    base::MutexLock lock(mutex_);
    std::ranges::copy(batch.merged.keys, std::back_inserter(released_));
  }
  runner_.Run([this] { Merge(); });
}

Ops Merger::TakeUnsent() {
  base::MutexLock lock(mutex_);
  Ops unsent = std::exchange(arrived_, {});
  std::ranges::move(queue_.Clear(), std::back_inserter(unsent));
  return unsent;
}

void Merger::OnReply(const BatchPtr& batch, const store::TxnReply& reply) {
  switch (reply.outcome) {
    case store::Outcome::kCommitted:
      return OnCommitted(batch, reply);
    case store::Outcome::kConflict:
      if (const auto error = UndecodableConflict(reply, parts_.follower)) {
        return OnRefused(batch, *error);
      }
      return OnConflict(batch, reply);
    case store::Outcome::kRefused:
      return OnRefused(batch, reply.error);
    case store::Outcome::kUnknown:
      finisher_.CountLostReply();
      return waits_.CatchUp(
          [this, batch](const state::Snapshot& snapshot) { OnCaughtUp(batch, snapshot); });
  }
}

void Merger::OnCommitted(const BatchPtr& batch, const store::TxnReply& reply) {
  for (size_t i = 0; i < batch->ops.size(); ++i) {
    Op& op = *batch->ops[i];
    const MergedTxn::Part& part = batch->merged.parts[i];
    if (options_.metrics != nullptr) op.replied_at = parts_.clock.Steady();
    const bool puts = op.attempt.decision.kind == Decision::Kind::kPut;
    op.attempt.revision =
        puts ? reply.puts[part.object_put].value : reply.deletes[part.first_delete].value;
  }
  waits_.AwaitRevision(LastRevision(reply), [this, batch](const state::Snapshot& snapshot) {
    Ops ready;
    Release(*batch);  // First, so that the next transaction is under way meanwhile.
    for (const OpPtr& op : batch->ops) finisher_.Succeed(op, snapshot, ready);
    runner_.Dispatch(std::move(ready));
  });
}

/// Decides all writes again. Those that a failed compare belongs to go alone from now on. No write
/// is to blame for a failed compare of a shared key or a fence.
void Merger::OnConflict(const BatchPtr& batch, const store::TxnReply& reply) {
  std::vector<bool> failed(batch->merged.first_shared_compare, reply.conflicts.empty());
  for (const store::Conflict& conflict : reply.conflicts) {
    if (conflict.compare < failed.size()) failed[conflict.compare] = true;
  }
  Ops ready;
  for (size_t i = 0; i < batch->ops.size(); ++i) {
    const OpPtr& op = batch->ops[i];
    const auto compares = std::span(batch->merged.parts[i].compares).first(op->attempt.first_fence);
    const bool own =
        std::ranges::any_of(compares, [&failed](size_t compare) { return failed[compare]; });
    op->send_alone = op->send_alone || own;
    if (finisher_.Withdraw(op, own ? op->conflicts : op->shared_conflicts, ready)) {
      ready.push_back(op);
    }
  }
  // They are decided on a snapshot that shows what they were in conflict with.
  waits_.CatchUp([this, batch, ready = std::move(ready)](const state::Snapshot&) mutable {
    for (const OpPtr& op : ready) op->verified = true;
    DriveThenRelease(batch, std::move(ready));
  });
}

/// Nothing happened, and the store does not say which write is the reason.
void Merger::OnRefused(const BatchPtr& batch, const base::Error& error) {
  Ops ready;
  const bool one = batch->ops.size() == 1;
  for (const OpPtr& op : batch->ops) {
    if (one) {
      finisher_.Fail(op, error, ready);
      continue;
    }
    finisher_.Abandon(*op);
    op->send_alone = true;
    writes_.LeaveStore(*op, ready);
    ready.push_back(op);
  }
  DriveThenRelease(batch, std::move(ready));
}

/// The reply was lost. The snapshot shows everything that the transaction may have written.
void Merger::OnCaughtUp(const BatchPtr& batch, const state::Snapshot& snapshot) {
  for (const OpPtr& op : batch->ops) {
    parts_.follower.Forget(op->attempt.expected.front());  // From here on it does not change.
  }
  const bool uncommitted = IsProvenUncommitted(*batch, snapshot);
  Ops ready;
  for (const OpPtr& op : batch->ops) {
    Attempt& attempt = op->attempt;
    if (uncommitted) {
      if (finisher_.Withdraw(op, op->conflicts, ready)) ready.push_back(op);
    } else if (attempt.expected.front()->revision != 0) {
      attempt.revision = attempt.expected.front()->revision;
      finisher_.Succeed(op, snapshot, ready);
    } else {
      finisher_.Fail(op, UnknownError(), ready);
    }
  }
  DriveThenRelease(batch, std::move(ready));
}

/// One write that was not committed proves it for all. A write that seems to be committed proves
/// nothing: another server may have deleted the same object. The values of shared keys prove
/// nothing either, since others may have put the same ones.
bool Merger::IsProvenUncommitted(const Batch& batch, const state::Snapshot& snapshot) {
  const auto untouched = [&snapshot](const std::string& key, int64_t before) {
    return before != 0 && state::RevisionOf(snapshot.Find(key)) == before;
  };
  const auto key_untouched = [&untouched](const MergedTxn::Key& key) {
    return untouched(key.key, key.before);
  };
  const auto op_uncommitted = [&untouched](const OpPtr& op) {
    const state::Expectation& expectation = *op->attempt.expected.front();
    return expectation.revision == 0 &&
           (!expectation.missed || untouched(op->write.key, expectation.before));
  };
  return std::ranges::any_of(batch.merged.keys, key_untouched) ||
         std::ranges::any_of(batch.ops, op_uncommitted);
}

/// Decides the writes while the keys are still occupied, so that they are merged again.
void Merger::DriveThenRelease(const BatchPtr& batch, Ops ready) {
  runner_.Run([this, batch, ready = std::move(ready)]() mutable {
    runner_.Drive(std::move(ready));
    Release(*batch);
  });
}

}  // namespace berth::commit
