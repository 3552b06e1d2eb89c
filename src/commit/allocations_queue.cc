// Who waits for what, and who is next.
#include <algorithm>
#include <utility>

#include "commit/allocations.h"

namespace berth::commit {

using alloc::State;

namespace {

/// Whether there are more of these values than so many.
template <typename Values>
bool MoreThan(size_t count, const Values& values, const alloc::Pool::Range* range) {
  if (range == nullptr) return values.size() > count;
  const std::optional<alloc::Interval>& span = range->index.layout().span();
  if (!span) return false;
  for (auto at = values.lower_bound(span->first); at != values.end(); ++at) {
    if (at->first > span->last) return false;
    if (count-- == 0) return true;
  }
  return false;
}

}  // namespace

/// What the plan still needs of the claim's pool, and how much of that from the claim's range.
Allocations::Place Allocations::PlaceOf(const Claim& claim, const Planning& planning) {
  Place place{.needs = planning.needs[static_cast<size_t>(claim.pool)], .range = claim.range};
  if (claim.range.empty()) return place;
  for (const Claim& each : planning.claims.subspan(planning.at)) {
    if (each.pool == claim.pool && !each.wanted && each.range == claim.range) {
      ++place.needs_in_range;
    }
  }
  return place;
}

/// Who comes later leaves those in the queue as many values as they need.
std::optional<Allocations::Denial> Allocations::AwaitTurn(const Claim& claim, const Range* range,
                                                          Planning& planning) {
  std::optional<std::string_view>& turn = planning.turns[static_cast<size_t>(claim.pool)];
  if (turn == claim.range) return std::nullopt;
  const PoolState& state = At(claim.pool);
  const U128 available = state.pool.Available();
  if (range == nullptr && state.queue.empty() &&
      available >= planning.needs[static_cast<size_t>(claim.pool)]) {
    turn = claim.range;
    return std::nullopt;
  }
  const Ahead ahead = AheadOf(state, planning);
  const Place place = PlaceOf(claim, planning);
  if (IsEnough(state, place, ahead)) {
    turn = claim.range;
    return std::nullopt;
  }
  return Full(claim, range, /*others_first=*/IsEnough(state, place, {}), planning);
}

/// What those who came earlier need; when that is more than there is, no further.
Allocations::Ahead Allocations::AheadOf(const PoolState& state, const Planning& planning) {
  Ahead ahead;
  const U128 available = state.pool.Available();
  for (auto at = state.queue.begin(); at != state.queue.end() && ahead.total <= available; ++at) {
    if (planning.ticket && at->first >= planning.ticket->Number()) break;
    AddAhead(state, at->second, ahead);
  }
  return ahead;
}

/// The range to pick from while others wait for ranges by name: one that has more than these need
/// of it. Null: there is none.
const Allocations::Range* Allocations::RangeBeside(const PoolState& state,
                                                   const Planning& planning) {
  const Ahead ahead = AheadOf(state, planning);
  const Range* best = nullptr;
  U128 most = 0;
  for (const Range& range : state.pool.ranges()) {
    const auto needed = ahead.in_range.find(range.name);
    const U128 needs = needed == ahead.in_range.end() ? 0 : needed->second;
    const U128 free = state.pool.Available(range);
    if (free <= needs) continue;
    const bool better = best == nullptr || range.priority > best->priority ||
                        (range.priority == best->priority && free > most);
    if (!better) continue;
    best = &range;
    most = free;
  }
  return best;
}

/// One that names a range can use what that has, however much more it needs of it.
void Allocations::AddAhead(const PoolState& state, const Place& place, Ahead& ahead) {
  ahead.total += place.needs - place.needs_in_range;
  if (place.range.empty()) return;
  const Range* range = state.pool.Named(place.range);
  const U128 free = range == nullptr ? 0 : state.pool.Available(*range);
  U128& in_range = ahead.in_range[place.range];
  ahead.total += std::min(in_range + place.needs_in_range, free) - std::min(in_range, free);
  in_range += place.needs_in_range;
}

/// Whether what it needs can be had while those ahead get theirs.
bool Allocations::IsEnough(const PoolState& state, const Place& place, const Ahead& ahead) {
  if (state.pool.Available() < ahead.total + place.needs) return false;
  if (place.range.empty()) return true;
  const Range* range = state.pool.Named(place.range);
  if (range == nullptr) return false;
  const auto in_range = ahead.in_range.find(place.range);
  const U128 taken = in_range == ahead.in_range.end() ? 0 : in_range->second;
  return state.pool.Available(*range) >= taken + place.needs_in_range;
}

/// Whether the range itself has too little for the plan, not the pool.
bool Allocations::IsShort(const PoolState& state, const Range& range, const Place& place) {
  return state.pool.Available(range) < place.needs_in_range;
}

/// The next one that wants anything of the pool, but not of the claim's range.
size_t Allocations::OtherClaim(const Claim& claim, const Planning& planning) {
  for (size_t at = planning.at; at < planning.claims.size(); ++at) {
    const Claim& other = planning.claims[at];
    if (other.pool == claim.pool && !other.wanted && other.range != claim.range) return at;
  }
  return planning.at;
}

/// It holds if nobody else has anything in flight that could come free, and nobody is ahead who may
/// leave something.
Allocations::Denial Allocations::Full(const Claim& claim, const Range* range, bool others_first,
                                      Planning& planning) {
  const PoolState& state = At(claim.pool);
  Denial denial{.why = Why::kFull};
  if (range != nullptr && !IsShort(state, *range, PlaceOf(claim, planning))) {
    // What the other claims need is what there is too little of.
    range = nullptr;
    denial.claim = OtherClaim(claim, planning);
  }
  const std::vector<Take>& takes = planning.grant.takes;
  const auto own = std::count_if(takes.begin(), takes.end(), [&](const Take& take) {
    return take.value.pool == claim.pool &&
           (range == nullptr || range->index.layout().Contains(take.value.value));
  });
  if (state.closing || others_first || MoreThan(static_cast<size_t>(own), state.flights, range)) {
    denial.wait = WaitInQueue(claim, planning);
  }
  return denial;
}

/// Empty: no write in flight could change its state.
Allocations::Wait Allocations::WaitForValue(const PoolValue& value) {
  PoolState& state = At(value.pool);
  const auto found = state.flights.find(value.value);
  if (found == state.flights.end()) return {};
  const Flight& flight = found->second;
  if (!flight.given && flight.stored == State::kTaken) return {};
  return [this, value, seen = state.changes](std::function<void()> again) {
    base::MutexLock lock(mutex_);
    PoolState& now = At(value.pool);
    const auto still = now.flights.find(value.value);
    if (now.changes != seen || still == now.flights.end()) return false;
    still->second.waiting.push_back(std::move(again));
    return true;
  };
}

Allocations::Wait Allocations::WaitForTable() {
  return [this, seen = tables_made_](std::function<void()> again) {
    base::MutexLock lock(mutex_);
    if (tables_made_ != seen) return false;
    waiting_for_table_.push_back(std::move(again));
    return true;
  };
}

Allocations::Wait Allocations::WaitInQueue(const Claim& claim, Planning& planning) {
  PoolState& state = At(claim.pool);
  if (!planning.ticket) planning.ticket = std::make_shared<Ticket>(*this, next_ticket_++);
  const uint64_t number = planning.ticket->Number();
  Place& place = state.queue[number];
  if (!place.range.empty()) --state.named_places;
  if (!claim.range.empty()) ++state.named_places;
  place = PlaceOf(claim, planning);
  return [this, pool = claim.pool, number, seen = state.changes](std::function<void()> again) {
    base::MutexLock lock(mutex_);
    PoolState& now = At(pool);
    const auto in_queue = now.queue.find(number);
    if (now.changes != seen || in_queue == now.queue.end()) return false;
    in_queue->second.again = std::move(again);
    return true;
  };
}

bool Allocations::AwaitFence(PoolId pool, int64_t revision, std::function<void()> again) {
  base::MutexLock lock(mutex_);
  if (At(pool).fence_told > revision) return false;
  waiting_for_fences_.push_back({.pool = pool, .revision = revision, .again = std::move(again)});
  return true;
}

/// Whether there is still something to wait for.
bool Allocations::MayComeFree(const PoolState& state, const Place& place) {
  if (state.closing) return true;
  if (place.range.empty()) return !state.flights.empty();
  const Range* range = state.pool.Named(place.range);
  if (range == nullptr || !range->open) return false;
  return IsShort(state, *range, place) ? MoreThan(0, state.flights, range) : !state.flights.empty();
}

/// Those try again for whom there is enough, or nothing left to wait for.
void Allocations::Changed(PoolState& state, Calls& calls) {
  ++state.changes;
  if (state.queue.empty()) return;
  Ahead ahead;
  for (auto& [ticket, place] : state.queue) {
    if (IsEnough(state, place, ahead) || !MayComeFree(state, place)) {
      if (place.again) calls.push_back(std::exchange(place.again, nullptr));
    } else if (state.named_places == 0) {
      return;  // Who is behind needs still more.
    }
    AddAhead(state, place, ahead);
  }
}

/// Those behind it may have waited for nothing but its turn.
void Allocations::LeaveQueues(const Ticket& ticket, Calls& calls) {
  for (PoolState& state : pools_) {
    const auto place = state.queue.find(ticket.Number());
    if (place == state.queue.end()) continue;
    if (!place->second.range.empty()) --state.named_places;
    state.queue.erase(place);
    Changed(state, calls);
  }
}

void Allocations::Leave(const Ticket& ticket) {
  Calls calls;
  {
    base::MutexLock lock(mutex_);
    LeaveQueues(ticket, calls);
  }
  for (const auto& call : calls) call();
}

}  // namespace berth::commit
