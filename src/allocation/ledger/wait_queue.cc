#include "allocation/ledger/wait_queue.h"

#include <algorithm>
#include <utility>

namespace berth::allocation {
namespace {

/// Returns whether a write in flight could free what an entry waits for.
bool MayComeFree(const alloc::Pool& pool, const InFlightValues& in_flight,
                 const QueueEntry& entry) {
  if (entry.range.empty()) return !in_flight.IsEmpty();
  const alloc::Pool::Range* range = pool.Named(entry.range);
  if (range == nullptr || !range->open) return false;
  return WaitQueue::IsShort(pool, *range, entry) ? in_flight.HasMoreThan(0, range)
                                                 : !in_flight.IsEmpty();
}

}  // namespace

void WaitQueue::Enter(uint64_t ticket, QueueEntry entry) {
  QueueEntry& place = entries_[ticket];
  if (!place.range.empty()) --named_;
  if (!entry.range.empty()) ++named_;
  place = std::move(entry);
}

bool WaitQueue::Await(uint64_t ticket, Callback retry) {
  const auto entry = entries_.find(ticket);
  if (entry == entries_.end()) return false;
  entry->second.retry = std::move(retry);
  return true;
}

bool WaitQueue::Leave(uint64_t ticket) {
  const auto entry = entries_.find(ticket);
  if (entry == entries_.end()) return false;
  if (!entry->second.range.empty()) --named_;
  entries_.erase(entry);
  return true;
}

WaitQueue::Demand WaitQueue::DemandAhead(const alloc::Pool& pool,
                                         std::optional<uint64_t> ticket) const {
  Demand ahead;
  const U128 available = pool.Available();
  for (auto at = entries_.begin(); at != entries_.end() && ahead.total <= available; ++at) {
    if (ticket && at->first >= *ticket) break;
    Add(pool, at->second, ahead);
  }
  return ahead;
}

void WaitQueue::Wake(const alloc::Pool& pool, const InFlightValues& in_flight, bool closing,
                     Callbacks& callbacks) {
  Demand ahead;
  for (auto& [ticket, entry] : entries_) {
    if (IsEnough(pool, entry, ahead) || !(closing || MayComeFree(pool, in_flight, entry))) {
      if (entry.retry) callbacks.push_back(std::exchange(entry.retry, nullptr));
    } else if (named_ == 0) {
      return;  // There is still less for the entries after this one.
    }
    Add(pool, entry, ahead);
  }
}

void WaitQueue::TakeCallbacks(Callbacks& callbacks) {
  for (auto& [ticket, entry] : entries_) callbacks.push_back(std::move(entry.retry));
  entries_.clear();
  named_ = 0;
}

bool WaitQueue::IsEnough(const alloc::Pool& pool, const QueueEntry& entry, const Demand& ahead) {
  if (pool.Available() < ahead.total + entry.needs) return false;
  if (entry.range.empty()) return true;
  const Range* range = pool.Named(entry.range);
  if (range == nullptr) return false;
  const auto in_range = ahead.in_range.find(entry.range);
  const U128 needed = in_range == ahead.in_range.end() ? 0 : in_range->second;
  return pool.Available(*range) >= needed + entry.needs_in_range;
}

bool WaitQueue::IsShort(const alloc::Pool& pool, const Range& range, const QueueEntry& entry) {
  return pool.Available(range) < entry.needs_in_range;
}

const WaitQueue::Range* WaitQueue::RangeToSpare(const alloc::Pool& pool, const Demand& ahead) {
  const Range* best = nullptr;
  U128 most = 0;
  for (const Range& range : pool.ranges()) {
    const auto needed = ahead.in_range.find(range.name);
    const U128 needs = needed == ahead.in_range.end() ? 0 : needed->second;
    const U128 free = pool.Available(range);
    if (free <= needs) continue;
    const bool better = best == nullptr || range.priority > best->priority ||
                        (range.priority == best->priority && free > most);
    if (!better) continue;
    best = &range;
    most = free;
  }
  return best;
}

/// An entry that names a range can use at most what that range has.
void WaitQueue::Add(const alloc::Pool& pool, const QueueEntry& entry, Demand& ahead) {
  ahead.total += entry.needs - entry.needs_in_range;
  if (entry.range.empty()) return;
  const Range* range = pool.Named(entry.range);
  const U128 free = range == nullptr ? 0 : pool.Available(*range);
  U128& in_range = ahead.in_range[entry.range];
  ahead.total += std::min(in_range + entry.needs_in_range, free) - std::min(in_range, free);
  in_range += entry.needs_in_range;
}

}  // namespace berth::allocation
