// What a range object says to an allocator: its values, its static band, its excluded values, and
// whether new values are taken from it. Pure.
#pragma once

#include "alloc/range_table.h"
#include "codec/value.h"

namespace berth::rules {

/// Whether ranges have static bands. With a gate off, the whole range is one band.
struct BandGates {
  bool addresses = true;
  bool ports = true;
};

/// Returns the facts of an IPRange, a NodePortRange or a ServiceCIDR in the stored form. A part
/// that cannot be read is left out.
alloc::RangeFacts RangeFactsOf(alloc::RangeKind kind, const codec::Value& object,
                               const BandGates& gates = {});

}  // namespace berth::rules
