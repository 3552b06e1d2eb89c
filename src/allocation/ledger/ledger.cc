// Locks, tickets and callbacks. What happens under the lock is in LedgerState and GrantAttempt.
#include "allocation/ledger/ledger.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "allocation/ledger/grant_attempt.h"

namespace berth::allocation {
namespace {

/// The first snapshot has many objects. They are applied in portions of this size, so that other
/// threads get the lock in between.
constexpr size_t kReadAtOnce = 1024;

}  // namespace

Ledger::Ledger(RecordReader reader, const base::SeededRandom& random)
    : reader_(std::move(reader)),
      bitmaps_({.form = reader_.form, .bitmap = reader_.bitmap}),
      state_(random) {}

/// Destroys the callbacks of those that still wait while their tickets can leave the queues.
Ledger::~Ledger() {
  Callbacks forgotten;
  {
    base::MutexLock lock(mutex_);
    state_.TakeCallbacks(forgotten);
  }
}

// Grants.

tl::expected<Grant, Denial> Ledger::GrantClaims(const Claimant& claimant,
                                                std::span<const Claim> claims,
                                                std::span<const PoolValue> releases,
                                                TicketPtr& ticket) {
  Callbacks callbacks;
  auto decided = Decide(claimant, claims, releases, ticket, callbacks);
  CallAll(callbacks);
  return decided;
}

tl::expected<Grant, Denial> Ledger::Decide(const Claimant& claimant, std::span<const Claim> claims,
                                           std::span<const PoolValue> releases, TicketPtr& ticket,
                                           Callbacks& callbacks) {
  base::MutexLock lock(mutex_);
  GrantAttempt attempt(state_, claimant, claims,
                       ticket ? std::optional(ticket->Number()) : std::nullopt);
  if (std::optional<GrantAttempt::Denied> denied = attempt.TakeAll()) {
    const WaitTarget& wait = denied->wait;
    if (wait.kind == WaitTarget::Kind::kQueue && !ticket) {
      ticket = std::make_shared<Ticket>(*this, wait.ticket);
    }
    if (wait.kind != WaitTarget::Kind::kNothing) denied->denial.wait = WaitFor(wait);
    return tl::unexpected(std::move(denied->denial));
  }
  if (ticket) state_.LeaveQueues(ticket->Number(), callbacks);
  return std::move(attempt).Finish(releases);
}

Wait Ledger::WaitFor(const WaitTarget& target) {
  return [this, target](Callback retry) {
    base::MutexLock lock(mutex_);
    return state_.Await(target, std::move(retry));
  };
}

void Ledger::EndGrant(const Grant& grant) {
  Callbacks callbacks;
  {
    base::MutexLock lock(mutex_);
    state_.End(grant, callbacks);
  }
  CallAll(callbacks);
}

void Ledger::Leave(const Ticket& ticket) {
  Callbacks callbacks;
  {
    base::MutexLock lock(mutex_);
    state_.LeaveQueues(ticket.Number(), callbacks);
  }
  CallAll(callbacks);
}

bool Ledger::AwaitFence(PoolId pool, int64_t revision, Callback retry) {
  base::MutexLock lock(mutex_);
  return state_.ranges.AwaitFence(pool, revision, std::move(retry));
}

FormState Ledger::Form() const {
  base::MutexLock lock(mutex_);
  return state_.form.state();
}

std::vector<ip::Family> Ledger::Families() const {
  base::MutexLock lock(mutex_);
  return state_.ranges.Families();
}

// Following the store.

void Ledger::OnBatch(const std::vector<state::Change>& changes, int64_t /*revision*/) {
  Callbacks callbacks;
  Apply(changes, kReadAtOnce, callbacks);
  CallAll(callbacks);
}

/// Changes come in the order of keys. The form comes first, because the rest is read by it. The
/// first time nothing is granted before all is read, because the ranges are applied last. Later all
/// is applied at once: no grant must see that a record is gone, but not yet which Service has the
/// value.
void Ledger::OnReset(const std::vector<state::Change>& changes, int64_t /*revision*/) {
  Callbacks callbacks;
  for (const state::Change& change : changes) {
    if (const auto form = bitmaps_.ReadForm(change))
      SetForm(*form, state::RevisionOf(change.object), callbacks);
  }
  Apply(changes, std::exchange(has_read_, true) ? SIZE_MAX : kReadAtOnce, callbacks);
  CallAll(callbacks);
}

void Ledger::Apply(const std::vector<state::Change>& changes, size_t at_once,
                   Callbacks& callbacks) {
  for (size_t begin = 0, count = 0; begin < changes.size(); begin += count) {
    count = std::min(at_once, changes.size() - begin);
    for (const state::Change& change : std::span(changes).subspan(begin, count)) {
      Read(change, callbacks);
    }
    ApplyValues(callbacks);
  }
  ApplyRanges(callbacks);
}

void Ledger::Read(const state::Change& change, Callbacks& callbacks) {
  if (ReadChange(reader_, change, read_)) return;
  if (const auto form = bitmaps_.ReadForm(change)) {
    ApplyValues(callbacks);
    SetForm(*form, state::RevisionOf(change.object), callbacks);
  } else {
    bitmaps_.Read(change, read_.stored);
  }
}

void Ledger::ApplyValues(Callbacks& callbacks) {
  if (read_.records.empty() && read_.holdings.empty() && read_.stored.empty()) return;
  base::MutexLock lock(mutex_);
  for (const RecordChange& record : read_.records) {
    state_.ApplyRecord(record.info, record.revision, callbacks);
  }
  read_.records.clear();
  for (const StoredValues& values : read_.stored) state_.ApplyStored(values, callbacks);
  read_.stored.clear();
  for (const HoldingChange& holding : read_.holdings) {
    state_.ApplyHolding(holding.value, holding.held, callbacks);
  }
  read_.holdings.clear();
}

void Ledger::ApplyRanges(Callbacks& callbacks) {
  if (read_.ranges.empty() && read_.fences.empty()) return;
  base::MutexLock lock(mutex_);
  if (state_.ranges.Apply(std::exchange(read_.ranges, {}), std::exchange(read_.fences, {}),
                          callbacks)) {
    state_.MakeTable(callbacks);
  }
}

void Ledger::SetForm(AllocationForm form, int64_t revision, Callbacks& callbacks) {
  bitmaps_.SetForm(form);
  base::MutexLock lock(mutex_);
  state_.SetForm(form, revision, bitmaps_, callbacks);
}

}  // namespace berth::allocation
