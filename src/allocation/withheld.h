// Reservations that cannot be redeemed. Every range that has the value is disabled or excludes it,
// so no Service can take it. The client that creates such a reservation, or changes a range so that
// one results, gets a warning.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alloc/range_table.h"
#include "allocation/ledger/ledger.h"
#include "allocation/ledger/ledger_view.h"

namespace berth::allocation {

/// Returns the warning for a client that reserves the value for a Service, or nullopt if that
/// Service can take it.
std::optional<std::string> WithheldAdvice(const Ledger& ledger, const PoolValue& value);

/// Returns the same for a client that changes ranges. `before` has the rows that change, and
/// `after` has all rows after the change.
std::optional<std::string> WithheldAdvice(alloc::PoolId pool,
                                          const std::vector<ValueForService>& kept,
                                          const std::vector<alloc::RangeRow>& before,
                                          const std::vector<alloc::RangeRow>& after);

}  // namespace berth::allocation
