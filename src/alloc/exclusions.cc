#include "alloc/exclusions.h"

#include <algorithm>
#include <cstddef>

namespace berth::alloc {

Exclusions Exclusions::Of(const std::vector<Interval>& excluded, const Interval& band) {
  Exclusions result;
  for (const Interval& part : excluded) {
    if (part.last < band.first || part.first > band.last) continue;
    result.excluded_before_.push_back(result.Total());
    result.parts_.push_back({std::max(part.first, band.first) - band.first,
                             std::min(part.last, band.last) - band.first});
  }
  return result;
}

const Interval* Exclusions::Find(U128 offset) const {
  const auto after =
      std::upper_bound(parts_.begin(), parts_.end(), offset,
                       [](U128 value, const Interval& part) { return value < part.first; });
  if (after == parts_.begin() || !std::prev(after)->Contains(offset)) return nullptr;
  return &*std::prev(after);
}

U128 Exclusions::Unrank(U128 k) const {
  // Part i has `first - excluded_before` allowed offsets below it; the answer lies above every part
  // for which that is at most k.
  size_t low = 0;
  size_t high = parts_.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (parts_[middle].first - excluded_before_[middle] <= k) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return k;
  return k + excluded_before_[low - 1] + parts_[low - 1].Size();
}

}  // namespace berth::alloc
