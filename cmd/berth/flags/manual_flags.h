// The flags of `berth completion` and `berth man`.
#pragma once

#include <string>

#include "berth/flags/command_set.h"

namespace berth::cli {

/// Adds both commands. They describe the program with the commands that it has when they run.
void AddManualCommands(CommandSet& commands, const CLI::App& program, const std::string& version);

}  // namespace berth::cli
