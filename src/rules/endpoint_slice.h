// EndpointSlices of discovery.k8s.io: some of the endpoints of a Service. The server counts
// their generation, which also changes with the labels. Pure.
#pragma once

#include <string>
#include <vector>

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

/// Fills in name and protocol of ports.
void DefaultEndpointSlice(codec::Value& slice);

/// Removes what cannot be written through the API version v1: deprecatedTopology.
void PrepareEndpointSliceCreate(codec::Value& slice);
/// Does the same, unless the endpoints are those of `old`. A node name that only the old topology
/// had becomes the nodeName.
void PrepareEndpointSliceUpdate(codec::Value& slice, const codec::Value& old);

FieldErrors ValidateEndpointSliceCreate(const codec::Value& slice);
/// Requires that the address type stays. Endpoints that have not changed are not checked: an older
/// rule may have accepted them.
FieldErrors ValidateEndpointSliceUpdate(const codec::Value& slice, const codec::Value& old);

/// Returns warnings about addresses that are not written in the usual form.
std::vector<std::string> EndpointSliceWarnings(const codec::Value& slice);
/// Returns further warnings for a new slice: names as addresses are deprecated.
std::vector<std::string> NewEndpointSliceWarnings(const codec::Value& slice);

}  // namespace berth::rules
