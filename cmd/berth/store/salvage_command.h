// Runs `berth salvage`.
#pragma once

#include <string>

namespace berth::cli {

/// The arguments as given.
struct SalvageArguments {
  std::string data_dir = {};
  bool yes = false;
};

/// Shows what cutting a damaged log would lose, or cuts it. Returns the exit code.
int RunSalvage(const SalvageArguments& arguments);

}  // namespace berth::cli
