// Endpoints of core/v1: the addresses that the Service of the same name leads to. Subsets are
// stored as they are sent. Pure.
#pragma once

#include <string>
#include <vector>

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

/// Fills in the protocol of ports.
void DefaultEndpoints(codec::Value& endpoints);

FieldErrors ValidateEndpointsCreate(const codec::Value& endpoints);
/// Subsets that have not changed are not checked: an older rule may have accepted them.
FieldErrors ValidateEndpointsUpdate(const codec::Value& endpoints, const codec::Value& old);

/// Returns warnings about addresses that are not written in the usual form.
std::vector<std::string> EndpointsWarnings(const codec::Value& endpoints);

}  // namespace berth::rules
