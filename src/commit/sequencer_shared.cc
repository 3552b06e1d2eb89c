// Writes with shared puts on their way into the store: they wait in one queue, and whoever comes by
// when keys are free merges those that can go together, for all threads. Nobody merges inside
// another merging, so that the stack stays flat whatever the store says.
#include <algorithm>
#include <utility>

#include "commit/sequencer_impl.h"

namespace berth::commit {

void Sequencer::Impl::SendShared(const OpPtr& op) {
  {
    base::MutexLock lock(mutex_);
    to_merge_.push_back(op);
  }
  Merge();
}

void Sequencer::Impl::DispatchMerge() {
  if (!options_.run) return Merge();
  options_.run([self = shared_from_this()] { self->Inside([&self] { self->Merge(); }); });
}

void Sequencer::Impl::Merge() {
  {
    base::MutexLock lock(mutex_);
    if (std::exchange(merging_, true)) return;  // They will look again.
  }
  for (bool worked = true;;) {
    Ops arrived;
    std::vector<MergedTxn::Key> left;
    {
      base::MutexLock lock(mutex_);
      arrived.swap(to_merge_);
      left.swap(keys_left_);
      if (!worked && arrived.empty() && left.empty()) {
        merging_ = false;
        return;
      }
    }
    for (const MergedTxn::Key& key : left) busy_.erase(key.key);
    for (OpPtr& op : arrived) Enter(std::move(op));
    Ops ready;
    worked = MergeNext(ready);
    Dispatch(std::move(ready));
  }
}

/// At the end of the queue; one that was in it before, at its old place, which is near the front.
void Sequencer::Impl::Enter(OpPtr op) {
  for (const SharedPut& put : op->decision.shared) ++wanted_[put.key];
  auto at = unmerged_.end();
  if (op->turn == 0) {
    op->turn = ++turns_;
  } else {
    at = std::ranges::find_if(unmerged_,
                              [&op](const Unmerged& other) { return other.op->turn > op->turn; });
  }
  unmerged_.insert(at, {.op = std::move(op)});
}

/// Sends the next transaction. Whether anything has come of it.
bool Sequencer::Impl::MergeNext(Ops& ready) {
  MergedTxn merged(follower_);
  Ops ops;
  state::TextSet blocked = busy_;
  bool worked = false;
  for (auto at = unmerged_.begin(); at != unmerged_.end() && !AllBlocked(blocked);) {
    const OpPtr op = at->op;
    if (IsBlocked(*op, blocked) || (op->alone && !ops.empty())) {
      ++at;
      continue;
    }
    worked = true;
    if (Answered(*op)) {  // Its time was up before it began.
      at = Remove(at);
      Settle(*op, false);
      Finish(op, Written{}, ready);
      continue;
    }
    if (!at->txn) at->txn = MakeTxn(*op);
    const MergedTxn::Added added = merged.Add(*at->txn, op->own_put, op->decision.shared);
    if (added == MergedTxn::Added::kFull) break;
    if (added == MergedTxn::Added::kClashes) {
      ++at;
      continue;
    }
    at = Remove(at);
    if (added == MergedTxn::Added::kYes) {
      ops.push_back(op);
      if (op->alone || ops.size() >= options_.max_merged) break;
    } else if (added == MergedTxn::Added::kOld) {
      // It would only spoil the others' transaction. What listeners know of the new picture may be
      // what it is decided on, so it waits until they have been told.
      DecideAgain(op, op->shared_conflicts);
    } else if (added == MergedTxn::Added::kAgain) {
      DecideAgain(op, op->conflicts);
    } else {
      Settle(*op, false);
      Finish(op, tl::unexpected(merged.Failure()), ready);
    }
  }
  if (!ops.empty()) SendMerged(std::move(ops), merged.Take());
  return worked;
}

/// Whether nobody in the queue can be sent, whoever else is in it.
bool Sequencer::Impl::AllBlocked(const state::TextSet& blocked) const {
  return std::ranges::all_of(wanted_,
                             [&blocked](const auto& key) { return blocked.contains(key.first); });
}

/// One that has to wait is not overtaken by those behind it that want the same keys.
bool Sequencer::Impl::IsBlocked(const Op& op, state::TextSet& blocked) const {
  const std::vector<SharedPut>& shared = op.decision.shared;
  const bool waits = std::ranges::any_of(
      shared, [&blocked](const SharedPut& put) { return blocked.contains(put.key); });
  if (waits) {
    for (const SharedPut& put : shared) blocked.insert(put.key);
  }
  return waits;
}

std::list<Sequencer::Impl::Unmerged>::iterator Sequencer::Impl::Remove(
    std::list<Unmerged>::iterator at) {
  for (const SharedPut& put : at->op->decision.shared) {
    const auto wanted = wanted_.find(put.key);
    if (--wanted->second == 0) wanted_.erase(wanted);
  }
  return unmerged_.erase(at);
}

void Sequencer::Impl::SendMerged(Ops ops, MergedTxn::Taken taken) {
  auto merged = std::make_shared<Merged>();
  merged->ops = std::move(ops);
  merged->parts = std::move(taken.parts);
  merged->keys = std::move(taken.keys);
  merged->first_shared_compare = taken.first_shared_compare;
  for (const MergedTxn::Key& key : merged->keys) busy_.insert(key.key);
  {
    base::MutexLock lock(mutex_);
    for (const OpPtr& op : merged->ops) lanes_.find(op->write.key)->second.in_store = true;
  }
  follower_.Engine().Commit(std::move(taken.txn),
                            [self = shared_from_this(), merged](const store::TxnReply& reply) {
                              self->Inside([&] { self->OnMergedReply(merged, reply); });
                            });
}

void Sequencer::Impl::Leave(const Merged& merged) {
  {
    base::MutexLock lock(mutex_);
    keys_left_.insert(keys_left_.end(), merged.keys.begin(), merged.keys.end());
  }
  DispatchMerge();
}

}  // namespace berth::commit
