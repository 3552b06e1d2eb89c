// IPRanges of allocation.berth.io: addresses from which Services get their cluster IPs. What
// depends on other objects (who is primary, what Services have) is not decided here. Pure.
#pragma once

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

FieldErrors ValidateIpRangeCreate(const codec::Value& range);
/// The range may become any other one of the same IP family.
FieldErrors ValidateIpRangeUpdate(const codec::Value& range, const codec::Value& old);

}  // namespace berth::rules
