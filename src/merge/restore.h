// Explains why the result of a strategic merge is not an object of its kind. Kubernetes converts
// the merged tree to a struct without JSON in between, and has other messages for values that do
// not fit. For use inside merge.
#pragma once

#include <optional>
#include <string>

#include "api/schema.h"
#include "codec/value.h"

namespace berth::merge {

/// Returns the first fault in the order of fields, like "cannot restore slice from string". Returns
/// nullopt if there is no fault that Kubernetes would find in this way.
std::optional<std::string> RestoreFault(const codec::Value& document, const api::Message& message);

}  // namespace berth::merge
