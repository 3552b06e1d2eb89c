// What managed fields say of an object that has just been created: by far the most frequent set,
// and all that a create does about them. For use inside merge.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/schema.h"
#include "codec/value.h"

namespace berth::merge {

/// The fields of metadata that nobody owns.
inline constexpr std::string_view kUnownedMetadata[] = {
    "name",        "namespace",  "creationTimestamp", "selfLink",       "uid",
    "clusterName", "generation", "managedFields",     "resourceVersion"};

/// The fieldsV1 of everything that a canonical object has and an empty one has not, without what
/// nobody owns: WriteFieldsV1 of what Compare finds, made in one go. Empty if there is nothing.
std::string FieldsOfNewObject(const codec::Value& object, const api::Message& message,
                              std::span<const std::string_view> skip);

}  // namespace berth::merge
