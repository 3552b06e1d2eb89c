#include "inspect/census.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace berth::inspect {
namespace {

using alloc::Interval;
using alloc::PoolId;
using alloc::PoolValue;
using alloc::RangeKind;
using alloc::State;

constexpr double kPercent = 100;

double PercentOf(base::U128 part, base::U128 whole) {
  if (whole == 0) return 0;
  return kPercent * static_cast<double>(part) / static_cast<double>(whole);
}

double PercentNotFree(const alloc::StateCounts& counts, base::U128 usable) {
  return PercentOf(usable - counts[State::kFree], usable);
}

/// Returns the part of a vector whose values lie in the interval. `value_of` must ascend.
template <typename T, typename ValueOf>
std::span<const T> Part(const std::vector<T>& all, const Interval& values,
                        const ValueOf& value_of) {
  const auto begin = std::ranges::lower_bound(all, values.first, {}, value_of);
  const auto end = std::ranges::upper_bound(begin, all.end(), values.last, {}, value_of);
  return {begin, end};
}

base::U128 ValueOfRecord(const Record* record) { return record->facts.value.value; }

base::U128 CountIn(const std::vector<Interval>& intervals, const Interval& span) {
  base::U128 count = 0;
  for (const Interval& interval : intervals) {
    if (const auto common = alloc::Intersection(interval, span)) count += common->Size();
  }
  return count;
}

}  // namespace

double BandFigures::PercentUsed() const { return PercentNotFree(counts, Usable()); }

alloc::StateCounts RangeFigures::Counts() const {
  alloc::StateCounts counts = static_band.counts;
  counts += dynamic_band.counts;
  return counts;
}

double RangeFigures::PercentUsed() const { return PercentNotFree(Counts(), Usable()); }

Census::Census(const Cluster& cluster) : cluster_(cluster) {
  alloc::RangeObjects objects;
  std::map<std::pair<RangeKind, std::string>, const Range*> by_name;
  for (const Range& range : cluster.ranges) {
    objects[range.facts.key] = range.facts.range;
    by_name[{range.facts.range.kind, range.facts.object.name}] = &range;
  }
  table_ = alloc::MakeRangeTable(objects, {});
  for (const PoolId pool : alloc::kAllPools) {
    std::vector<std::optional<Interval>> spans;
    for (const alloc::RangeRow& row : table_.rows[pool]) {
      ranges_.push_back({.pool = pool, .row = &row, .range = by_name[{row.kind, row.name}]});
      spans.push_back(row.layout.span());
    }
    segments_[pool] = alloc::Segments(spans);
  }
  for (const Service& service : cluster.services) {
    for (const Held& held : service.holds) {
      uses_[held.value.pool].push_back(
          {.value = held.value.value, .service = &service, .held = &held});
    }
  }
  for (const Record& record : cluster.records) {
    records_[record.facts.value.pool].push_back(&record);
  }
  for (const PoolId pool : alloc::kAllPools) {
    // The Services are ordered by name, so a stable sort keeps that order for each value.
    std::ranges::stable_sort(uses_[pool], {}, &Use::value);
    std::ranges::stable_sort(records_[pool], {}, ValueOfRecord);
  }
}

std::vector<RangeRef> Census::RangesOf(const PoolValue& value) const {
  size_t before = 0;  // The number of ranges of the pools that come before this one.
  for (const PoolId pool : alloc::kAllPools) {
    if (pool == value.pool) break;
    before += table_.rows[pool].size();
  }
  std::vector<RangeRef> found;
  for (const uint32_t position : segments_[value.pool].Of(value.value)) {
    found.push_back(ranges_[before + position]);
  }
  return found;
}

std::span<const Use> Census::UsesIn(PoolId pool, const Interval& values) const {
  return Part(uses_[pool], values, [](const Use& use) { return use.value; });
}

std::span<const Use> Census::UsesOf(const PoolValue& value) const {
  return UsesIn(value.pool, {.first = value.value, .last = value.value});
}

std::span<const Record* const> Census::RecordsIn(PoolId pool, const Interval& values) const {
  return Part(records_[pool], values, ValueOfRecord);
}

const Record* Census::RecordOf(const PoolValue& value) const {
  const auto found = RecordsIn(value.pool, {.first = value.value, .last = value.value});
  return found.empty() ? nullptr : found.front();
}

State StateByRecord(const Record& record) {
  switch (record.facts.state) {
    case rules::RecordState::kAllocated:
      return State::kTaken;  // No client can have it, even if its Service is gone.
    case rules::RecordState::kReserved:
    case rules::RecordState::kPending:
      return State::kReserved;
    case rules::RecordState::kFree:
      return State::kCooling;
  }
  return State::kFree;
}

State Census::StateIn(const alloc::RangeRow& row, const PoolValue& value) const {
  if (!UsesOf(value).empty()) return State::kTaken;
  if (const Record* record = RecordOf(value)) return StateByRecord(*record);
  return row.layout.GivesOut(value.value) ? State::kFree : State::kExcluded;
}

BandFigures Census::CountBand(const RangeRef& range, const std::optional<Interval>& span) const {
  BandFigures figures{.span = span};
  if (!span) return figures;
  const alloc::Layout& layout = range.row->layout;
  base::U128 counted = 0;
  base::U128 counted_excluded = 0;
  const auto count = [&](State state, base::U128 value) {
    figures.counts[state] += 1;
    ++counted;
    if (layout.Excludes(value)) ++counted_excluded;
  };
  const auto uses = UsesIn(range.pool, *span);
  const auto records = RecordsIn(range.pool, *span);
  size_t next_record = 0;
  const auto count_records_below = [&](const Use* use) {
    for (; next_record < records.size(); ++next_record) {
      const base::U128 value = ValueOfRecord(records[next_record]);
      if (use != nullptr && value >= use->value) {
        if (value == use->value) ++next_record;
        return;
      }
      if (next_record > 0 && value == ValueOfRecord(records[next_record - 1])) continue;
      count(StateByRecord(*records[next_record]), value);
    }
  };
  for (size_t i = 0; i < uses.size(); ++i) {
    if (i > 0 && uses[i].value == uses[i - 1].value) continue;
    count_records_below(&uses[i]);
    count(State::kTaken, uses[i].value);
    figures.named += uses[i].held->origin == Origin::kNamed ? 1 : 0;
    figures.drawn += uses[i].held->origin == Origin::kDrawn ? 1 : 0;
  }
  count_records_below(nullptr);
  figures.counts[State::kExcluded] = CountIn(layout.excluded(), *span) - counted_excluded;
  figures.counts[State::kFree] += span->Size() - counted - figures.counts[State::kExcluded];
  return figures;
}

RangeFigures Census::FiguresOf(const RangeRef& range) const {
  const alloc::Layout& layout = range.row->layout;
  return {.static_band = CountBand(range, layout.BandSpan(alloc::Band::kStatic)),
          .dynamic_band = CountBand(range, layout.BandSpan(alloc::Band::kDynamic))};
}

}  // namespace berth::inspect
