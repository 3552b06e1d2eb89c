// Renders a plan as text for people, at most `style.width` columns wide. A pure function.
#pragma once

#include <string>
#include <string_view>

#include "berth/plan/plan.h"
#include "berth/terminal.h"

namespace berth::cli {

/// `source` is the name to show for the file with the values in use, if there is one.
std::string PlanText(const Plan& plan, std::string_view source, const Style& style);

}  // namespace berth::cli
