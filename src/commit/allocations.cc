// Granting claims, and what becomes of grants.
#include "commit/allocations.h"

#include <algorithm>
#include <iterator>

namespace berth::commit {

using alloc::Outcome;
using alloc::State;

namespace {

/// "namespace/name"; without putting it together.
bool IsFor(const std::string& service, const Claimant& claimant) {
  const size_t slash = claimant.name_space.size();
  return service.size() == slash + 1 + claimant.name.size() && service[slash] == '/' &&
         service.starts_with(claimant.name_space) && service.ends_with(claimant.name);
}

Allocations::Why WhyNot(Outcome outcome) {
  switch (outcome) {
    case Outcome::kReserved:
      return Allocations::Why::kReserved;
    case Outcome::kExcluded:
      return Allocations::Why::kExcluded;
    case Outcome::kOutOfRange:
      return Allocations::Why::kOutOfRange;
    case Outcome::kNotOpen:
      return Allocations::Why::kNotOpen;
    case Outcome::kDone:
    case Outcome::kTaken:
    case Outcome::kNotHeld:
      break;
  }
  return Allocations::Why::kTaken;
}

}  // namespace

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
    for (std::function<void()>& call : waiting_for_table_) forgotten.push_back(std::move(call));
    for (FenceWait& wait : waiting_for_fences_) forgotten.push_back(std::move(wait.again));
    waiting_for_table_.clear();
    waiting_for_fences_.clear();
  }
}

// Planning.

tl::expected<Allocations::Grant, Allocations::Denial> Allocations::Plan(
    const Claimant& claimant, std::span<const Claim> claims, std::span<const PoolValue> gives,
    TicketPtr& ticket) {
  Calls calls;
  auto planned = PlanAll(claimant, claims, gives, ticket, calls);
  for (const auto& call : calls) call();
  return planned;
}

tl::expected<Allocations::Grant, Allocations::Denial> Allocations::PlanAll(
    const Claimant& claimant, std::span<const Claim> claims, std::span<const PoolValue> gives,
    TicketPtr& ticket, Calls& calls) {
  base::MutexLock lock(mutex_);
  Planning planning{.claimant = claimant, .claims = claims, .ticket = ticket};
  for (const Claim& claim : claims) {
    if (!claim.wanted) ++planning.needs[static_cast<size_t>(claim.pool)];
  }
  for (; planning.at < claims.size(); ++planning.at) {
    if (std::optional<Denial> denial = TakeOne(claims[planning.at], planning)) {
      Undo(planning.grant);
      denial->claim = std::max(denial->claim, planning.at);
      return tl::unexpected(*std::move(denial));
    }
  }
  if (ticket) LeaveQueues(*ticket, calls);
  Grant& grant = planning.grant;
  grant.gives.reserve(gives.size());
  for (const PoolValue& value : gives) grant.gives.push_back(GiveBack(value));
  for (size_t i = 0; i < kPools; ++i) grant.fences[i] = pools_[i].fence;
  grant.form = form_.form;
  grant.form_revision = form_.revision;
  grant.bitmaps = form_.bitmaps;
  return std::move(grant);
}

std::optional<Allocations::Denial> Allocations::TakeOne(const Claim& claim, Planning& planning) {
  const Range* range = nullptr;
  if (!claim.range.empty()) {
    range = At(claim.pool).pool.Named(claim.range);
    if (range == nullptr) return Deny(claim.pool, Why::kUnknownRange);
    if (!range->open) return Deny(claim.pool, Why::kNotOpen);
    if (claim.wanted && !range->index.layout().Contains(*claim.wanted)) {
      return Deny(claim.pool, Why::kNotInRange);
    }
  }
  return claim.wanted ? TakeWanted(claim, planning) : TakeAny(claim, range, planning);
}

std::optional<Allocations::Denial> Allocations::TakeWanted(const Claim& claim, Planning& planning) {
  const PoolValue wanted{.pool = claim.pool, .value = *claim.wanted};
  PoolState& state = At(claim.pool);
  if (form_.bitmaps) {
    const auto& bitmap = (*form_.bitmaps)[static_cast<size_t>(claim.pool)];
    if (!bitmap || !bitmap->form.BitOf(wanted.value)) return Deny(claim.pool, Why::kOutOfRange);
  }
  const State before = state.pool.Get(wanted.value);
  const auto kept = before == State::kReserved ? state.kept.find(wanted.value) : state.kept.end();
  const bool its_own = kept != state.kept.end() && IsFor(kept->second.service, planning.claimant);
  const Outcome outcome =
      its_own ? state.pool.TakeReserved(wanted.value) : state.pool.Take(wanted.value);
  if (outcome == Outcome::kDone) {
    Granted(wanted, before, planning.grant);
    return std::nullopt;
  }
  const std::vector<Take>& takes = planning.grant.takes;
  if (std::any_of(takes.begin(), takes.end(),
                  [&wanted](const Take& take) { return take.value == wanted; })) {
    return Denial{.why = Why::kTaken};  // It would wait for itself.
  }
  Denial denial = Deny(claim.pool, WhyNot(outcome));
  if (denial.why == Why::kReserved && kept != state.kept.end()) {
    denial.reserved_for = kept->second.service;
  }
  if (Wait wait = WaitForValue(wanted)) denial.wait = std::move(wait);
  return denial;
}

