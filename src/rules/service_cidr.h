// ServiceCIDRs of networking.k8s.io: the ranges from which Services get their addresses. No
// defaults. Pure.
#pragma once

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

/// Create: without status, which is not the client's.
void PrepareServiceCidrCreate(codec::Value& cidr);
void PrepareServiceCidrUpdate(codec::Value& cidr, const codec::Value& old);
/// Only the status changes, and managedFields with it.
void PrepareServiceCidrStatusUpdate(codec::Value& cidr, const codec::Value& old);

FieldErrors ValidateServiceCidrCreate(const codec::Value& cidr);
/// What it has, it keeps; one of a single family may get the other.
FieldErrors ValidateServiceCidrUpdate(const codec::Value& cidr, const codec::Value& old);
FieldErrors ValidateServiceCidrStatusUpdate(const codec::Value& cidr, const codec::Value& old);

}  // namespace berth::rules
