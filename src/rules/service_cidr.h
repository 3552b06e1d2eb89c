// ServiceCIDRs of networking.k8s.io: the ranges from which Services get their addresses. Each has
// from the first moment what Kubernetes' controllers give it later: a finalizer, which goes when
// nothing depends on it any more. A condition says whether it can serve; until there is one, it
// can. Pure.
#pragma once

#include "base/clock.h"
#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

/// Create: without status, which is not the client's.
void PrepareServiceCidrCreate(codec::Value& cidr);
void PrepareServiceCidrUpdate(codec::Value& cidr, const codec::Value& old);
/// Only the status changes, and managedFields with it.
void PrepareServiceCidrStatusUpdate(codec::Value& cidr, const codec::Value& old);

bool HasCidrFinalizer(const codec::Value& cidr);
void RemoveCidrFinalizer(codec::Value& cidr);

/// Whether it says if it can serve, and what is true; and has it say that.
bool HasCidrCondition(const codec::Value& cidr);
bool IsCidrConditionRight(const codec::Value& cidr);
void SetCidrCondition(codec::Value& cidr, base::WallTime now);

/// It is being deleted, and something depends on it.
void SetCidrTerminating(codec::Value& cidr, base::WallTime now);
/// Whether it says so.
bool IsCidrTerminating(const codec::Value& cidr);

FieldErrors ValidateServiceCidrCreate(const codec::Value& cidr);
/// What it has, it keeps; one of a single family may get the other.
FieldErrors ValidateServiceCidrUpdate(const codec::Value& cidr, const codec::Value& old);
FieldErrors ValidateServiceCidrStatusUpdate(const codec::Value& cidr, const codec::Value& old);

}  // namespace berth::rules
