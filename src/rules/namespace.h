// Namespaces: default values, the fields that a write through each endpoint may change, and
// validation. Pure.
#pragma once

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

/// Sets the label with the name (if there is a name) and `status.phase`. Called on every decode.
void DefaultNamespace(codec::Value& object);

/// Sets the finalizer `kubernetes` and a new status, for a create.
void PrepareNamespaceCreate(codec::Value& object);

/// Restore the fields that a write through each endpoint may not change. The main one may change
/// neither finalizers nor status, `status` may not change the spec, and `finalize` may not change
/// the status. Each also sets the label with the name.
void PrepareNamespaceUpdate(codec::Value& object, const codec::Value& old);
void PrepareNamespaceStatusUpdate(codec::Value& object, const codec::Value& old);
void PrepareNamespaceFinalize(codec::Value& object, const codec::Value& old);

FieldErrors ValidateNamespaceCreate(const codec::Value& object);
FieldErrors ValidateNamespaceUpdate(const codec::Value& object, const codec::Value& old);
FieldErrors ValidateNamespaceStatusUpdate(const codec::Value& object, const codec::Value& old);
FieldErrors ValidateNamespaceFinalize(const codec::Value& object, const codec::Value& old);

}  // namespace berth::rules
