// What a range object says to the allocator: its values, which part of them is the static band,
// what is excluded, and whether anything new is taken from it. Pure.
#pragma once

#include "alloc/range_table.h"
#include "codec/value.h"
#include "registry/kinds.h"
#include "rules/field_error.h"

namespace berth::registry {

/// Of an IPRange, a NodePortRange or a ServiceCIDR, in the stored form. With a gate off the whole
/// range is one band. A part that cannot be read is left out.
alloc::RangeFacts RangeFactsOf(const Row& row, const codec::Value& object, const Gates& gates);

/// What is wrong with `spec.staticBand` of an IPRange or a NodePortRange that is valid otherwise.
rules::FieldErrors ValidateStaticBand(const codec::Value& range);

}  // namespace berth::registry
