// Why a strategic merge did not leave an object of its kind behind. Upstream turns the merged tree
// into a struct without going through JSON, and has words of its own for what does not fit. For use
// inside merge.
#pragma once

#include <optional>
#include <string>

#include "api/schema.h"
#include "codec/value.h"

namespace berth::merge {

/// "cannot restore slice from string": the first fault in the order of fields; nothing if there is
/// none that upstream would find in this way.
std::optional<std::string> RestoreFault(const codec::Value& document, const api::Message& message);

}  // namespace berth::merge
