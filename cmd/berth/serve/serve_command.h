// Runs `berth serve`.
#pragma once

#include <string>

#include "berth/serve/arguments.h"

namespace berth::cli {

/// Serves until SIGTERM or SIGINT. Returns the exit code.
int RunServe(const ServeArguments& arguments, const std::string& version);

}  // namespace berth::cli
