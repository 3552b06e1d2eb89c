// Scripts that let a shell complete the program's commands, flags and values. Pure functions of the
// description of the program.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "berth/manual/description.h"

namespace berth::cli {

std::string BashScript(const CommandDescription& program);
std::string ZshScript(const CommandDescription& program);
std::string FishScript(const CommandDescription& program);

/// Returns the script for bash, zsh or fish. Returns nullopt for any other shell.
std::optional<std::string> CompletionScript(const CommandDescription& program,
                                            std::string_view shell);

}  // namespace berth::cli
