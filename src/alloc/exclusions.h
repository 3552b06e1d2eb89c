// The excluded parts of one band, as offsets into it. Immutable; lookups cost the logarithm of the
// number of parts, and nothing when there are none.
#pragma once

#include <vector>

#include "alloc/layout.h"
#include "base/uint128.h"

namespace berth::alloc {

class Exclusions {
 public:
  /// The part of `excluded` (sorted and disjoint, as in Layout) that lies in `band`.
  static Exclusions Of(const std::vector<Interval>& excluded, const Interval& band);

  bool empty() const { return parts_.empty(); }
  bool Contains(U128 offset) const { return Find(offset) != nullptr; }

  /// The excluded part that holds `offset`, if any.
  const Interval* Find(U128 offset) const;

  /// How many offsets are excluded.
  U128 Total() const { return parts_.empty() ? 0 : excluded_before_.back() + parts_.back().Size(); }

  /// The k-th offset, from 0, that is not excluded.
  U128 Unrank(U128 k) const;

  const std::vector<Interval>& parts() const { return parts_; }

 private:
  std::vector<Interval> parts_;
  std::vector<U128> excluded_before_;  ///< offsets excluded before the part of the same index
};

}  // namespace berth::alloc
