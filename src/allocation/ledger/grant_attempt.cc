#include "allocation/ledger/grant_attempt.h"

#include <algorithm>
#include <string>
#include <utility>

namespace berth::allocation {

using alloc::Outcome;
using alloc::State;

namespace {

Denial::Why WhyNot(Outcome outcome) {
  switch (outcome) {
    case Outcome::kReserved:
      return Denial::Why::kReserved;
    case Outcome::kExcluded:
      return Denial::Why::kExcluded;
    case Outcome::kOutOfRange:
      return Denial::Why::kOutOfRange;
    case Outcome::kNotOpen:
      return Denial::Why::kNotOpen;
    case Outcome::kDone:
    case Outcome::kTaken:
    case Outcome::kNotHeld:
      break;
  }
  return Denial::Why::kTaken;
}

}  // namespace

GrantAttempt::GrantAttempt(LedgerState& state, const Claimant& claimant,
                           std::span<const Claim> claims, std::optional<uint64_t> ticket)
    : state_(state), claimant_(claimant), claims_(claims), ticket_(ticket) {
  for (const Claim& claim : claims) {
    if (!claim.wanted) ++needs_[claim.pool];
  }
}

std::optional<GrantAttempt::Denied> GrantAttempt::TakeAll() {
  for (; at_ < claims_.size(); ++at_) {
    if (std::optional<Denied> denied = Take(claims_[at_])) {
      Undo();
      denied->denial.claim = std::max(denied->denial.claim, at_);
      return denied;
    }
  }
  return std::nullopt;
}

Grant&& GrantAttempt::Finish(std::span<const PoolValue> releases) && {
  grant_.releases.reserve(releases.size());
  for (const PoolValue& value : releases) grant_.releases.push_back(state_.Release(value));
  for (const PoolId pool : kAllPools) grant_.fences[pool] = state_.ranges.Fence(pool);
  state_.form.AddTo(grant_);
  return std::move(grant_);
}

std::optional<GrantAttempt::Denied> GrantAttempt::Take(const Claim& claim) {
  const Range* range = nullptr;
  if (!claim.range.empty()) {
    range = state_.pools[claim.pool].values.Named(claim.range);
    if (range == nullptr) return Deny(claim.pool, Why::kUnknownRange);
    if (!range->open) return Deny(claim.pool, Why::kNotOpen);
    if (claim.wanted && !range->index.layout().Contains(*claim.wanted)) {
      return Deny(claim.pool, Why::kNotInRange);
    }
  }
  return claim.wanted ? TakeWanted(claim) : TakeAny(claim, range);
}

std::optional<GrantAttempt::Denied> GrantAttempt::TakeWanted(const Claim& claim) {
  const PoolValue wanted{.pool = claim.pool, .value = *claim.wanted};
  LedgerPool& pool = state_.pools[claim.pool];
  if (!state_.form.HasRoomFor(wanted)) return Deny(claim.pool, Why::kOutOfRange);
  const State before = pool.values.Get(wanted.value);
  const ReservedValue* reserved =
      before == State::kReserved ? state_.reserved.Find(wanted) : nullptr;
  const bool its_own = reserved != nullptr && IsFor(reserved->service, claimant_);
  const Outcome outcome =
      its_own ? pool.values.TakeReserved(wanted.value) : pool.values.Take(wanted.value);
  if (outcome == Outcome::kDone) {
    Taken(wanted, before);
    return std::nullopt;
  }
  const auto is_wanted = [&wanted](const TakenValue& take) { return take.value == wanted; };
  if (std::ranges::any_of(grant_.takes, is_wanted)) {
    return Denied{.denial = {.why = Why::kTaken}};  // The write would wait for itself.
  }
  Denied denied = Deny(claim.pool, WhyNot(outcome));
  if (denied.denial.why == Why::kReserved && reserved != nullptr) {
    denied.denial.reserved_for = reserved->service;
  }
  if (pool.in_flight.MayChange(wanted.value)) {
    denied.wait = {.kind = WaitTarget::Kind::kValue, .value = wanted, .seen = pool.changes};
  }
  return denied;
}

std::optional<GrantAttempt::Denied> GrantAttempt::TakeAny(const Claim& claim, const Range* range) {
  size_t& needs = needs_[claim.pool];
  if (TakeReserved(claim.pool, range)) {
    --needs;
    return std::nullopt;
  }
  if (auto denied = CheckTurn(claim, range)) return denied;
  LedgerPool& pool = state_.pools[claim.pool];
  const Range* from = range;
  if (range == nullptr && pool.queue.NamesRanges()) {
    from = WaitQueue::RangeToSpare(pool.values, pool.queue.DemandAhead(pool.values, ticket_));
  }
  const std::optional<U128> value = from == nullptr ? pool.values.TakeAny(state_.random)
                                                    : pool.values.TakeAny(state_.random, *from);
  if (!value) return DenyFull(claim, range, false);  // Values of overlapping ranges count twice.
  --needs;
  Taken({.pool = claim.pool, .value = *value}, State::kFree);
  return std::nullopt;
}

/// Takes a value that is reserved for the claimant. Returns false if there is no such value.
bool GrantAttempt::TakeReserved(PoolId pool, const Range* range) {
  alloc::Pool& values = state_.pools[pool].values;
  for (const PoolValue& value : state_.reserved.For(claimant_)) {
    if (value.pool != pool || values.Get(value.value) != State::kReserved) continue;
    if (range != nullptr && !range->index.layout().Contains(value.value)) continue;
    if (values.TakeReserved(value.value) != Outcome::kDone) continue;
    Taken(value, State::kReserved);
    return true;
  }
  return false;
}

/// Adds a value to the grant. `before` is the state that the value was in.
void GrantAttempt::Taken(const PoolValue& value, State before) {
  state_.pools[value.pool].in_flight.Take(value.value, before);
  grant_.values.push_back(value.value);
  TakenValue& take = grant_.takes.emplace_back(TakenValue{.value = value});
  if (before == State::kCooling) {
    take.replaces = state_.reserved.CoolingRevision(value);
  } else if (before == State::kReserved) {
    const ReservedValue& reserved = *state_.reserved.Find(value);
    take.replaces = reserved.revision;
    // A hold ends when its Service takes the value; a reservation stays.
    if (reserved.state == RecordState::kReserved) take.reserved_for = reserved.service;
  }
}

void GrantAttempt::Undo() {
  for (const TakenValue& take : grant_.takes) {
    LedgerPool& pool = state_.pools[take.value.pool];
    pool.values.Put(take.value.value, pool.in_flight.UndoTake(take.value.value));
  }
}

// Denials.

/// While ranges are closing no denial is final: it is not decided yet what they will be.
GrantAttempt::Denied GrantAttempt::Deny(PoolId pool, Why why) const {
  Denied denied{.denial = {.why = why}};
  if (state_.pools[pool].closing) {
    denied.wait = {.kind = WaitTarget::Kind::kTable, .seen = state_.ranges.TablesMade()};
  }
  return denied;
}

std::optional<GrantAttempt::Denied> GrantAttempt::CheckTurn(const Claim& claim,
                                                            const Range* range) {
  std::optional<std::string_view>& turn = turns_[claim.pool];
  if (turn == claim.range) return std::nullopt;
  const LedgerPool& pool = state_.pools[claim.pool];
  if (range == nullptr && pool.queue.IsEmpty() && pool.values.Available() >= needs_[claim.pool]) {
    turn = claim.range;
    return std::nullopt;
  }
  const WaitQueue::Demand ahead = pool.queue.DemandAhead(pool.values, ticket_);
  const QueueEntry entry = EntryOf(claim);
  if (WaitQueue::IsEnough(pool.values, entry, ahead)) {
    turn = claim.range;
    return std::nullopt;
  }
  return DenyFull(claim, range, /*others_first=*/WaitQueue::IsEnough(pool.values, entry, {}));
}

/// The denial is final if no other write in flight could free a value, and no write ahead in the
/// queue may leave one.
GrantAttempt::Denied GrantAttempt::DenyFull(const Claim& claim, const Range* range,
                                            bool others_first) {
  const LedgerPool& pool = state_.pools[claim.pool];
  Denied denied{.denial = {.why = Why::kFull}};
  if (range != nullptr && !WaitQueue::IsShort(pool.values, *range, EntryOf(claim))) {
    // The range has enough; the pool has too little for the other claims.
    range = nullptr;
    denied.denial.claim = OtherClaim(claim);
  }
  const auto own = std::ranges::count_if(grant_.takes, [&](const TakenValue& take) {
    return take.value.pool == claim.pool &&
           (range == nullptr || range->index.layout().Contains(take.value.value));
  });
  if (pool.closing || others_first || pool.in_flight.HasMoreThan(static_cast<size_t>(own), range)) {
    denied.wait = WaitInQueue(claim);
  }
  return denied;
}

WaitTarget GrantAttempt::WaitInQueue(const Claim& claim) {
  LedgerPool& pool = state_.pools[claim.pool];
  if (!ticket_) ticket_ = state_.next_ticket++;
  pool.queue.Enter(*ticket_, EntryOf(claim));
  return {.kind = WaitTarget::Kind::kQueue,
          .value = {.pool = claim.pool},
          .seen = pool.changes,
          .ticket = *ticket_};
}

QueueEntry GrantAttempt::EntryOf(const Claim& claim) const {
  QueueEntry entry{.needs = needs_[claim.pool], .range = claim.range};
  if (claim.range.empty()) return entry;
  for (const Claim& each : claims_.subspan(at_)) {
    if (each.pool == claim.pool && !each.wanted && each.range == claim.range) {
      ++entry.needs_in_range;
    }
  }
  return entry;
}

/// Returns the next claim for any value of the same pool, but not of the same range.
size_t GrantAttempt::OtherClaim(const Claim& claim) const {
  for (size_t at = at_; at < claims_.size(); ++at) {
    const Claim& other = claims_[at];
    if (other.pool == claim.pool && !other.wanted && other.range != claim.range) return at;
  }
  return at_;
}

}  // namespace berth::allocation
