// berth forecast: when each range is full, and what if.
#pragma once

#include <string>
#include <vector>

#include "berth/inspect/source_arguments.h"

namespace berth::cli {

struct ForecastArguments {
  SourceArguments source = {};
  OutputArguments output = {};
  std::string range = {};                ///< Name or text of one range.
  std::string add = {};                  ///< "500/week"
  std::vector<std::string> resize = {};  ///< CIDRs and port ranges.
  std::string history = {};              ///< Data directory of `berth observe`.
};

/// Returns the exit code.
int RunForecast(const ForecastArguments& arguments);

}  // namespace berth::cli
