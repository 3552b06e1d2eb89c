// The fence of a pool: a small object that every change of the pool's ranges puts and that every
// write which takes a value of the pool compares. So no value is taken from ranges that have
// changed meanwhile. While a range is closing (see range_change.h) the fence says what the range
// will be. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alloc/range_table.h"
#include "allocation/records.h"
#include "base/clock.h"
#include "codec/value.h"
#include "commit/write.h"
#include "registry/kind_rows.h"
#include "state/snapshot.h"

namespace berth::allocation {

/// Returns the key of a pool's fence.
std::string FenceKey(alloc::PoolId pool);
/// Returns the pool of a fence, or nullopt if the name is not that of a pool's fence.
std::optional<alloc::PoolId> PoolOfFence(std::string_view name);

/// What a closed fence says. `objects` has each range object that is to change, by its key: its
/// future state (JSON in the stored form), or nullopt if it is to be deleted.
struct ClosedFence {
  std::string operation = {};
  base::WallTime since = {};
  std::map<std::string, std::optional<std::string>, std::less<>> objects = {};
};

/// Returns nullopt if the fence is open.
std::optional<ClosedFence> ReadFence(const registry::Row& fences, const state::Object& fence);

/// Returns what a fence says to the ledger: its pool, and what is closing, if anything is. Returns
/// nullopt if the object is not a pool's fence.
std::optional<std::pair<alloc::PoolId, std::optional<alloc::Closing>>> ReadClosing(
    const RecordRows& rows, const registry::Gates& gates, const state::Object& object);

/// Returns the put of a fence, which is part of the change that closes or opens it. `closed` is
/// null for an open fence.
commit::ExtraPut FencePut(const registry::Row& fences, alloc::PoolId pool,
                          const ClosedFence* closed, base::WallTime now);
codec::Value FenceObject(alloc::PoolId pool, const ClosedFence* closed, base::WallTime now);

}  // namespace berth::allocation
