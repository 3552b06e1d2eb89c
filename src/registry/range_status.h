// The status of an IPRange or a NodePortRange, from the allocator's counters. Pure.
#pragma once

#include "base/clock.h"
#include "codec/value.h"
#include "commit/allocations.h"

namespace berth::registry {

/// `range` is the object as it is: conditions that stay as they are keep their times.
codec::Value RangeStatusOf(const codec::Value& range, const commit::Allocations::RangeState& state,
                           base::WallTime now);

}  // namespace berth::registry
