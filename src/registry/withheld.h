// Reservations that cannot be redeemed: of the ranges that have the value none gives it out, since
// each is disabled or excludes it. Who makes such a one, or makes one so, should hear of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alloc/range_table.h"
#include "commit/allocations.h"

namespace berth::registry {

/// The text of a Warning for who reserves the value for a Service; nothing: that can take it.
std::optional<std::string> WithheldAdvice(const commit::Allocations& allocations,
                                          const commit::PoolValue& value);

/// The same for who changes ranges: `before` are rows that change, `after` is all that there will
/// be.
std::optional<std::string> WithheldAdvice(alloc::PoolId pool,
                                          const std::vector<commit::Allocations::KeptValue>& kept,
                                          const std::vector<alloc::RangeRow>& before,
                                          const std::vector<alloc::RangeRow>& after);

}  // namespace berth::registry
