// What blocks a range from becoming smaller or being deleted: values in use that no range would
// cover any more. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "alloc/range_table.h"
#include "allocation/records.h"
#include "base/error.h"
#include "state/snapshot.h"

namespace berth::allocation {

struct Blockers {
  std::vector<std::string> named = {};  // `10.0.0.244 (Service shop/web)`, for the first of them.
  size_t total = 0;
};

/// Whether the addresses of default/kubernetes do not block, because the server deletes that
/// Service and creates it again elsewhere.
enum class SpareKubernetes : uint8_t { kNo, kYes };

/// Returns the records of the snapshot whose values `before` covers and `after` does not. Cooling
/// records do not block.
Blockers FindBlockers(const RecordRows& rows, const state::Snapshot& snapshot, alloc::PoolId pool,
                      const std::vector<alloc::RangeRow>& before,
                      const std::vector<alloc::RangeRow>& after,
                      SpareKubernetes spare = SpareKubernetes::kNo);

/// Returns "10.0.0.244 (Service shop/web), 10.0.0.250 (reserved) and 3 more".
std::string BlockersText(const Blockers& blockers);

}  // namespace berth::allocation
