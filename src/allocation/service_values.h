// The values that stored Services hold, as the ledger and the switch of forms need them. What a
// Service holds is decided in rules/service_claims.h. Pure.
#pragma once

#include <vector>

#include "allocation/claims/claims.h"
#include "allocation/ledger/record_reader.h"
#include "registry/kind_rows.h"
#include "rules/service_claims.h"
#include "state/change.h"
#include "state/object.h"

namespace berth::allocation {

/// Returns addresses first, then ports.
std::vector<PoolValue> ValuesOf(const rules::Holdings& holdings);

/// Returns the values that a Service of the snapshot holds. This takes less than a microsecond,
/// because the object is not decoded unless its text is unusual.
std::vector<PoolValue> ValuesIn(const registry::Row& services, const state::Object& service);

/// Appends the values that a Service begins or ceases to hold with a change. A change of its
/// metadata alone costs a comparison.
void ReadHoldings(const registry::Row& services, const state::Change& change,
                  std::vector<HoldingChange>& changes);

}  // namespace berth::allocation
