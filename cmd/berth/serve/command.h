// `berth serve`: from its settings to a running server and its end.
#pragma once

#include <string>

#include "berth/serve/arguments.h"

namespace berth::cli {

/// Serves until SIGTERM or SIGINT; the exit code.
int RunServe(const ServeArguments& arguments, const std::string& version);

}  // namespace berth::cli
