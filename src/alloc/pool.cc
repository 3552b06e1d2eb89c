#include "alloc/pool.h"

#include <algorithm>
#include <map>
#include <utility>

namespace berth::alloc {
namespace {

/// Reusable indexes, by the first and last value of their range.
using OldIndexes = std::multimap<std::pair<U128, U128>, Index*>;

std::pair<U128, U128> EndsOf(const Layout& layout) {
  const Interval span = layout.span().value_or(Interval{1, 0});
  return {span.first, span.last};
}

std::optional<Index> TakeSame(OldIndexes& old, const Layout& layout) {
  const auto [begin, end] = old.equal_range(EndsOf(layout));
  for (auto at = begin; at != end; ++at) {
    if (at->second->layout() != layout) continue;
    std::optional<Index> same = std::move(*at->second);
    old.erase(at);
    return same;
  }
  return std::nullopt;
}

}  // namespace

// Ranges.

void Pool::SetRanges(std::vector<RangeRow> rows) {
  ++changes_;
  OldIndexes old;
  for (Range& range : ranges_) old.emplace(EndsOf(range.index.layout()), &range.index);
  std::vector<std::optional<Index>> indexes(rows.size());
  std::vector<std::optional<Interval>> new_spans(rows.size());
  bool any_new = false;
  for (size_t i = 0; i < rows.size(); ++i) {
    indexes[i] = TakeSame(old, rows[i].layout);
    if (indexes[i]) continue;
    new_spans[i] = rows[i].layout.span();
    any_new = true;
  }
  if (any_new) FillNew(std::move(new_spans), rows, indexes);
  ranges_.clear();
  ranges_.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    RangeRow& row = rows[i];
    ranges_.push_back({.name = std::move(row.name),
                       .text = std::move(row.text),
                       .priority = row.priority,
                       .open = row.open,
                       .leaving = row.leaving,
                       .makes_way = row.makes_way,
                       .cool_down = row.cool_down,
                       .kind = row.kind,
                       .overlaps = false,
                       .index = *std::move(indexes[i])});
  }
  Arrange();
  // Without a new layout the cells are still fine enough, whichever ranges have left.
  if (any_new) CountOverlaps();
}

/// Builds the indexes of new rows. `spans` has a value only for new rows.
void Pool::FillNew(std::vector<std::optional<Interval>> spans, std::vector<RangeRow>& rows,
                   std::vector<std::optional<Index>>& indexes) const {
  const Segments segments(spans);
  std::vector<Held> held(rows.size());
  const auto collect = [&](const ValueSet& values, std::vector<U128> Held::* list) {
    values.ForEach([&](U128 value) {
      for (const uint32_t place : segments.Of(value)) (held[place].*list).push_back(value);
    });
  };
  collect(taken_, &Held::taken);
  collect(reserved_, &Held::reserved);
  collect(cooling_, &Held::cooling);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!indexes[i]) indexes[i] = IndexOf(std::move(rows[i].layout), held[i]);
  }
}

Index Pool::IndexOf(Layout layout, const Held& held) {
  Index index = Index::Of(std::move(layout), held.taken);
  for (const U128 value : held.reserved) index.Put(value, State::kReserved);
  for (const U128 value : held.cooling) index.Put(value, State::kCooling);
  return index;
}

Pool::Held Pool::HeldIn(const Interval& interval) const {
  Held held;
  const auto collect = [&interval](const ValueSet& values, std::vector<U128>& list) {
    list.reserve(static_cast<size_t>(std::min<U128>(values.Size(), interval.Size())));
    values.ForEach([&](U128 value) {
      if (interval.Contains(value)) list.push_back(value);
    });
  };
  collect(taken_, held.taken);
  collect(reserved_, held.reserved);
  collect(cooling_, held.cooling);
  return held;
}

/// Rebuilds the lookups by position: segments, pick order and names.
void Pool::Arrange() {
  std::vector<std::optional<Interval>> spans;
  std::vector<PickOrder::Range> picks;
  names_.clear();
  for (uint32_t i = 0; i < ranges_.size(); ++i) {
    const Range& range = ranges_[i];
    spans.push_back(range.index.layout().span());
    picks.push_back({.priority = range.priority, .free = Pickable(range)});
    names_.emplace(range.name, i);
  }
  segments_ = Segments(spans);
  order_ = PickOrder(std::move(picks));
  for (uint32_t i = 0; i < ranges_.size(); ++i) ranges_[i].overlaps = segments_.Overlaps(i);
}

/// Counts again what is held where ranges overlap.
void Pool::CountOverlaps() {
  std::vector<const Layout*> layouts;
  layouts.reserve(ranges_.size());
  for (const Range& range : ranges_) layouts.push_back(&range.index.layout());
  overlaps_ = OverlapCounts(layouts, segments_);
  if (overlaps_.cells().empty()) return;
  taken_.ForEach([this](U128 value) { overlaps_.Change(value, State::kFree, State::kTaken); });
  reserved_.ForEach(
      [this](U128 value) { overlaps_.Change(value, State::kFree, State::kReserved); });
}

