#include "allocation/ledger/ledger_view.h"

#include <utility>

#include "alloc/index.h"
#include "alloc/pool.h"
#include "alloc/segments.h"
#include "allocation/bitmaps/bitmap_ranges.h"

namespace berth::allocation {
namespace {

using PoolRange = alloc::Pool::Range;

RangeState Describe(const LedgerState& ledger, PoolId pool, const PoolRange& range) {
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
          .makes_way = range.makes_way,
          .overlaps = range.overlaps,
          .closing = ledger.pools[pool].closing,
          .fence = ledger.ranges.Fence(pool)};
}

/// Returns what a row says of itself, without counts.
RangeState UncountedState(PoolId pool, const alloc::RangeRow& row) {
  return {.pool = pool,
          .name = row.name,
          .text = row.text,
          .static_band = row.layout.BandSpan(alloc::Band::kStatic),
          .dynamic_band = row.layout.BandSpan(alloc::Band::kDynamic),
          .priority = row.priority,
          .kind = row.kind,
          .open = row.open,
          .leaving = row.leaving,
          .makes_way = row.makes_way};
}

RangeState NotInForce(const alloc::RangeFacts::Part& part) {
  RangeState state = UncountedState(part.pool, part.row);
  state.in_force = false;
  return state;
}

bool OverlapsAnother(const std::vector<alloc::RangeRow>& rows, size_t place) {
  std::vector<std::optional<alloc::Interval>> spans;
  spans.reserve(rows.size());
  for (const alloc::RangeRow& row : rows) spans.push_back(row.layout.span());
  return alloc::Segments(spans).Overlaps(static_cast<uint32_t>(place));
}

}  // namespace

std::vector<RangeState> LedgerView::Ranges() const {
  base::MutexLock lock(ledger_.mutex_);
  std::vector<RangeState> states;
  for (const PoolId pool : kAllPools) {
    for (const PoolRange& range : ledger_.state_.pools[pool].values.ranges()) {
      states.push_back(Describe(ledger_.state_, pool, range));
    }
  }
  return states;
}

std::vector<RangeState> LedgerView::Ranges(PoolId pool) const {
  base::MutexLock lock(ledger_.mutex_);
  std::vector<RangeState> states;
  for (const PoolRange& range : ledger_.state_.pools[pool].values.ranges()) {
    states.push_back(Describe(ledger_.state_, pool, range));
  }
  return states;
}

std::vector<RangeState> LedgerView::RangesInForceOrNot() const {
  std::vector<RangeState> states = Ranges();
  base::MutexLock lock(ledger_.mutex_);
  for (const alloc::RangeFacts::Part& part : ledger_.state_.left_out) {
    states.push_back(NotInForce(part));
    states.back().fence = ledger_.state_.ranges.Fence(part.pool);
  }
  return states;
}

std::optional<RangeState> LedgerView::RangeNamed(PoolId pool, std::string_view name) const {
  base::MutexLock lock(ledger_.mutex_);
  const PoolRange* range = ledger_.state_.pools[pool].values.Named(name);
  if (range == nullptr) return std::nullopt;
  return Describe(ledger_.state_, pool, *range);
}

std::optional<RangeState> LedgerView::RangeIn(const alloc::RangeTable& table, alloc::RangeKind kind,
                                              std::string_view name) const {
  if (!WritesBitmaps(ledger_.Form().form)) return RangeInForce(table, kind, name);
  alloc::RangeTable fitting = table;
  FitIntoBitmaps(fitting);
  if (auto state = RangeInForce(fitting, kind, name)) return state;
  for (const alloc::RangeFacts::Part& part : RowsLeftOut(table, fitting)) {
    if (part.row.kind == kind && part.row.name == name) return NotInForce(part);
  }
  return std::nullopt;
}

std::optional<RangeState> LedgerView::RangeInForce(const alloc::RangeTable& table,
                                                   alloc::RangeKind kind,
                                                   std::string_view name) const {
  for (const PoolId pool : kAllPools) {
    const std::vector<alloc::RangeRow>& rows = table.rows[pool];
    for (size_t place = 0; place < rows.size(); ++place) {
      const alloc::RangeRow& row = rows[place];
      if (row.kind != kind || row.name != name) continue;
      RangeState state = UncountedState(pool, row);
      state.usable = row.layout.Usable();
      state.overlaps = OverlapsAnother(rows, place);
      Count(row.layout, state);
      return state;
    }
  }
  return std::nullopt;
}

