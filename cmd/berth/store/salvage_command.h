// `berth salvage`: from its arguments to its exit code.
#pragma once

#include <string>

namespace berth::cli {

/// As they were given.
struct SalvageArguments {
  std::string data_dir = {};
  bool yes = false;
};

/// Shows what cutting a damaged log would lose, or cuts it.
int RunSalvage(const SalvageArguments& arguments);

}  // namespace berth::cli
