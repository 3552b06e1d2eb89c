#include "alloc/exclusions.h"

#include <algorithm>
#include <cstddef>

namespace berth::alloc {
namespace {

/// Returns how many parts satisfy the condition. Parts are ascending, and those that satisfy it
/// come first.
template <typename Condition>
size_t CountLeading(const std::vector<Interval>& parts, const Condition& condition) {
  const auto end = std::partition_point(parts.begin(), parts.end(), condition);
  return static_cast<size_t>(end - parts.begin());
}

}  // namespace

Exclusions Exclusions::Of(const std::vector<Interval>& excluded, const Interval& band) {
  Exclusions result;
  for (const Interval& each : excluded) {
    const auto part = Intersection(each, band);
    if (!part) continue;
    result.excluded_before_.push_back(result.Total());
    result.parts_.push_back({part->first - band.first, part->last - band.first});
  }
  return result;
}

bool Exclusions::Search(U128 offset) const {
  const size_t below = CountLeading(parts_, [&](const auto& part) { return part.first <= offset; });
  return below > 0 && parts_[below - 1].Contains(offset);
}

U128 Exclusions::SearchRank(U128 offset) const {
  const size_t below = CountLeading(parts_, [&](const auto& part) { return part.first < offset; });
  if (below == 0) return offset;
  const Interval& part = parts_[below - 1];
  const U128 inside = std::min(part.last, offset - 1) - part.first + 1;
  return offset - excluded_before_[below - 1] - inside;
}

U128 Exclusions::SearchOffset(U128 rank) const {
  // Part i has `first - excluded_before` allowed offsets below it. The answer lies above every part
  // for which that number is at most the rank.
  const size_t below = CountLeading(parts_, [&](const auto& part) {
    return part.first - excluded_before_[static_cast<size_t>(&part - parts_.data())] <= rank;
  });
  if (below == 0) return rank;
  return rank + excluded_before_[below - 1] + parts_[below - 1].Size();
}

}  // namespace berth::alloc
