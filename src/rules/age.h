// Formats times of objects as an age. Pure: the caller passes in "now".
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace berth::rules {

/// Formats a duration as `5s`, `3m20s` or `2d3h`. The text has at most two units, and one where the
/// second would not matter. Up to a second in the future is `0s`, and more than that is
/// `<invalid>`.
std::string HumanDuration(std::chrono::nanoseconds duration);

/// Returns how long ago a time of an object was, or `<unknown>` if the time is unset or unreadable.
std::string Age(std::string_view time, base::WallTime now);

}  // namespace berth::rules
