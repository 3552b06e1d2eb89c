#include "allocation/ledger/range_book.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace berth::allocation {

bool RangeBook::Apply(std::vector<RangeUpdate> ranges, std::vector<FenceChange> fences,
                      Callbacks& callbacks) {
  bool changed = false;
  for (RangeUpdate& range : ranges) changed = ApplyRange(std::move(range)) || changed;
  for (FenceChange& fence : fences) changed = ApplyFence(std::move(fence), callbacks) || changed;
  return changed;
}

bool RangeBook::ApplyRange(RangeUpdate range) {
  const auto known = objects_.find(range.key);
  if (!range.facts) {
    if (known == objects_.end()) return false;
    objects_.erase(known);
  } else if (known == objects_.end()) {
    objects_.emplace(std::move(range.key), *std::move(range.facts));
  } else {
    if (known->second == *range.facts) return false;
    known->second = *std::move(range.facts);
  }
  return true;
}

bool RangeBook::ApplyFence(FenceChange fence, Callbacks& callbacks) {
  fences_[fence.pool] = {.revision = fence.revision, .notified = fence.notified};
  for (FenceWait& wait : fence_waits_) {
    if (wait.pool != fence.pool || wait.revision >= fence.notified) continue;
    callbacks.push_back(std::exchange(wait.retry, nullptr));
  }
  std::erase_if(fence_waits_, [](const FenceWait& wait) { return !wait.retry; });
  std::optional<alloc::Closing>& closing = closings_[fence.pool];
  if (closing == fence.closing) return false;
  closing = std::move(fence.closing);
  return true;
}

alloc::RangeTable RangeBook::MakeTable() {
  ++tables_made_;
  alloc::RangeTable table = alloc::MakeRangeTable(objects_, closings_);
  families_ = std::move(table.families);
  return table;
}

bool RangeBook::AwaitTable(uint64_t seen, Callback retry) {
  if (tables_made_ != seen) return false;
  table_waits_.push_back(std::move(retry));
  return true;
}

void RangeBook::TakeTableCallbacks(Callbacks& callbacks) {
  std::move(table_waits_.begin(), table_waits_.end(), std::back_inserter(callbacks));
  table_waits_.clear();
}

bool RangeBook::AwaitFence(PoolId pool, int64_t revision, Callback retry) {
  if (fences_[pool].notified > revision) return false;
  fence_waits_.push_back({.pool = pool, .revision = revision, .retry = std::move(retry)});
  return true;
}

void RangeBook::TakeCallbacks(Callbacks& callbacks) {
  TakeTableCallbacks(callbacks);
  for (FenceWait& wait : fence_waits_) callbacks.push_back(std::move(wait.retry));
  fence_waits_.clear();
}

}  // namespace berth::allocation
