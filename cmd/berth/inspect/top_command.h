// berth top: how full each range is, what needs attention, and who holds most.
#pragma once

#include <string>

#include "berth/inspect/source_arguments.h"

namespace berth::cli {

struct TopArguments {
  SourceArguments source = {};
  OutputArguments output = {};
  std::string history = {};  ///< Data directory of `berth observe`.
};

/// Returns the exit code.
int RunTop(const TopArguments& arguments);

}  // namespace berth::cli
