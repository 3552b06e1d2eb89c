// Renders the parts of a plan's text that are about values in use. For use by plan_text.cc.
#pragma once

#include <string>
#include <string_view>

#include "berth/paint.h"
#include "berth/plan/plan.h"

namespace berth::cli {

/// Shows how full the bands of the range are, the owners of values, and the gaps. The range must
/// have `usage` and usable values.
std::string RangeUsageText(const RangePlan& range, const Paint& paint);

/// Shows the values outside all ranges, the values that were not checked, and a summary.
std::string UsedText(const UsedPlan& used, std::string_view source, const Paint& paint);

}  // namespace berth::cli