/// Fills in the counts of a range that may have another layout than those in force. Writes wait
/// while what is held is copied, but not while an index is made of the copy.
void LedgerView::Count(const alloc::Layout& layout, RangeState& state) const {
  const auto count = [&state](const alloc::Index& index) {
    state.in_static = index.Counts(alloc::Band::kStatic);
    state.in_dynamic = index.Counts(alloc::Band::kDynamic);
  };
  alloc::Pool::Held held;
  {
    base::MutexLock lock(ledger_.mutex_);
    const alloc::Pool& pool = ledger_.state_.pools[state.pool].values;
    if (const PoolRange* same = pool.WithLayout(layout)) return count(same->index);
    if (layout.span()) held = pool.HeldIn(*layout.span());
  }
  count(alloc::Pool::IndexOf(layout, held));
}

std::optional<RangeState> LedgerView::RangeWith(const PoolValue& value) const {
  base::MutexLock lock(ledger_.mutex_);
  const PoolRange* range = ledger_.state_.pools[value.pool].values.Find(value.value);
  if (range == nullptr) return std::nullopt;
  return Describe(ledger_.state_, value.pool, *range);
}

std::string LedgerView::RangeOf(const PoolValue& value) const {
  base::MutexLock lock(ledger_.mutex_);
  const PoolRange* range = ledger_.state_.pools[value.pool].values.Find(value.value);
  return range == nullptr ? std::string() : range->text;
}

std::optional<RangeState> LedgerView::RangeThatWithholds(const PoolValue& value) const {
  base::MutexLock lock(ledger_.mutex_);
  const alloc::Pool& pool = ledger_.state_.pools[value.pool].values;
  const PoolRange* range = pool.Find(value.value);
  if (range == nullptr || pool.Allows(value.value) == alloc::Outcome::kDone) return std::nullopt;
  return Describe(ledger_.state_, value.pool, *range);
}

std::vector<RangeShare> LedgerView::Shares() const {
  base::MutexLock lock(ledger_.mutex_);
  std::vector<RangeShare> shares;
  for (const PoolId pool : kAllPools) {
    const alloc::Pool& values = ledger_.state_.pools[pool].values;
    const std::vector<alloc::Pool::Share> counted = values.Shares();
    for (size_t i = 0; i < counted.size(); ++i) {
      shares.push_back({.pool = pool,
                        .text = values.ranges()[i].text,
                        .allocated = counted[i].allocated,
                        .available = counted[i].available});
    }
  }
  return shares;
}

std::vector<ValueForService> LedgerView::ValuesForServices(PoolId pool) const {
  base::MutexLock lock(ledger_.mutex_);
  std::vector<ValueForService> values;
  for (const auto& [value, reserved] : ledger_.state_.reserved.In(pool)) {
    if (ledger_.state_.pools[pool].values.Get(value) != alloc::State::kReserved) continue;
    values.push_back({.value = value, .service = reserved.service});
  }
  return values;
}

size_t LedgerView::HoldersOf(const PoolValue& value) const {
  base::MutexLock lock(ledger_.mutex_);
  return ledger_.state_.pools[value.pool].held.Count(value.value);
}

bool LedgerView::IsHeld(const PoolValue& value) const {
  base::MutexLock lock(ledger_.mutex_);
  return ledger_.state_.pools[value.pool].values.IsHeld(value.value);
}

uint64_t LedgerView::Changes() const {
  base::MutexLock lock(ledger_.mutex_);
  uint64_t changes = ledger_.state_.earlier_changes;
  for (const LedgerPool& pool : ledger_.state_.pools) changes += pool.values.Changes();
  return changes;
}

alloc::RangeTable LedgerView::StoredTable() const {
  base::MutexLock lock(ledger_.mutex_);
  return ledger_.state_.ranges.StoredTable();
}

uint64_t LedgerView::TablesMade() const {
  base::MutexLock lock(ledger_.mutex_);
  return ledger_.state_.ranges.TablesMade();
}

}  // namespace berth::allocation
