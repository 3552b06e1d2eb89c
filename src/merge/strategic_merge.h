// Strategic merge patch. Maps are merged as in a merge patch, and lists as the tables of the kind
// say (Field::patch_strategy, Field::patch_merge_key). Directives request other changes:
//
//   "$patch": "delete" | "replace"             in a map, or as an element of a list
//   "$retainKeys": [...]                       deletes members that are not listed
//   "$setElementOrder/<list>": [...]           the order of a list, by merge key or value
//   "$deleteFromPrimitiveList/<list>": [...]   values to remove
//
// The behaviour is that of Kubernetes, with its errors. "$patch": "merge" is known by name only and
// refused. A field that the object does not have is copied from the patch, without the elements and
// maps that have a "$patch". Two cases that Kubernetes gets wrong are refused instead: a delete
// list of maps, which it would merge, and one that is null, which would empty the list.
#pragma once

#include "api/schema.h"
#include "base/result.h"
#include "codec/value.h"

namespace berth::merge {

/// Applies `patch`, an object, to `document`, an object of `message` with everything that its JSON
/// shows. An Error is kBadRequest, kInvalid, or kUnknown where Kubernetes has no reason; `document`
/// may be half changed then. Takes time proportional to both, and recurses once per level.
base::Result<void> ApplyStrategicMerge(codec::Value& document, const codec::Value& patch,
                                       const api::Message& message);

}  // namespace berth::merge
