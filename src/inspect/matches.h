// Which Services of a cluster match a filter, found once, so that the tiles of a map and the pages
// of a table do not read every name again.
//
// It points into the census and the values in use, which must outlive it. Immutable; safe from any
// thread. Pure.
#pragma once

#include <vector>

#include "inspect/census.h"
#include "inspect/filter.h"
#include "inspect/used_values.h"

namespace berth::inspect {

class Matches {
 public:
  /// Matches nothing.
  Matches() = default;
  /// Takes time in proportion to the number of Services.
  Matches(const Census& census, const UsedValues& used, Filter filter);

  /// Returns whether the filter has no text.
  bool empty() const { return filter_.empty(); }
  const Filter& filter() const { return filter_; }

  /// Returns whether a value matches: by itself, or by who has it or for whom it is kept.
  bool Has(alloc::PoolId pool, const UsedValue& value) const;

 private:
  bool HasService(size_t position) const { return !services_.empty() && services_[position]; }

  const Census* census_ = nullptr;
  const UsedValues* used_ = nullptr;
  Filter filter_;
  std::vector<bool> services_;  // In the order of the cluster; empty if the text means no Service.
};

}  // namespace berth::inspect
