#include "alloc/overlap_counts.h"

#include <algorithm>

namespace berth::alloc {
namespace {

/// Adds the points inside `part` at which an exclusion of the layout begins or has ended.
void AddCuts(const Layout& layout, const Interval& part, std::vector<U128>& cuts) {
  const std::vector<Interval>& excluded = layout.excluded();
  auto at = std::ranges::lower_bound(excluded, part.first, {}, &Interval::last);
  for (; at != excluded.end() && at->first <= part.last; ++at) {
    if (at->first > part.first) cuts.push_back(at->first);
    if (at->last < part.last) cuts.push_back(at->last + 1);
  }
}

}  // namespace

OverlapCounts::OverlapCounts(std::span<const Layout* const> layouts, const Segments& segments) {
  std::vector<U128> cuts;
  segments.ForEach([&](const Interval& part, std::span<const uint32_t> ids) {
    if (ids.empty() || (ids.size() == 1 && !segments.Overlaps(ids.front()))) return;
    cuts.assign(1, part.first);
    for (const uint32_t id : ids) AddCuts(*layouts[id], part, cuts);
    std::ranges::sort(cuts);
    const auto repeated = std::ranges::unique(cuts);
    cuts.erase(repeated.begin(), repeated.end());
    for (size_t i = 0; i < cuts.size(); ++i) {
      const U128 last = i + 1 < cuts.size() ? cuts[i + 1] - 1 : part.last;
      cells_.push_back({.values = {.first = cuts[i], .last = last}});
    }
  });
}

void OverlapCounts::Change(U128 value, State from, State to) {
  const auto cell = std::ranges::lower_bound(cells_, value, {},
                                             [](const Cell& each) { return each.values.last; });
  if (cell == cells_.end() || !cell->values.Contains(value)) return;
  if (from == State::kTaken) --cell->taken;
  if (from == State::kReserved) --cell->reserved;
  if (to == State::kTaken) ++cell->taken;
  if (to == State::kReserved) ++cell->reserved;
}

}  // namespace berth::alloc