std::optional<Allocations::Denial> Allocations::TakeAny(const Claim& claim, const Range* range,
                                                        Planning& planning) {
  size_t& needs = planning.needs[static_cast<size_t>(claim.pool)];
  if (!kept_for_.empty() && TakeKept(claim.pool, range, planning)) {
    --needs;
    return std::nullopt;
  }
  if (auto denial = AwaitTurn(claim, range, planning)) return denial;
  PoolState& state = At(claim.pool);
  const Range* from = range;
  if (range == nullptr && state.named_places > 0) from = RangeBeside(state, planning);
  const std::optional<U128> value =
      from == nullptr ? state.pool.TakeAny(random_) : state.pool.TakeAny(random_, *from);
  if (!value) return Full(claim, range, false, planning);  // Ranges that overlap count some twice.
  --needs;
  Granted({.pool = claim.pool, .value = *value}, State::kFree, planning.grant);
  return std::nullopt;
}

/// A value that is kept for the Service is what it gets, if it is there to be had.
bool Allocations::TakeKept(PoolId pool, const Range* range, Planning& planning) {
  std::string service(planning.claimant.name_space);
  service.append("/").append(planning.claimant.name);
  const auto found = kept_for_.find(service);
  if (found == kept_for_.end()) return false;
  PoolState& state = At(pool);
  for (const PoolValue& value : found->second) {
    if (value.pool != pool || state.pool.Get(value.value) != State::kReserved) continue;
    if (range != nullptr && !range->index.layout().Contains(value.value)) continue;
    if (state.pool.TakeReserved(value.value) != Outcome::kDone) continue;
    Granted(value, State::kReserved, planning.grant);
    return true;
  }
  return false;
}

/// Nobody is refused before it is decided what becomes of ranges that are closing.
Allocations::Denial Allocations::Deny(PoolId pool, Why why) {
  Denial denial{.why = why};
  if (At(pool).closing) denial.wait = WaitForTable();
  return denial;
}

/// `before` is the state that the value was in.
void Allocations::Granted(const PoolValue& value, State before, Grant& grant) {
  PoolState& state = At(value.pool);
  state.flights.try_emplace(value.value, Flight{.stored = before}).first->second.taken = true;
  grant.values.push_back(value.value);
  Take& take = grant.takes.emplace_back(Take{.value = value});
  if (before == State::kCooling) {
    const auto found = state.cooling.find(value.value);
    if (found != state.cooling.end()) take.replaces = found->second;
  } else if (before == State::kReserved) {
    const Kept& kept = state.kept.at(value.value);
    take.replaces = kept.revision;
    // A hold is over when it is redeemed; a reservation stays one.
    if (kept.state == RecordState::kReserved) take.reserved_for = kept.service;
  }
}

Allocations::Give Allocations::GiveBack(const PoolValue& value) {
  PoolState& state = At(value.pool);
  const State held = state.pool.Get(value.value);
  state.flights.try_emplace(value.value, Flight{.stored = held}).first->second.given = true;
  Give give{.value = value};
  // Bitmaps know only taken and free.
  if (held != State::kTaken || WritesBitmaps(form_.form)) return give;
  if (!state.kept.empty()) {
    const auto kept = state.kept.find(value.value);
    if (kept != state.kept.end()) {
      give.becomes = Give::Becomes::kReserved;
      give.reserved_for = kept->second.service;
      give.revision = kept->second.revision;
      return give;
    }
  }
  if (!state.cools) return give;
  const Range* range = state.pool.Find(value.value);
  if (range != nullptr && range->cool_down > std::chrono::seconds(0)) {
    give.becomes = Give::Becomes::kCooling;
    give.cool_down = range->cool_down;
  }
  return give;
}

/// Of a plan that was not made: nobody has seen it.
void Allocations::Undo(const Grant& grant) {
  for (const Take& take : grant.takes) {
    PoolState& state = At(take.value.pool);
    const auto flight = state.flights.find(take.value.value);
    flight->second.taken = false;
    state.pool.Put(take.value.value, flight->second.stored);
    if (!flight->second.given) state.flights.erase(flight);
  }
}

// What becomes of it.

void Allocations::Settle(const Grant& grant) {
  Calls calls;
  {
    base::MutexLock lock(mutex_);
    for (const Take& take : grant.takes) Settled(take.value, true, calls);
    for (const Give& give : grant.gives) Settled(give.value, false, calls);
  }
  for (const auto& call : calls) call();
}

void Allocations::Settled(const PoolValue& value, bool taken, Calls& calls) {
  PoolState& state = At(value.pool);
  const auto found = state.flights.find(value.value);
  if (found == state.flights.end()) return;
  Flight& flight = found->second;
  (taken ? flight.taken : flight.given) = false;
  if (!flight.taken && flight.stored != State::kTaken) {
    state.pool.Put(value.value, flight.stored);
  }
  std::move(flight.waiting.begin(), flight.waiting.end(), std::back_inserter(calls));
  flight.waiting.clear();
  if (!flight.taken && !flight.given) state.flights.erase(found);
  Changed(state, calls);
}

}  // namespace berth::commit
