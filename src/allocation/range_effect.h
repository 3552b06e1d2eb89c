// What a change of a range object comes to: which other objects change with it, which pools it
// affects, whether it takes values away, and what the ranges are afterwards. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "alloc/pool_id.h"
#include "alloc/range_table.h"
#include "allocation/range_blockers.h"
#include "allocation/range_world.h"
#include "allocation/records.h"
#include "base/error.h"
#include "base/result.h"
#include "state/snapshot.h"

namespace berth::allocation {

struct RangeEffect {
  std::vector<Companion> companions = {};
  std::vector<alloc::PoolId> pools = {};    // Pools whose ranges change.
  std::vector<alloc::PoolId> smaller = {};  // Those of them that lose values.
  alloc::RangeTable after = {};
  /// By pool: what the objects that change cover now, and what all that remains will cover.
  alloc::PerPool<std::vector<alloc::RangeRow>> losing = {};
  alloc::PerPool<std::vector<alloc::RangeRow>> keeping = {};
  /// Each object that changes, by its key: what it will say, or nullopt if it is deleted.
  std::map<std::string, std::optional<std::string>, std::less<>> objects = {};

  bool TakesValuesAway() const { return !smaller.empty(); }
};

/// Returns whether the edit leaves the values of the range and their use unchanged. That is true of
/// each write of the status, which is frequent and need not look at other ranges.
bool IsSameRange(const RangeEdit& edit, const registry::Gates& gates);

/// Returns the effect of the edit, or why the edit is not allowed.
base::Result<RangeEffect> EffectOf(const RangeEdit& edit, const RangeWorld& world,
                                   const RecordRows& rows, const registry::Gates& gates);

/// Returns the error that names the values in use that no range would cover any more: 422, or 409
/// with a cause for each value if the range is being deleted or the first ranges are reset. Returns
/// nullopt if ranges still cover all values in use.
std::optional<base::Error> FindBlocked(const RangeEdit& edit, const RangeEffect& effect,
                                       const RecordRows& rows, const state::Snapshot& snapshot,
                                       SpareKubernetes spare = SpareKubernetes::kNo);

/// Returns the key of a range object.
std::string RangeKey(const registry::Row& row, std::string_view name);

}  // namespace berth::allocation
