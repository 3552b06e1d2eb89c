// The annotation in which kubectl stores what it applied with client-side
// apply. For use inside merge.
#pragma once

#include "api/kinds.h"
#include "codec/value.h"
#include "merge/field_set.h"

namespace berth::merge {

/// Returns the fields that the annotation of `live` names and that still have the values in
/// it. `document` is `live` as a document. The set is empty if there is no valid annotation
/// for this kind.
FieldSet FieldsLastApplied(const codec::Value& document, const codec::Value& live,
                           const api::Kind& kind);

/// If `object` has the annotation, replaces it by `config`, the configuration just applied, or
/// deletes it if the annotations would become too large.
void UpdateLastApplied(codec::Value& object, const codec::Value& config);

}  // namespace berth::merge
