// The annotation in which kubectl, when it applies from its own side, keeps what it applied. For
// use inside merge.
#pragma once

#include "api/kinds.h"
#include "codec/value.h"
#include "merge/field_set.h"

namespace berth::merge {

/// The fields that the annotation of `live` names and that still are what it says. `document` is
/// `live` as a document. None if there is no annotation that makes sense for this kind.
FieldSet FieldsLastApplied(const codec::Value& document, const codec::Value& live,
                           const api::Kind& kind);

/// If `object` has the annotation it becomes `config`, what has just been applied; or goes, when
/// that is too much for annotations.
void UpdateLastApplied(codec::Value& object, const codec::Value& config);

}  // namespace berth::merge
