// Draws a range: a bar of its two bands to scale, with the border values under it.
#pragma once

#include <string>

#include "berth/paint.h"
#include "berth/plan/plan.h"

namespace berth::cli {

/// Returns lines that end with a newline. The range must have usable values.
std::string BandBar(const RangePlan& range, const Paint& paint);

}  // namespace berth::cli
