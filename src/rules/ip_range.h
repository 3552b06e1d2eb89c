// IPRanges of allocation.berth.io: addresses from which Services get their cluster IPs. Rules that
// depend on other objects (which range is primary, which addresses Services have) are not here.
// Pure.
#pragma once

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

FieldErrors ValidateIpRangeCreate(const codec::Value& range);
/// Allows any other range of the same IP family.
FieldErrors ValidateIpRangeUpdate(const codec::Value& range, const codec::Value& old);

}  // namespace berth::rules
