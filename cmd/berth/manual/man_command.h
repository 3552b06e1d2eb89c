// Runs `berth man` and `berth completion`, which print what is generated from the description of
// the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/manual/description.h"

namespace berth::cli {

struct ManArguments {
  std::vector<std::string> command;  ///< {"snapshot", "save"}; empty for the program
  std::string all;                   ///< the folder for all pages; empty to print one page
};

/// Both print what they are asked for and return the exit code.
int RunMan(const CommandDescription& program, const ManArguments& arguments,
           std::string_view version);
int RunCompletion(const CommandDescription& program, const std::string& shell);

}  // namespace berth::cli
