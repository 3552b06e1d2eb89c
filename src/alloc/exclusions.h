// The excluded parts of one band, as offsets into it, and the numbering of what is left: the k-th
// offset that is not excluded has rank k. Immutable; lookups cost the logarithm of the number of
// parts, and nothing when there are none.
#pragma once

#include <vector>

#include "alloc/layout.h"
#include "base/uint128.h"

namespace berth::alloc {

class Exclusions {
 public:
  /// The part of `excluded` (sorted and disjoint, as in Layout) that lies in `band`.
  static Exclusions Of(const std::vector<Interval>& excluded, const Interval& band);

  bool Contains(U128 offset) const { return !parts_.empty() && Search(offset); }

  /// How many offsets are excluded.
  U128 Total() const { return parts_.empty() ? 0 : excluded_before_.back() + parts_.back().Size(); }

  /// How many offsets below `offset` are not excluded.
  U128 Rank(U128 offset) const { return parts_.empty() ? offset : SearchRank(offset); }

  /// The offset of a rank.
  U128 Unrank(U128 rank) const { return parts_.empty() ? rank : SearchOffset(rank); }

  const std::vector<Interval>& parts() const { return parts_; }

 private:
  bool Search(U128 offset) const;
  U128 SearchRank(U128 offset) const;
  U128 SearchOffset(U128 rank) const;

  std::vector<Interval> parts_;
  std::vector<U128> excluded_before_;  ///< offsets excluded before the part of the same index
};

}  // namespace berth::alloc
