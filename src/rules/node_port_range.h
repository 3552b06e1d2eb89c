// NodePortRanges of allocation.berth.io: ports from which Services get their node ports. Rules that
// depend on other objects (which ports Services have) are not here. Pure.
#pragma once

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

FieldErrors ValidateNodePortRangeCreate(const codec::Value& range);
FieldErrors ValidateNodePortRangeUpdate(const codec::Value& range, const codec::Value& old);

}  // namespace berth::rules
