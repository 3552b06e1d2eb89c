// What several kinds of allocation.berth.io are made of. Constants; see schema.h. Internal.
#pragma once

#include "api/schema.h"

namespace berth::api {

extern const Message kRangeReference;
extern const Message kServiceReference;
extern const Message kServiceName;
extern const Message kRangeStatus;  // Of an IPRange, and of a NodePortRange.

/// Of every kind.
inline constexpr std::string_view kMetadataDescription =
    "Name, labels, annotations, and what the server notes of the object.";
/// Of those that have one.
inline constexpr std::string_view kStatusDescription =
    "What is the case at present. Not written by users.";

}  // namespace berth::api
