// When each range is full, as text for a terminal. Pure.
#pragma once

#include <string>
#include <string_view>

#include "berth/terminal.h"
#include "inspect/forecast.h"

namespace berth::cli {

/// Returns the forecast. `add` is the rate that is added, as it was given, such as "500/week".
std::string ForecastText(const inspect::Cluster& cluster, const inspect::ForecastView& view,
                         std::string_view add, const Style& style);

}  // namespace berth::cli
