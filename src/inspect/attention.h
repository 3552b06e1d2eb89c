// What an operator should look at: ranges that are full or soon will be, and why, values that two
// Services hold or that no range contains. Pure.
#pragma once

#include <vector>

#include "inspect/top.h"

namespace berth::inspect {

/// Returns what needs attention, the worst first, and sets `worst` of each range.
std::vector<Attention> FindAttention(const Census& census, std::vector<TopRange>& ranges);

/// The percentages of a band from which a range is nearly full, and the days from which it is full
/// soon. From the second one on that is critical.
inline constexpr double kNearlyFullPercent = 80;
inline constexpr double kAlmostFullPercent = 90;
inline constexpr double kSoonDays = 30;
inline constexpr double kVerySoonDays = 7;

}  // namespace berth::inspect
