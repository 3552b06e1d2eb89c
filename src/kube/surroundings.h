// What the machine says about where a cluster is and who the user is: environment variables, files,
// the terminal, and programs that can be run. Code that finds a cluster takes it as an argument, so
// that tests decide what it contains.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/plugin_runner.h"

namespace berth::kube {

/// The largest file that is read: a kubeconfig, or a file that one names.
inline constexpr size_t kLargestFile = size_t{16} << 20;

/// Returns the content of a file, or kNotFound if it does not exist. The message is the system's,
/// such as "Permission denied". Thread-safe.
using FileReader = std::function<base::Result<std::string>(const std::string& path)>;

struct Surroundings {
  std::vector<std::string> environment = {};  ///< "NAME=value", as programs inherit it.
  FileReader read_file = {};
  bool stdin_is_terminal = false;
  std::shared_ptr<PluginRunner> runner = {};
  /// Outlives everything that is made with it.
  const base::Clock* clock = nullptr;
  /// Shows the user what a plugin wrote to its standard error, although it succeeded. Thread-safe.
  std::function<void(std::string_view)> show = {};

  /// Returns the value of an environment variable, or "" if it is not set.
  std::string Variable(std::string_view name) const;
};

/// Returns what this process has. It reads the environment once.
Surroundings RealSurroundings();

}  // namespace berth::kube
