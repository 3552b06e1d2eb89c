#include "commit/merge_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace berth::commit {
namespace {

/// Says whether the write has to wait for a key. If so, later writes wait for all its keys.
bool IsBlocked(const Op& op, state::TextSet& blocked) {
  const std::vector<SharedPut>& shared = op.attempt.decision.shared;
  const bool waits = std::ranges::any_of(
      shared, [&blocked](const SharedPut& put) { return blocked.contains(put.key); });
  if (waits) {
    for (const SharedPut& put : shared) blocked.insert(put.key);
  }
  return waits;
}

}  // namespace

void MergeQueue::Add(OpPtr op) {
  for (const SharedPut& put : op->attempt.decision.shared) ++wanted_[put.key];
  auto at = entries_.end();
  if (op->merge_order == 0) {
    op->merge_order = ++last_order_;
  } else {
    at = std::ranges::find_if(
        entries_, [&op](const Entry& other) { return other.op->merge_order > op->merge_order; });
  }
  entries_.insert(at, {.op = std::move(op)});
}

void MergeQueue::Occupy(const std::vector<MergedTxn::Key>& keys) {
  for (const MergedTxn::Key& key : keys) occupied_.insert(key.key);
}

void MergeQueue::Release(const std::vector<MergedTxn::Key>& keys) {
  for (const MergedTxn::Key& key : keys) occupied_.erase(key.key);
}

MergeQueue::Walk::Walk(MergeQueue& queue)
    : queue_(queue), blocked_(queue.occupied_), next_(queue.entries_.begin()) {}

MergeQueue::Entry* MergeQueue::Walk::Next() {
  while (next_ != queue_.entries_.end() && !queue_.AllBlocked(blocked_)) {
    Entry& entry = *next_++;
    if (!IsBlocked(*entry.op, blocked_)) return &entry;
  }
  return nullptr;
}

void MergeQueue::Walk::Remove() {
  const auto at = std::prev(next_);
  for (const SharedPut& put : at->op->attempt.decision.shared) {
    const auto wanted = queue_.wanted_.find(put.key);
    if (--wanted->second == 0) queue_.wanted_.erase(wanted);
  }
  queue_.entries_.erase(at);
}

/// Says whether no write in the queue can be sent, so that a walk need not look at all of them.
bool MergeQueue::AllBlocked(const state::TextSet& blocked) const {
  return std::ranges::all_of(wanted_,
                             [&blocked](const auto& key) { return blocked.contains(key.first); });
}

Ops MergeQueue::Clear() {
  Ops all;
  for (Entry& entry : entries_) all.push_back(std::move(entry.op));
  entries_.clear();
  wanted_.clear();
  return all;
}

}  // namespace berth::commit
