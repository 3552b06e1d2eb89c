// The parts of a plan's text that are about values in use. For use by plan_text.cc.
#pragma once

#include <string>
#include <string_view>

#include "berth/paint.h"
#include "berth/plan/plan.h"

namespace berth::cli {

/// How full the bands of the range are, who uses what, and the gaps. The range must have `usage`
/// and usable values.
std::string RangeUsageText(const RangePlan& range, const Paint& paint);

/// What lies in no range, what was not checked, and the sum of it all.
std::string UsedText(const UsedPlan& used, std::string_view source, const Paint& paint);

}  // namespace berth::cli
