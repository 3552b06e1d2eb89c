// Times of objects, shown as an age. Pure: "now" is passed in.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace berth::rules {

/// `5s`, `3m20s`, `2d3h`: two units at most, fewer the longer it is. A second into the future is
/// 0s, more than that `<invalid>`.
std::string HumanDuration(std::chrono::nanoseconds duration);

/// How long ago a time of an object was; `<unknown>` if it is unset or unreadable.
std::string Age(std::string_view time, base::WallTime now);

}  // namespace berth::rules
