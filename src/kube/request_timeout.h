// The value of --request-timeout. Pure.
#pragma once

#include <chrono>
#include <string_view>

#include "base/result.h"

namespace berth::kube {

/// Parses a time limit as kubectl does: a number of seconds ("30"), or numbers with units ("1m30s",
/// "500ms"). 0 and an empty text mean that there is no limit. The error names the flag.
base::Result<std::chrono::nanoseconds> ParseRequestTimeout(std::string_view text);

}  // namespace berth::kube
