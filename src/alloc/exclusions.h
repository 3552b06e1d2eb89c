// The excluded parts of one band, as offsets into the band, and a numbering of the other offsets:
// the k-th offset that is not excluded has rank k. Immutable. A lookup costs the logarithm of the
// number of parts, and nothing if there are no parts.
#pragma once

#include <vector>

#include "alloc/layout.h"
#include "base/uint128.h"

namespace berth::alloc {

class Exclusions {
 public:
  /// Returns the part of `excluded` (sorted and disjoint, as in Layout) that lies in `band`.
  static Exclusions Of(const std::vector<Interval>& excluded, const Interval& band);

  bool Contains(U128 offset) const { return !parts_.empty() && Search(offset); }

  /// Returns how many offsets are excluded.
  U128 Total() const { return parts_.empty() ? 0 : excluded_before_.back() + parts_.back().Size(); }

  /// Returns how many offsets below `offset` are not excluded.
  U128 Rank(U128 offset) const { return parts_.empty() ? offset : SearchRank(offset); }

  /// Returns the offset that has this rank.
  U128 Unrank(U128 rank) const { return parts_.empty() ? rank : SearchOffset(rank); }

  const std::vector<Interval>& parts() const { return parts_; }

 private:
  bool Search(U128 offset) const;
  U128 SearchRank(U128 offset) const;
  U128 SearchOffset(U128 rank) const;

  std::vector<Interval> parts_;
  std::vector<U128> excluded_before_;  ///< Offsets excluded before the part at the same position.
};

}  // namespace berth::alloc