std::vector<Pool::Share> Pool::Shares() const {
  std::vector<Share> shares(ranges_.size());
  for (size_t i = 0; i < ranges_.size(); ++i) {
    if (ranges_[i].overlaps) continue;
    const StateCounts counts = ranges_[i].index.Counts();
    shares[i].allocated = counts[State::kTaken] + counts[State::kReserved];
    if (ranges_[i].open) shares[i].available = counts[State::kFree] + counts[State::kCooling];
  }
  for (const OverlapCounts::Cell& cell : overlaps_.cells()) {
    const U128 first = cell.values.first;
    const auto places = segments_.Of(first);
    if (places.empty() || !ranges_[places.front()].overlaps) continue;
    const bool excluded = ranges_[places.front()].index.layout().Excludes(first);
    shares[places.front()].allocated += cell.taken + (excluded ? 0 : cell.reserved);
    const auto giving = std::ranges::find_if(places, [&](uint32_t place) {
      return ranges_[place].open && !ranges_[place].index.layout().Excludes(first);
    });
    if (giving == places.end()) continue;
    shares[*giving].available += cell.values.Size() - cell.taken - cell.reserved;
  }
  return shares;
}

uint64_t Pool::Pickable(const Range& range) const {
  if (!range.open) return 0;
  return static_cast<uint64_t>(std::min<U128>(range.index.Pickable(), UINT64_MAX));
}

const Pool::Range* Pool::Find(U128 value) const {
  const auto places = segments_.Of(value);
  return places.empty() ? nullptr : &ranges_[places.front()];
}

const Pool::Range* Pool::Named(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : &ranges_[found->second];
}

const Pool::Range* Pool::WithLayout(const Layout& layout) const {
  const auto same = [&layout](const Range& range) { return range.index.layout() == layout; };
  const auto found = std::ranges::find_if(ranges_, same);
  return found == ranges_.end() ? nullptr : &*found;
}

// Values.

State Pool::Get(U128 value) const {
  if (taken_.Contains(value)) return State::kTaken;
  if (reserved_.Contains(value)) return State::kReserved;
  if (cooling_.Contains(value)) return State::kCooling;
  return State::kFree;
}

ValueSet& Pool::SetOf(State state) {
  if (state == State::kTaken) return taken_;
  return state == State::kReserved ? reserved_ : cooling_;
}

bool Pool::Put(U128 value, State state) {
  const State before = Get(value);
  if (before == state) return false;
  Change(value, before, state);
  return true;
}

void Pool::Change(U128 value, State from, State to) {
  ++changes_;
  if (from != State::kFree) SetOf(from).Erase(value);
  if (to != State::kFree) SetOf(to).Insert(value);
  overlaps_.Change(value, from, to);
  for (const uint32_t place : segments_.Of(value)) {
    Range& range = ranges_[place];
    range.index.Put(value, to);
    order_.SetFree(place, Pickable(range));
  }
}

Outcome Pool::Allows(U128 value) const {
  const auto places = segments_.Of(value);
  if (places.empty()) return Outcome::kOutOfRange;
  Outcome outcome = Outcome::kNotOpen;
  for (const uint32_t place : places) {
    const Range& range = ranges_[place];
    if (!range.open) continue;
    if (range.index.Get(value) != State::kExcluded) return Outcome::kDone;
    outcome = Outcome::kExcluded;
  }
  return outcome;
}

Outcome Pool::Take(U128 value, bool reserved_too) {
  const Outcome allowed = Allows(value);
  if (allowed == Outcome::kOutOfRange) return allowed;
  const State state = Get(value);
  if (state == State::kTaken) return Outcome::kTaken;
  if (state == State::kReserved && !reserved_too) return Outcome::kReserved;
  if (allowed == Outcome::kDone) Change(value, state, State::kTaken);
  return allowed;
}

std::optional<U128> Pool::TakeAny(base::Random& random) {
  const std::optional<uint32_t> place = order_.First();
  if (!place) return std::nullopt;
  return PickFrom(*place, random);
}

std::optional<U128> Pool::TakeAny(base::Random& random, const Range& range) {
  const uint32_t place = PlaceOf(range);
  if (order_.Free(place) == 0) return std::nullopt;
  return PickFrom(place, random);
}

std::optional<U128> Pool::PickFrom(uint32_t place, base::Random& random) {
  const std::optional<U128> value = ranges_[place].index.Pick(random);
  if (value) Change(*value, State::kFree, State::kTaken);
  return value;
}

}  // namespace berth::alloc
