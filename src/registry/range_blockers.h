// What stands in the way of a range that shall be smaller or go: values that somebody has and that
// no range would cover any more. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "alloc/range_table.h"
#include "base/error.h"
#include "registry/records.h"
#include "state/snapshot.h"

namespace berth::registry {

struct Blockers {
  std::vector<std::string> named = {};  // `10.0.0.244 (Service shop/web)`, the first of them.
  size_t total = 0;
};

/// Records of the picture whose values `before` covers and `after` does not. Those that cool down
/// stand in nobody's way.
Blockers FindBlockers(const RecordRows& rows, const state::Snapshot& picture, alloc::PoolId pool,
                      const std::vector<alloc::RangeRow>& before,
                      const std::vector<alloc::RangeRow>& after);

/// "10.0.0.244 (Service shop/web), 10.0.0.250 (reserved) and 3 more".
std::string BlockersText(const Blockers& blockers);

}  // namespace berth::registry
