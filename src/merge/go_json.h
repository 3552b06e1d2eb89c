// Documents as Go writes them. Pure functions; any Value may be given.
#pragma once

#include <string>

#include "codec/value.h"

namespace berth::merge {

/// As Go's JSON encoder: compact, keys in order, <, > and & escaped.
void AppendGoJson(std::string& out, const codec::Value& value);

/// As %#v prints what a document decodes to; cut as GoText is.
std::string GoSyntax(const codec::Value& value);

}  // namespace berth::merge
