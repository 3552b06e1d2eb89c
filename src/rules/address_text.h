// What the fields of several kinds say about the text of an address or a CIDR: refusals and
// warnings in Kubernetes' words. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/field_error.h"

namespace berth::rules {

/// Returns why an address cannot lead to a program on another machine: it has a meaning only on one
/// machine or one link. Returns "" if it can, and also if the text is no address.
std::string SpecialAddressProblem(std::string_view text);

/// Adds what Kubernetes says about an address of Endpoints: that it is no address, or special.
void RequireEndpointAddress(FieldErrors& errors, const Path& path, std::string_view text);

/// Add warnings about text that Kubernetes would write differently. Text that is no address or CIDR
/// at all gets none.
void WarnOfAddress(std::vector<std::string>& warnings, const Path& path, std::string_view text);
void WarnOfBlock(std::vector<std::string>& warnings, const Path& path, std::string_view text);

}  // namespace berth::rules
