// Writes documents as Go does. Pure functions for any Value.
#pragma once

#include <string>

#include "codec/value.h"

namespace berth::merge {

/// Appends a value as Go's JSON encoder does: compact, with sorted keys, and
/// with <, > and & escaped.
void AppendGoJson(std::string& out, const codec::Value& value);

/// Returns the decoded document as %#v prints it, cut as GoText is.
std::string GoSyntax(const codec::Value& value);

}  // namespace berth::merge
