// Following the store: records, ranges and fences; and what is told of ranges.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <span>
#include <utility>

#include "commit/allocations.h"

namespace berth::commit {

using alloc::State;

namespace {

/// A picture that is read anew has many.
constexpr size_t kReadAtOnce = 1024;

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

/// Of what there is now; 0: it is gone.
int64_t RevisionOf(const state::Change& change) {
  return change.object ? change.object->Revision() : 0;
}

Allocations::RangeState StateOf(PoolId pool, const alloc::Pool::Range& range, bool closing) {
  const alloc::Layout& layout = range.index.layout();
  return {.pool = pool,
          .name = range.name,
          .text = range.text,
          .static_band = layout.BandSpan(alloc::Band::kStatic),
          .dynamic_band = layout.BandSpan(alloc::Band::kDynamic),
          .in_static = range.index.Counts(alloc::Band::kStatic),
          .in_dynamic = range.index.Counts(alloc::Band::kDynamic),
          .usable = layout.Usable(),
          .priority = range.priority,
          .kind = range.kind,
          .open = range.open,
          .leaving = range.leaving,
          .overlaps = range.overlaps,
          .closing = closing};
}

bool IsSame(const alloc::RangeRow& one, const alloc::RangeRow& other) {
  return one.kind == other.kind && one.name == other.name && one.text == other.text;
}

/// The rows of a table that are not in what fits into bitmaps.
std::vector<Allocations::RangeState> LeftOutOf(const alloc::RangeTable& table,
                                               const alloc::RangeTable& fitting) {
  std::vector<Allocations::RangeState> states;
  for (size_t i = 0; i < kPools; ++i) {
    for (const alloc::RangeRow& row : table.rows[i]) {
      const auto same = [&row](const alloc::RangeRow& fits) { return IsSame(row, fits); };
      if (std::ranges::any_of(fitting.rows[i], same)) continue;
      states.push_back({.pool = static_cast<PoolId>(i),
                        .name = row.name,
                        .text = row.text,
                        .static_band = row.layout.BandSpan(alloc::Band::kStatic),
                        .dynamic_band = row.layout.BandSpan(alloc::Band::kDynamic),
                        .priority = row.priority,
                        .kind = row.kind,
                        .open = row.open,
                        .leaving = row.leaving,
                        .in_force = false});
    }
  }
  return states;
}

}  // namespace

void Allocations::OnBatch(const std::vector<state::Change>& changes, int64_t /*revision*/) {
  Calls calls;
  Apply(changes, calls);
  for (const auto& call : calls) call();
}

/// Changes come in the order of keys. What the form is comes first: the rest is read by it.
void Allocations::OnReset(const std::vector<state::Change>& changes, int64_t /*revision*/) {
  Calls calls;
  for (const state::Change& change : changes) {
    if (const auto form = ReadForm(change)) SetForm(*form, RevisionOf(change), calls);
  }
  Apply(changes, calls);
  for (const auto& call : calls) call();
}

/// Objects are read before anybody has to wait: that takes longer than all the rest.
void Allocations::Apply(const std::vector<state::Change>& changes, Calls& calls) {
  Reading reading;
  for (size_t begin = 0; begin < changes.size(); begin += kReadAtOnce) {
    const size_t count = std::min(kReadAtOnce, changes.size() - begin);
    for (const state::Change& change : std::span(changes).subspan(begin, count)) {
      Read(change, reading, calls);
    }
    ApplyValues(reading, calls);
  }
  if (reading.ranges.empty() && reading.fences.empty()) return;
  base::MutexLock lock(mutex_);
  if (ApplyRanges(std::move(reading.ranges), std::move(reading.fences), calls)) MakeTable(calls);
}

void Allocations::Read(const state::Change& change, Reading& reading, Calls& calls) {
  const state::Object& object = *change.Last();
  if (auto info = reader_.record(object)) {
    read_.push_back({.info = *std::move(info), .revision = RevisionOf(change)});
  } else if (auto facts = reader_.facts(object)) {
    if (!change.object) facts.reset();
    reading.ranges.push_back({.key = object.Key(), .facts = std::move(facts)});
  } else if (auto fence = reader_.closing(object)) {
    if (!change.object) fence->second.reset();
    reading.fences.push_back({.pool = fence->first,
                              .revision = RevisionOf(change),
                              .told = change.revision,
                              .closing = std::move(fence->second)});
  } else if (const auto form = ReadForm(change)) {
    ApplyValues(reading, calls);
    SetForm(*form, RevisionOf(change), calls);
  } else if (const auto bitmap = reader_.bitmap ? reader_.bitmap(object) : std::nullopt) {
    ReadBitmap(change, *bitmap, reading);
  }
}

/// What was read of records and bitmaps so far.
void Allocations::ApplyValues(Reading& reading, Calls& calls) {
  if (read_.empty() && reading.bits.empty()) return;
  base::MutexLock lock(mutex_);
  for (const RecordChange& record : read_) ApplyRecord(record.info, record.revision, calls);
  read_.clear();
  for (const BitmapStep& step : reading.bits) ApplyBits(step, calls);
  reading.bits.clear();
}

// Records.

/// `revision` 0: it is gone.
void Allocations::ApplyRecord(const RecordInfo& info, int64_t revision, Calls& calls) {
  if (BitmapsCount(form_.form)) {
    auto& others = other_records_[static_cast<size_t>(info.value.pool)];
    if (revision == 0) {
      others.erase(info.value.value);
    } else {
      others.insert(info.value.value);
    }
    return;
  }
  Note(info, revision);
  PutStored(info.value, revision == 0 ? State::kFree : StateOf(info.state), calls);
}

/// What the store says of a value. A write in flight that takes it has it all the same.
void Allocations::PutStored(const PoolValue& value, State stored, Calls& calls) {
  PoolState& state = At(value.pool);
  State now = stored;
  const auto flight = state.flights.find(value.value);
  if (flight != state.flights.end()) {
    flight->second.stored = stored;
    if (flight->second.taken) now = State::kTaken;
  }
  if (state.pool.Put(value.value, now) && now != State::kTaken) Changed(state, calls);
}

/// What must be known of some records besides their state; most have nothing of it.
void Allocations::Note(const RecordInfo& info, int64_t revision) {
  PoolState& state = At(info.value.pool);
  if (revision != 0 && !info.reserved_for.empty()) {
    Keep(info.value, {.service = info.reserved_for, .state = info.state, .revision = revision});
  } else if (!state.kept.empty()) {
    KeepNoLonger(info.value);
  }
  if (revision != 0 && info.state == RecordState::kCooling) {
    state.cooling[info.value.value] = revision;
  } else if (!state.cooling.empty()) {
    state.cooling.erase(info.value.value);
  }
}

void Allocations::Keep(const PoolValue& value, Kept kept) {
  PoolState& state = At(value.pool);
  const auto [place, fresh] = state.kept.try_emplace(value.value);
  if (!fresh && place->second.service != kept.service) {
    KeepNoLonger(value);
    return Keep(value, std::move(kept));
  }
  if (fresh) kept_for_[kept.service].push_back(value);
  place->second = std::move(kept);
}

void Allocations::KeepNoLonger(const PoolValue& value) {
  PoolState& state = At(value.pool);
  const auto place = state.kept.find(value.value);
  if (place == state.kept.end()) return;
  const auto all = kept_for_.find(place->second.service);
  std::erase(all->second, value);
  if (all->second.empty()) kept_for_.erase(all);
  state.kept.erase(place);
}

// Ranges.

/// Whether they say anything new.
bool Allocations::ApplyRanges(std::vector<RangeChange> ranges, std::vector<FenceChange> fences,
                              Calls& calls) {
  bool changed = false;
  for (RangeChange& range : ranges) {
    const auto known = range_objects_.find(range.key);
    if (!range.facts) {
      if (known == range_objects_.end()) continue;
      range_objects_.erase(known);
    } else if (known == range_objects_.end()) {
      range_objects_.emplace(std::move(range.key), *std::move(range.facts));
    } else {
      if (known->second == *range.facts) continue;
      known->second = *std::move(range.facts);
    }
    changed = true;
  }
  for (FenceChange& fence : fences) {
    At(fence.pool).fence = fence.revision;
    At(fence.pool).fence_told = fence.told;
    std::optional<alloc::Closing>& closing = closings_[static_cast<size_t>(fence.pool)];
    if (closing != fence.closing) {
      closing = std::move(fence.closing);
      changed = true;
    }
    for (FenceWait& wait : waiting_for_fences_) {
      if (wait.pool != fence.pool || wait.revision >= fence.told) continue;
      calls.push_back(std::exchange(wait.again, nullptr));
    }
    std::erase_if(waiting_for_fences_, [](const FenceWait& wait) { return !wait.again; });
  }
  return changed;
}

void Allocations::MakeTable(Calls& calls) {
  ++tables_made_;
  alloc::RangeTable table = alloc::MakeRangeTable(range_objects_, closings_);
  families_ = std::move(table.families);
  form_.bitmaps = nullptr;
  left_out_.clear();
  if (WritesBitmaps(form_.form)) {
    const alloc::RangeTable all = table;
    form_.bitmaps = std::make_shared<const alloc::PoolBitmaps>(alloc::FitIntoBitmaps(table));
    left_out_ = LeftOutOf(all, table);
  }
  for (size_t i = 0; i < kPools; ++i) {
    PoolState& state = pools_[i];
    state.closing = table.closing[i];
    const std::vector<alloc::RangeRow>& rows = table.rows[i];
    state.cools = std::any_of(rows.begin(), rows.end(), [](const alloc::RangeRow& row) {
      return row.cool_down > std::chrono::seconds(0);
    });
    state.pool.SetRanges(std::move(table.rows[i]));
    Changed(state, calls);
  }
  std::move(waiting_for_table_.begin(), waiting_for_table_.end(), std::back_inserter(calls));
  waiting_for_table_.clear();
}

// For status, messages, metrics and people.

std::vector<ip::Family> Allocations::Families() const {
  base::MutexLock lock(mutex_);
  return families_;
}

std::vector<Allocations::RangeState> Allocations::Ranges() const {
  base::MutexLock lock(mutex_);
  std::vector<RangeState> states;
  for (size_t i = 0; i < kPools; ++i) {
    for (const Range& range : pools_[i].pool.ranges()) {
      states.push_back(StateOf(static_cast<PoolId>(i), range, pools_[i].closing));
    }
  }
  return states;
}

std::vector<Allocations::RangeState> Allocations::Ranges(PoolId pool) const {
  base::MutexLock lock(mutex_);
  std::vector<RangeState> states;
  const PoolState& state = At(pool);
  for (const Range& range : state.pool.ranges()) {
    states.push_back(StateOf(pool, range, state.closing));
  }
  return states;
}

std::vector<Allocations::RangeState> Allocations::RangesInForceOrNot() const {
  std::vector<RangeState> states = Ranges();
  base::MutexLock lock(mutex_);
  states.insert(states.end(), left_out_.begin(), left_out_.end());
  return states;
}

std::optional<Allocations::RangeState> Allocations::RangeNamed(PoolId pool,
                                                               std::string_view name) const {
  base::MutexLock lock(mutex_);
  const Range* range = At(pool).pool.Named(name);
  if (range == nullptr) return std::nullopt;
  return StateOf(pool, *range, At(pool).closing);
}

std::optional<Allocations::RangeState> Allocations::RangeWith(const PoolValue& value) const {
  base::MutexLock lock(mutex_);
  const Range* range = At(value.pool).pool.Find(value.value);
  if (range == nullptr) return std::nullopt;
  return StateOf(value.pool, *range, At(value.pool).closing);
}

std::string Allocations::RangeOf(const PoolValue& value) const {
  base::MutexLock lock(mutex_);
  const Range* range = At(value.pool).pool.Find(value.value);
  return range == nullptr ? std::string() : range->text;
}

std::optional<Allocations::RangeState> Allocations::RangeThatWithholds(
    const PoolValue& value) const {
  base::MutexLock lock(mutex_);
  const PoolState& state = At(value.pool);
  const Range* range = state.pool.Find(value.value);
  if (range == nullptr || state.pool.Allows(value.value) == alloc::Outcome::kDone) {
    return std::nullopt;
  }
  return StateOf(value.pool, *range, state.closing);
}

std::vector<Allocations::KeptValue> Allocations::KeptValues(PoolId pool) const {
  base::MutexLock lock(mutex_);
  const PoolState& state = At(pool);
  std::vector<KeptValue> values;
  for (const auto& [value, kept] : state.kept) {
    if (kept.service.empty() || state.pool.Get(value) != State::kReserved) continue;
    values.push_back({.value = value, .service = kept.service});
  }
  return values;
}

bool Allocations::IsHeld(const PoolValue& value) const {
  base::MutexLock lock(mutex_);
  return At(value.pool).pool.IsHeld(value.value);
}

uint64_t Allocations::Changes() const {
  base::MutexLock lock(mutex_);
  uint64_t changes = earlier_changes_;
  for (const PoolState& state : pools_) changes += state.pool.Changes();
  return changes;
}

uint64_t Allocations::TablesMade() const {
  base::MutexLock lock(mutex_);
  return tables_made_;
}

}  // namespace berth::commit
