// Runs a credential plugin: starts a program, waits for its end, and collects what it prints. The
// real runner starts a process. Tests use another one to see how plugins are called.
//
// Threads: any. A call blocks its thread until the program has ended or was killed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::kube {

struct PluginCommand {
  std::string program = {};  ///< A name without '/' is looked up on the PATH of this process.
  std::vector<std::string> arguments = {};
  std::vector<std::string> environment = {};  ///< "NAME=value", each name once.
  /// An interactive program shares the terminal with this process: its standard input, its
  /// standard error and its process group. It has no time limit. Other programs read from
  /// /dev/null.
  bool interactive = false;
  std::chrono::nanoseconds time_limit = std::chrono::seconds(60);
  size_t output_limit = size_t{1} << 20;
};

struct PluginRun {
  enum class Ending : uint8_t {
    kExited,         ///< `code` is the exit status.
    kSignalled,      ///< `code` is the signal.
    kTimedOut,       ///< It was killed at the time limit.
    kTooMuchOutput,  ///< It was killed because it printed more than the limit.
  };
  Ending ending = Ending::kExited;
  int code = 0;
  std::string output = {};
  std::string errors = {};  ///< The end of its standard error, unless it was interactive.
};

class PluginRunner {
 public:
  virtual ~PluginRunner() = default;
  PluginRunner(const PluginRunner&) = delete;
  PluginRunner& operator=(const PluginRunner&) = delete;

  /// Fails with kNotFound if there is no such program, and with kInternalError if it cannot be
  /// started. The message does not name the program.
  virtual base::Result<PluginRun> Run(const PluginCommand& command) = 0;

 protected:
  PluginRunner() = default;
};

/// Returns the runner that starts processes. A program that is killed takes its whole process group
/// with it. No file of this process except the three standard ones is open in the program. If this
/// process dies, a program that is not interactive is killed too.
std::shared_ptr<PluginRunner> MakeProcessRunner();

/// Returns the executable file of that name in the folders of `path`, or "" if there is no such
/// file. Relative folders are skipped, because a program that happens to be in the working
/// directory must not get to see credentials.
std::string FindOnPath(std::string_view name, std::string_view path);

}  // namespace berth::kube
