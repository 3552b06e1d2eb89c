// Namespaces: what is filled in, what a write through each door may change, what is refused. Pure.
#pragma once

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

/// On every decode: the label with the name (once there is a name) and `status.phase`.
void DefaultNamespace(codec::Value& object);

/// Create: the finalizer `kubernetes`, a fresh status.
void PrepareNamespaceCreate(codec::Value& object);

/// What each door may change: the main one neither finalizers nor status, `status` not the spec,
/// `finalize` not the status. Each also sets the label with the name.
void PrepareNamespaceUpdate(codec::Value& object, const codec::Value& old);
void PrepareNamespaceStatusUpdate(codec::Value& object, const codec::Value& old);
void PrepareNamespaceFinalize(codec::Value& object, const codec::Value& old);

FieldErrors ValidateNamespaceCreate(const codec::Value& object);
FieldErrors ValidateNamespaceUpdate(const codec::Value& object, const codec::Value& old);
FieldErrors ValidateNamespaceStatusUpdate(const codec::Value& object, const codec::Value& old);
FieldErrors ValidateNamespaceFinalize(const codec::Value& object, const codec::Value& old);

}  // namespace berth::rules
