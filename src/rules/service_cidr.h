// ServiceCIDRs of networking.k8s.io: the ranges from which Services get their addresses. Each one
// has from creation the finalizer that Kubernetes' controllers add later. The finalizer is removed
// when nothing depends on the ServiceCIDR any more. A condition says whether it can serve; without
// that condition it can. Pure.
#pragma once

#include "base/clock.h"
#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

/// Prepares a create: removes the status, which the client does not control.
void PrepareServiceCidrCreate(codec::Value& cidr);
void PrepareServiceCidrUpdate(codec::Value& cidr, const codec::Value& old);
/// Keeps everything but the status and managedFields.
void PrepareServiceCidrStatusUpdate(codec::Value& cidr, const codec::Value& old);

bool HasCidrFinalizer(const codec::Value& cidr);
void RemoveCidrFinalizer(codec::Value& cidr);

/// Return whether the condition exists, and whether it is correct. SetCidrCondition sets the
/// correct condition.
bool HasCidrCondition(const codec::Value& cidr);
bool IsCidrConditionRight(const codec::Value& cidr);
void SetCidrCondition(codec::Value& cidr, base::WallTime now);

/// Sets the condition of a ServiceCIDR that is being deleted while something depends on it.
void SetCidrTerminating(codec::Value& cidr, base::WallTime now);
/// Returns whether the condition says that.
bool IsCidrTerminating(const codec::Value& cidr);

FieldErrors ValidateServiceCidrCreate(const codec::Value& cidr);
/// Requires that it keeps its CIDRs. A ServiceCIDR of a single family may get the other family.
FieldErrors ValidateServiceCidrUpdate(const codec::Value& cidr, const codec::Value& old);
FieldErrors ValidateServiceCidrStatusUpdate(const codec::Value& cidr, const codec::Value& old);

}  // namespace berth::rules
