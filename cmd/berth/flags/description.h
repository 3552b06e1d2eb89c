// Turns the command line that the program parses into plain data (manual/description.h), so that
// manual pages and completions cannot differ from what the program accepts.
#pragma once

#include "berth/manual/description.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}

namespace berth::cli {

/// Returns the description of the program under the name "berth", with all commands that are not
/// hidden.
CommandDescription DescribeProgram(const CLI::App& program);

}  // namespace berth::cli
