// The fence of a pool: a small object that every change of the pool's ranges puts and that every
// write which takes a value from them compares. So no value is taken on the strength of ranges that
// are no longer so. While a range is closing (see range_changes.h) its fence says what it shall be.
// Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alloc/range_table.h"
#include "base/clock.h"
#include "codec/value.h"
#include "commit/write.h"
#include "registry/kinds.h"
#include "registry/records.h"
#include "state/snapshot.h"

namespace berth::registry {

/// The key of a pool's fence.
std::string FenceKey(alloc::PoolId pool);
/// Which pool's it is; nothing: it is no fence of a pool.
std::optional<alloc::PoolId> PoolOfFence(std::string_view name);

/// What a fence says while it is closed: each range object that is to change, by its key, as it
/// shall be (JSON in the stored form); nothing: it shall be gone.
struct ClosedFence {
  std::string operation = {};
  base::WallTime since = {};
  std::map<std::string, std::optional<std::string>, std::less<>> objects = {};
};

/// Nothing: it is open.
std::optional<ClosedFence> ReadFence(const Row& fences, const state::Object& fence);

/// What a fence says to the allocator: whose it is, and what is closing. Nothing: it is none.
std::optional<std::pair<alloc::PoolId, std::optional<alloc::Closing>>> ReadClosing(
    const RecordRows& rows, const Gates& gates, const state::Object& object);

/// To be put, for as many as change at once. Null: open.
commit::ExtraPut FencePut(const Row& fences, alloc::PoolId pool, const ClosedFence* closed,
                          base::WallTime now);
codec::Value FenceObject(alloc::PoolId pool, const ClosedFence* closed, base::WallTime now);

}  // namespace berth::registry
