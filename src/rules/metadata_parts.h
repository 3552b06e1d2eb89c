// Parts that the metadata rules for create and for update share. Internal.
#pragma once

#include "codec/value.h"
#include "rules/field_error.h"
#include "rules/metadata.h"

namespace berth::rules {

/// Checks labels, annotations and owner references.
FieldErrors ValidateMetadataMaps(const codec::Value& object);
FieldErrors ValidateManagedEntries(const codec::Value& object);
void RequireKnownFinalizers(FieldErrors& errors, const codec::Value& object, FinalizerRule rule);

}  // namespace berth::rules
