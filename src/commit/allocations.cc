#include "commit/allocations.h"

#include <algorithm>
#include <iterator>

namespace berth::commit {

using alloc::Outcome;

/// Its number says how long it has been waiting, the same in every queue: so of two writes each of
/// which wants what the other is first for, one is first for both.
class Allocations::Ticket {
 public:
  Ticket(Allocations& owner, uint64_t number) : number_(number), owner_(owner) {}
  ~Ticket() { owner_.Leave(*this); }
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  uint64_t Number() const { return number_; }

 private:
  const uint64_t number_;
  Allocations& owner_;
};

Allocations::Allocations(RecordReader reader, const base::SeededRandom& random)
    : reader_(std::move(reader)), random_(random) {}

/// Those who still wait are let go while there is something left that their tickets can leave.
Allocations::~Allocations() {
  Calls forgotten;
  {
    base::MutexLock lock(mutex_);
    for (PoolState& state : pools_) {
      for (auto& [ticket, place] : state.queue) forgotten.push_back(std::move(place.again));
      for (auto& [value, flight] : state.flights) {
        std::move(flight.waiting.begin(), flight.waiting.end(), std::back_inserter(forgotten));
        flight.waiting.clear();
      }
      state.queue.clear();
    }
  }
}

// Planning.

tl::expected<Allocations::Grant, Allocations::Denial> Allocations::Plan(
    std::span<const Claim> claims, std::vector<PoolValue> gives, TicketPtr& ticket) {
  Calls calls;
  auto planned = PlanAll(claims, std::move(gives), ticket, calls);
  for (const auto& call : calls) call();
  return planned;
}

tl::expected<Allocations::Grant, Allocations::Denial> Allocations::PlanAll(
    std::span<const Claim> claims, std::vector<PoolValue> gives, TicketPtr& ticket, Calls& calls) {
  base::MutexLock lock(mutex_);
  Planning planning{.ticket = ticket};
  for (const Claim& claim : claims) {
    if (!claim.wanted) ++planning.needs[static_cast<size_t>(claim.pool)];
  }
  for (size_t i = 0; i < claims.size(); ++i) {
    if (std::optional<Denial> denial = TakeOne(claims[i], planning)) {
      Undo(planning.grant);
      denial->claim = i;
      return tl::unexpected(*std::move(denial));
    }
  }
  if (ticket) LeaveQueues(*ticket, calls);
  planning.grant.gives = std::move(gives);
  for (const PoolValue& given : planning.grant.gives) {
    PoolState& state = At(given.pool);
    const bool held = state.pool.IsHeld(given.value);
    state.flights.try_emplace(given.value, Flight{.stored = held}).first->second.given = true;
  }
  return std::move(planning.grant);
}

std::optional<Allocations::Denial> Allocations::TakeOne(const Claim& claim, Planning& planning) {
  return claim.wanted ? TakeWanted(claim, planning) : TakeAny(claim.pool, planning);
}

std::optional<Allocations::Denial> Allocations::TakeWanted(const Claim& claim, Planning& planning) {
  const PoolValue wanted{.pool = claim.pool, .value = *claim.wanted};
  const Outcome outcome = At(claim.pool).pool.Take(wanted.value);
  Grant& grant = planning.grant;
  if (outcome == Outcome::kDone) {
    Granted(wanted, grant);
    return std::nullopt;
  }
  Denial denial{.why = outcome};
  const bool own = std::find(grant.takes.begin(), grant.takes.end(), wanted) != grant.takes.end();
  if (outcome == Outcome::kTaken && !own) denial.wait = WaitForValue(wanted);
  return denial;
}

std::optional<Allocations::Denial> Allocations::TakeAny(PoolId pool, Planning& planning) {
  if (auto denial = AwaitTurn(pool, planning)) return denial;
  const std::optional<U128> value = At(pool).pool.TakeAny(random_);
  if (!value) return Full(pool, false, planning);  // Ranges that overlap count some twice.
  --planning.needs[static_cast<size_t>(pool)];
  Granted({.pool = pool, .value = *value}, planning.grant);
  return std::nullopt;
}

/// Who comes later leaves those in the queue as many values as they need.
std::optional<Allocations::Denial> Allocations::AwaitTurn(PoolId pool, Planning& planning) {
  bool& its_turn = planning.its_turn[static_cast<size_t>(pool)];
  if (its_turn) return std::nullopt;
  const PoolState& state = At(pool);
  const U128 available = state.pool.Available();
  const size_t needs = planning.needs[static_cast<size_t>(pool)];
  U128 ahead = 0;
  for (auto at = state.queue.begin(); at != state.queue.end() && ahead <= available; ++at) {
    if (planning.ticket && at->first >= planning.ticket->Number()) break;
    ahead += at->second.needs;
  }
  its_turn = available >= ahead + needs;
  if (its_turn) return std::nullopt;
  return Full(pool, /*others_first=*/available >= needs, planning);
}

/// It holds if nobody else has anything in flight, and nobody is ahead who may leave something.
Allocations::Denial Allocations::Full(PoolId pool, bool others_first, Planning& planning) {
  const std::vector<PoolValue>& takes = planning.grant.takes;
  const auto own = std::count_if(takes.begin(), takes.end(),
                                 [pool](const PoolValue& take) { return take.pool == pool; });
  const bool others_in_flight = At(pool).flights.size() > static_cast<size_t>(own);
  Denial denial{.full = true};
  if (others_in_flight || others_first) denial.wait = WaitInQueue(pool, planning);
  return denial;
}

void Allocations::Granted(const PoolValue& value, Grant& grant) {
  At(value.pool).flights[value.value].taken = true;
  grant.values.push_back(value.value);
  grant.takes.push_back(value);
}

/// Of a plan that was not made: nobody has seen it.
void Allocations::Undo(const Grant& grant) {
  for (const PoolValue& take : grant.takes) {
    PoolState& state = At(take.pool);
    const auto flight = state.flights.find(take.value);
    flight->second.taken = false;
    state.pool.Drop(take.value);
    if (!flight->second.given) state.flights.erase(flight);
  }
}

/// Empty: no write in flight could make it free.
Allocations::Wait Allocations::WaitForValue(const PoolValue& value) {
  PoolState& state = At(value.pool);
  const auto found = state.flights.find(value.value);
  if (found == state.flights.end()) return {};
  const Flight& flight = found->second;
  if (!flight.given && flight.stored) return {};
  return [this, value, seen = state.changes](std::function<void()> again) {
    base::MutexLock lock(mutex_);
    PoolState& now = At(value.pool);
    const auto still = now.flights.find(value.value);
    if (now.changes != seen || still == now.flights.end()) return false;
    still->second.waiting.push_back(std::move(again));
    return true;
  };
}

Allocations::Wait Allocations::WaitInQueue(PoolId pool, Planning& planning) {
  PoolState& state = At(pool);
  if (!planning.ticket) planning.ticket = std::make_shared<Ticket>(*this, next_ticket_++);
  const uint64_t number = planning.ticket->Number();
  state.queue[number].needs = planning.needs[static_cast<size_t>(pool)];
  return [this, pool, number, seen = state.changes](std::function<void()> again) {
    base::MutexLock lock(mutex_);
    PoolState& now = At(pool);
    const auto place = now.queue.find(number);
    if (now.changes != seen || place == now.queue.end()) return false;
    place->second.again = std::move(again);
    return true;
  };
}

// What becomes of it.

void Allocations::Settle(const Grant& grant) {
  Calls calls;
  {
    base::MutexLock lock(mutex_);
    for (const PoolValue& take : grant.takes) Settled(take, true, calls);
    for (const PoolValue& give : grant.gives) Settled(give, false, calls);
  }
  for (const auto& call : calls) call();
}

void Allocations::Settled(const PoolValue& value, bool taken, Calls& calls) {
  PoolState& state = At(value.pool);
  const auto found = state.flights.find(value.value);
  if (found == state.flights.end()) return;
  Flight& flight = found->second;
  (taken ? flight.taken : flight.given) = false;
  if (!flight.taken && !flight.stored) state.pool.Drop(value.value);
  std::move(flight.waiting.begin(), flight.waiting.end(), std::back_inserter(calls));
  flight.waiting.clear();
  if (!flight.taken && !flight.given) state.flights.erase(found);
  Changed(state, calls);
}

/// Those at the front try again for whom there is enough; all when nothing is left to wait for.
void Allocations::Changed(PoolState& state, Calls& calls) {
  ++state.changes;
  const bool all = state.flights.empty();
  const U128 available = state.pool.Available();
  U128 needed = 0;
  for (auto& [ticket, place] : state.queue) {
    needed += place.needs;
    if (!all && needed > available) return;
    if (place.again) calls.push_back(std::exchange(place.again, nullptr));
  }
}

/// Those behind it may have waited for nothing but its turn.
void Allocations::LeaveQueues(const Ticket& ticket, Calls& calls) {
  for (PoolState& state : pools_) {
    if (state.queue.erase(ticket.Number()) > 0) Changed(state, calls);
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

// Following the store.

void Allocations::OnBatch(const std::vector<state::Change>& changes, int64_t /*revision*/) {
  Apply(changes);
}

void Allocations::OnReset(const std::vector<state::Change>& changes, int64_t /*revision*/) {
  Apply(changes);
}

void Allocations::Apply(const std::vector<state::Change>& changes) {
  Calls calls;
  {
    base::MutexLock lock(mutex_);
    bool ranges_changed = false;
    for (const state::Change& change : changes) {
      const state::Object& object = *change.Last();
      if (reader_.is_range(object)) {
        ranges_changed = true;
        if (change.object) {
          range_objects_[object.Key()] = change.object;
        } else {
          range_objects_.erase(object.Key());
        }
      } else if (const auto value = reader_.value(object)) {
        ApplyRecord(*value, change.object != nullptr, calls);
      }
    }
    if (ranges_changed) {
      RebuildRanges();
      for (PoolState& state : pools_) Changed(state, calls);
    }
  }
  for (const auto& call : calls) call();
}

void Allocations::ApplyRecord(const PoolValue& value, bool stored, Calls& calls) {
  PoolState& state = At(value.pool);
  const auto flight = state.flights.find(value.value);
  const bool in_flight = flight != state.flights.end();
  if (in_flight) flight->second.stored = stored;
  if (stored || (in_flight && flight->second.taken)) {
    state.pool.Hold(value.value);
  } else if (state.pool.Drop(value.value)) {
    Changed(state, calls);
  }
}

void Allocations::RebuildRanges() {
  std::array<std::vector<alloc::RangeRow>, kPools> rows;
  families_.clear();
  for (const auto& [key, object] : range_objects_) {
    for (auto& [pool, row] : reader_.rows(*object)) {
      if (pool != PoolId::kPorts) {
        const auto family = pool == PoolId::kIpv4 ? ip::Family::kV4 : ip::Family::kV6;
        if (std::find(families_.begin(), families_.end(), family) == families_.end()) {
          families_.push_back(family);
        }
      }
      rows[static_cast<size_t>(pool)].push_back(std::move(row));
    }
  }
  for (size_t i = 0; i < kPools; ++i) pools_[i].pool.SetRanges(std::move(rows[i]));
}

// For messages, metrics and people.

std::vector<ip::Family> Allocations::Families() const {
  base::MutexLock lock(mutex_);
  return families_;
}

std::vector<Allocations::RangeState> Allocations::Ranges() const {
  base::MutexLock lock(mutex_);
  std::vector<RangeState> states;
  for (size_t i = 0; i < kPools; ++i) {
    for (const alloc::Pool::Range& range : pools_[i].pool.ranges()) {
      const alloc::Layout& layout = range.index.layout();
      states.push_back({.pool = static_cast<PoolId>(i),
                        .name = range.name,
                        .text = range.text,
                        .static_band = layout.BandSpan(alloc::Band::kStatic),
                        .dynamic_band = layout.BandSpan(alloc::Band::kDynamic),
                        .in_static = range.index.Counts(alloc::Band::kStatic),
                        .in_dynamic = range.index.Counts(alloc::Band::kDynamic)});
    }
  }
  return states;
}

bool Allocations::IsHeld(const PoolValue& value) const {
  base::MutexLock lock(mutex_);
  return pools_[static_cast<size_t>(value.pool)].pool.IsHeld(value.value);
}

std::string Allocations::RangeOf(const PoolValue& value) const {
  base::MutexLock lock(mutex_);
  const alloc::Pool::Range* range = pools_[static_cast<size_t>(value.pool)].pool.Find(value.value);
  return range == nullptr ? std::string() : range->text;
}

}  // namespace berth::commit
