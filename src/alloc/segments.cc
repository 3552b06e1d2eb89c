#include "alloc/segments.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace berth::alloc {
namespace {

/// The start of an interval, or its end.
struct Event {
  U128 at = 0;
  bool begins = false;
  uint32_t rank = 0;  ///< Rank among all intervals by size, the smallest first.
};

/// Returns the positions of the intervals that have values, the smallest interval first.
std::vector<uint32_t> BySize(std::span<const std::optional<Interval>> intervals) {
  std::vector<uint32_t> ids;
  for (uint32_t i = 0; i < intervals.size(); ++i) {
    if (intervals[i]) ids.push_back(i);
  }
  std::stable_sort(ids.begin(), ids.end(), [&](uint32_t a, uint32_t b) {
    return intervals[a]->last - intervals[a]->first < intervals[b]->last - intervals[b]->first;
  });
  return ids;
}

}  // namespace

Segments::Segments(std::span<const std::optional<Interval>> intervals)
    : overlaps_(intervals.size(), false) {
  const std::vector<uint32_t> by_size = BySize(intervals);
  std::vector<Event> events;
  events.reserve(by_size.size() * 2);
  for (uint32_t rank = 0; rank < by_size.size(); ++rank) {
    const Interval& interval = *intervals[by_size[rank]];
    events.push_back({.at = interval.first, .begins = true, .rank = rank});
    if (interval.last != base::kU128Max) {
      events.push_back({.at = interval.last + 1, .begins = false, .rank = rank});
    }
  }
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.at < b.at; });
  std::vector<uint32_t> active;  // Ranks, ascending.
  for (size_t i = 0; i < events.size();) {
    const U128 at = events[i].at;
    for (; i < events.size() && events[i].at == at; ++i) {
      const auto place = std::lower_bound(active.begin(), active.end(), events[i].rank);
      if (events[i].begins) {
        active.insert(place, events[i].rank);
      } else {
        active.erase(place);
      }
    }
    cuts_.push_back({.at = at,
                     .ids_begin = static_cast<uint32_t>(ids_.size()),
                     .ids_size = static_cast<uint32_t>(active.size())});
    for (const uint32_t rank : active) {
      ids_.push_back(by_size[rank]);
      if (active.size() > 1) overlaps_[by_size[rank]] = true;
    }
  }
}

std::span<const uint32_t> Segments::Of(U128 value) const {
  const auto behind = std::upper_bound(cuts_.begin(), cuts_.end(), value,
                                       [](U128 at, const Cut& cut) { return at < cut.at; });
  if (behind == cuts_.begin()) return {};
  return IdsOf(*std::prev(behind));
}

}  // namespace berth::alloc
