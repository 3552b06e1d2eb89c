// Finds free values near a given one. The time that it takes depends on the values in use between
// the two, not on the size of the range. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "alloc/layout.h"
#include "base/uint128.h"
#include "inspect/census.h"

namespace berth::inspect {

/// Returns up to `most` free values of `part`, which must lie in the range's span. Those nearest to
/// `value` are chosen, and the nearest one comes first.
std::vector<base::U128> FreeNear(const Census& census, const RangeRef& range,
                                 const alloc::Interval& part, base::U128 value, size_t most);

}  // namespace berth::inspect
