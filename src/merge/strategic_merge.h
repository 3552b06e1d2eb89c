// Strategic merge patch: maps are merged as in a merge patch, lists as the tables of the kind say
// (Field::patch_strategy, Field::patch_merge_key), and directives say what else there is to do:
//
//   "$patch": "delete" | "replace"             in a map, or as an element of a list
//   "$retainKeys": [...]                       members that are not listed go
//   "$setElementOrder/<list>": [...]           the order of a list, by merge key or value
//   "$deleteFromPrimitiveList/<list>": [...]   values to take out
//
// As upstream does it, errors included: "$patch": "merge" is known by name only and refused; a
// field that the object does not have is taken from the patch as it stands, without the elements
// and maps that have a "$patch". Two things upstream gets wrong are refused instead: a delete list
// of maps, which it would merge, and one that is null, which would empty the list.
#pragma once

#include "api/schema.h"
#include "base/result.h"
#include "codec/value.h"

namespace berth::merge {

/// `document` is an object of `message` with all that its JSON shows; `patch` is an object. An
/// Error is kBadRequest, kInvalid, or kUnknown where upstream has no reason; `document` is left
/// half-way then. Takes time in proportion to both; recurses once per level.
base::Result<void> ApplyStrategicMerge(codec::Value& document, const codec::Value& patch,
                                       const api::Message& message);

}  // namespace berth::merge
