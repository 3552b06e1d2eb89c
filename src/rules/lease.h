// Leases of coordination.k8s.io: durations, transitions, the election strategy. Leases have no
// defaults. Pure.
#pragma once

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

FieldErrors ValidateLeaseCreate(const codec::Value& lease);
FieldErrors ValidateLeaseUpdate(const codec::Value& lease, const codec::Value& old);

}  // namespace berth::rules
