#include "commit/allocations.h"

#include <algorithm>
#include <iterator>

namespace berth::commit {

using alloc::Outcome;

class Allocations::Ticket {
 public:
  explicit Ticket(Allocations& owner) : owner_(owner) {}
  ~Ticket() { owner_.Leave(*this); }
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  /// Its place in the queue of a pool, under the owner's mutex; 0: it is not in it.
  uint64_t& NumberIn(PoolId pool) { return numbers_[static_cast<size_t>(pool)]; }

 private:
  Allocations& owner_;
  std::array<uint64_t, kPools> numbers_{};
};

Allocations::Allocations(RecordReader reader, const base::SeededRandom& random)
    : reader_(std::move(reader)), random_(random) {}

/// Those who still wait are let go while there is something left that their tickets can leave.
Allocations::~Allocations() {
  Calls forgotten;
  {
    base::MutexLock lock(mutex_);
    for (PoolState& state : pools_) {
      for (auto& [ticket, call] : state.queue) forgotten.push_back(std::move(call));
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
  Grant grant;
  Calls calls;
  std::optional<Denial> denial;
  {
    base::MutexLock lock(mutex_);
    for (size_t i = 0; i < claims.size() && !denial; ++i) {
      denial = TakeOne(claims[i], ticket, grant);
      if (denial) denial->claim = i;
    }
    if (denial) {
      Retire(grant, calls);
    } else {
      grant.gives = std::move(gives);
      for (const PoolValue& given : grant.gives) {
        PoolState& state = At(given.pool);
        const bool held = state.pool.IsHeld(given.value);
        Flight& flight =
            state.flights.try_emplace(given.value, Flight{.stored = held}).first->second;
        flight.given = true;
      }
    }
  }
  for (const auto& call : calls) call();
  if (denial) return tl::unexpected(*std::move(denial));
  return grant;
}

std::optional<Allocations::Denial> Allocations::TakeOne(const Claim& claim, TicketPtr& ticket,
                                                        Grant& grant) {
  return claim.wanted ? TakeWanted(claim, grant) : TakeAny(claim.pool, ticket, grant);
}

std::optional<Allocations::Denial> Allocations::TakeWanted(const Claim& claim, Grant& grant) {
  const PoolValue wanted{.pool = claim.pool, .value = *claim.wanted};
  const Outcome outcome = At(claim.pool).pool.Take(wanted.value);
  if (outcome == Outcome::kDone) {
    Granted(wanted, grant);
    return std::nullopt;
  }
  Denial denial{.why = outcome};
  const bool own = std::find(grant.takes.begin(), grant.takes.end(), wanted) != grant.takes.end();
  if (outcome == Outcome::kTaken && !own) denial.wait = WaitForValue(wanted);
  return denial;
}

/// Who comes later leaves those in the queue as many values as they wait for.
std::optional<Allocations::Denial> Allocations::TakeAny(PoolId pool, TicketPtr& ticket,
                                                        Grant& grant) {
  PoolState& state = At(pool);
  const U128 available = state.pool.Available();
  const uint64_t own = ticket ? ticket->NumberIn(pool) : 0;
  size_t ahead = 0;
  for (auto at = state.queue.begin(); at != state.queue.end() && ahead < available; ++at) {
    if (own != 0 && at->first >= own) break;
    ++ahead;
  }
  if (ahead < available) {
    const std::optional<U128> value = state.pool.TakeAny(random_);
    if (value) {
      if (own != 0) LeaveQueue(pool, *ticket);
      Granted({.pool = pool, .value = *value}, grant);
      return std::nullopt;
    }
  }
  Denial denial{.full = true};
  const auto own_takes = std::count_if(grant.takes.begin(), grant.takes.end(),
                                       [pool](const PoolValue& take) { return take.pool == pool; });
  const bool others_in_flight = state.flights.size() > static_cast<size_t>(own_takes);
  if (others_in_flight || available > 0) denial.wait = WaitInQueue(pool, ticket);
  return denial;
}

void Allocations::Granted(const PoolValue& value, Grant& grant) {
  At(value.pool).flights[value.value].taken = true;
  grant.values.push_back(value.value);
  grant.takes.push_back(value);
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

Allocations::Wait Allocations::WaitInQueue(PoolId pool, TicketPtr& ticket) {
  PoolState& state = At(pool);
  if (!ticket) ticket = std::make_shared<Ticket>(*this);
  uint64_t& number = ticket->NumberIn(pool);
  if (number == 0) {
    number = next_ticket_++;
    state.queue[number];
  }
  return [this, pool, number, seen = state.changes](std::function<void()> again) {
    base::MutexLock lock(mutex_);
    PoolState& now = At(pool);
    const auto place = now.queue.find(number);
    if (now.changes != seen || place == now.queue.end()) return false;
    place->second = std::move(again);
    return true;
  };
}

// What becomes of it.

void Allocations::Settle(const Grant& grant) {
  Calls calls;
  {
    base::MutexLock lock(mutex_);
    Retire(grant, calls);
  }
  for (const auto& call : calls) call();
}

void Allocations::Retire(const Grant& grant, Calls& calls) {
  for (const PoolValue& take : grant.takes) RetireOne(take, true, calls);
  for (const PoolValue& give : grant.gives) RetireOne(give, false, calls);
}

void Allocations::RetireOne(const PoolValue& value, bool taken, Calls& calls) {
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

/// As many as can be served try again; all of them when nothing is left to wait for.
void Allocations::Changed(PoolState& state, Calls& calls) {
  ++state.changes;
  U128 servable = state.flights.empty() ? base::kU128Max : state.pool.Available();
  for (auto at = state.queue.begin(); at != state.queue.end() && servable > 0; ++at, --servable) {
    if (at->second) calls.push_back(std::exchange(at->second, nullptr));
  }
}

bool Allocations::LeaveQueue(PoolId pool, Ticket& ticket) {
  uint64_t& number = ticket.NumberIn(pool);
  if (number == 0) return false;
  At(pool).queue.erase(number);
  number = 0;
  return true;
}

void Allocations::Leave(Ticket& ticket) {
  Calls calls;
  {
    base::MutexLock lock(mutex_);
    for (const PoolId pool : {PoolId::kIpv4, PoolId::kIpv6, PoolId::kPorts}) {
      if (LeaveQueue(pool, ticket)) Changed(At(pool), calls);
    }
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
