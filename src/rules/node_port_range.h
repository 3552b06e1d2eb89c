// NodePortRanges of allocation.berth.io: ports from which Services get their node ports. What
// depends on other objects (which ports Services have) is not decided here. Pure.
#pragma once

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

FieldErrors ValidateNodePortRangeCreate(const codec::Value& range);
FieldErrors ValidateNodePortRangeUpdate(const codec::Value& range, const codec::Value& old);

}  // namespace berth::rules
