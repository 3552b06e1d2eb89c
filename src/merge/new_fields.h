// The managed fields of an object that has just been created. This is by far the most frequent set,
// and a create needs no other. For use inside merge.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/schema.h"
#include "codec/value.h"

namespace berth::merge {

/// The fields of metadata that no manager owns.
inline constexpr std::string_view kUnownedMetadata[] = {
    "name",        "namespace",  "creationTimestamp", "selfLink",       "uid",
    "clusterName", "generation", "managedFields",     "resourceVersion"};

/// Returns the fieldsV1 of everything that a canonical object has and an empty one does not,
/// without the fields that no manager owns. This is WriteFieldsV1 of Compare's result, made in one
/// pass. Returns "" if there are no such fields.
std::string FieldsOfNewObject(const codec::Value& object, const api::Message& message,
                              std::span<const std::string_view> skip);

}  // namespace berth::merge
