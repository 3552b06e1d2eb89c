#include "allocation/ledger/ledger_state.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace berth::allocation {

using alloc::State;

namespace {

State StateOf(RecordState state) {
  switch (state) {
    case RecordState::kAllocated:
      return State::kTaken;
    case RecordState::kCooling:
      return State::kCooling;
    case RecordState::kReserved:
    case RecordState::kPending:
      break;
  }
  return State::kReserved;
}

bool HasCoolDown(const alloc::RangeRow& row) { return row.cool_down > std::chrono::seconds(0); }

}  // namespace

// What the store says.

void LedgerState::ApplyRecord(const RecordInfo& info, int64_t revision, Callbacks& callbacks) {
  if (!form.RecordsCount()) return form.NoteRecord(info.value, revision != 0);
  reserved.Note(info, revision);
  PutSaid(info.value, revision == 0 ? State::kFree : StateOf(info.state), callbacks);
}

void LedgerState::ApplyHolding(const PoolValue& value, bool held, Callbacks& callbacks) {
  LedgerPool& pool = pools[value.pool];
  if (held) {
    pool.held.Add(value.value, pool.in_flight.Stored(value.value, pool.values));
    PutStored(value, State::kTaken, callbacks);
    return;
  }
  const State stored = pool.held.Remove(value.value);
  if (stored != State::kTaken) PutStored(value, stored, callbacks);
}

void LedgerState::ApplyStored(const StoredValues& values, Callbacks& callbacks) {
  for (const U128 value : values.released) {
    PutSaid({.pool = values.pool, .value = value}, State::kFree, callbacks);
  }
  for (const U128 value : values.taken) {
    PutSaid({.pool = values.pool, .value = value}, State::kTaken, callbacks);
  }
}

void LedgerState::PutSaid(const PoolValue& value, State said, Callbacks& callbacks) {
  PutStored(value, pools[value.pool].held.Say(value.value, said), callbacks);
}

void LedgerState::PutStored(const PoolValue& value, State stored, Callbacks& callbacks) {
  LedgerPool& pool = pools[value.pool];
  const State now = pool.in_flight.SetStored(value.value, stored);
  if (pool.values.Put(value.value, now) && now != State::kTaken) Changed(pool, callbacks);
}

void LedgerState::MakeTable(Callbacks& callbacks) {
  alloc::RangeTable table = ranges.MakeTable();
  left_out = form.Fit(table);
  for (const PoolId id : kAllPools) {
    LedgerPool& pool = pools[id];
    pool.closing = table.closing[id];
    pool.cools = std::ranges::any_of(table.rows[id], HasCoolDown);
    pool.values.SetRanges(std::move(table.rows[id]));
    Changed(pool, callbacks);
  }
  ranges.TakeTableCallbacks(callbacks);
}

void LedgerState::SetForm(AllocationForm next, int64_t revision, const BitmapFollower& bitmaps,
                          Callbacks& callbacks) {
  const StoreForm::Change change = form.Set(next, revision);
  if (change == StoreForm::Change::kNone) return;
  if (change == StoreForm::Change::kSource) ForgetStored();
  MakeTable(callbacks);
  if (change != StoreForm::Change::kSource) return;
  const auto held = form.RecordsCount() ? form.TakeNotedRecords() : bitmaps.All();
  for (const StoredValues& values : held) ApplyStored(values, callbacks);
  RestoreHeld(callbacks);
}

/// Leaves nothing held but what writes in flight take. RestoreHeld must follow.
void LedgerState::ForgetStored() {
  reserved.Clear();
  for (LedgerPool& pool : pools) {
    earlier_changes += pool.values.Changes() + 1;
    pool.values = alloc::Pool();
    pool.in_flight.ForgetStored(pool.values);
    pool.held.ForgetSaid();
  }
}

/// Makes what Services hold taken again, after the other form has said what it has.
void LedgerState::RestoreHeld(Callbacks& callbacks) {
  for (const PoolId id : kAllPools) {
    LedgerPool& pool = pools[id];
    pool.held.ForEach([&](U128 value) {
      const State said = pool.in_flight.Stored(value, pool.values);
      if (said == State::kTaken) return;
      PutStored({.pool = id, .value = value}, pool.held.Say(value, said), callbacks);
    });
  }
}

// Releases, and the end of grants.

ReleasedValue LedgerState::Release(const PoolValue& value) {
  LedgerPool& pool = pools[value.pool];
  const State held = pool.values.Get(value.value);
  pool.in_flight.Release(value.value, held);
  ReleasedValue release{.value = value, .held_by_another = pool.held.Count(value.value) > 1};
  if (held != State::kTaken || !form.HasReservations()) return release;
  if (const ReservedValue* kept = reserved.Find(value)) {
    release.becomes = ReleasedValue::Becomes::kReserved;
    release.reserved_for = kept->service;
    release.revision = kept->revision;
    return release;
  }
  if (!pool.cools || release.held_by_another) return release;
  const alloc::Pool::Range* range = pool.values.Find(value.value);
  if (range != nullptr && range->cool_down > std::chrono::seconds(0)) {
    release.becomes = ReleasedValue::Becomes::kCooling;
    release.cool_down = range->cool_down;
  }
  return release;
}

void LedgerState::End(const Grant& grant, Callbacks& callbacks) {
  for (const TakenValue& take : grant.takes) {
    LedgerPool& pool = pools[take.value.pool];
    const U128 value = take.value.value;
    EndValue(pool, value, pool.in_flight.EndTake(value, callbacks), callbacks);
  }
  for (const ReleasedValue& release : grant.releases) {
    LedgerPool& pool = pools[release.value.pool];
    const U128 value = release.value.value;
    EndValue(pool, value, pool.in_flight.EndRelease(value, callbacks), callbacks);
  }
}

void LedgerState::EndValue(LedgerPool& pool, U128 value, const InFlightValues::Ended& ended,
                           Callbacks& callbacks) {
  if (!ended.was_in_flight) return;
  if (ended.state) pool.values.Put(value, *ended.state);
  Changed(pool, callbacks);
}

// Waiting.

void LedgerState::Changed(LedgerPool& pool, Callbacks& callbacks) {
  ++pool.changes;
  if (pool.queue.IsEmpty()) return;
  pool.queue.Wake(pool.values, pool.in_flight, pool.closing, callbacks);
}

bool LedgerState::Await(const WaitTarget& target, Callback retry) {
  if (target.kind == WaitTarget::Kind::kTable) {
    return ranges.AwaitTable(target.seen, std::move(retry));
  }
  LedgerPool& pool = pools[target.value.pool];
  if (pool.changes != target.seen) return false;
  return target.kind == WaitTarget::Kind::kQueue
             ? pool.queue.Await(target.ticket, std::move(retry))
             : pool.in_flight.Await(target.value.value, std::move(retry));
}

void LedgerState::LeaveQueues(uint64_t ticket, Callbacks& callbacks) {
  for (LedgerPool& pool : pools) {
    if (pool.queue.Leave(ticket)) Changed(pool, callbacks);
  }
}

void LedgerState::TakeCallbacks(Callbacks& callbacks) {
  for (LedgerPool& pool : pools) {
    pool.queue.TakeCallbacks(callbacks);
    pool.in_flight.TakeCallbacks(callbacks);
  }
  ranges.TakeCallbacks(callbacks);
}

}  // namespace berth::allocation
