// Programs that a test starts, kills and waits for. None outlives its Child.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace crash {

class Child {
 public:
  /// Starts `command` with these variables added to the environment. Its standard streams go to the
  /// file `output` if that is not empty.
  Child(const std::vector<std::string>& command,
        const std::map<std::string, std::string>& environment, const std::string& output = "");
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Sends SIGKILL. The program may have ended by itself.
  void Kill() const;

  /// Returns the exit code, or 128 + the signal that ended the program. Returns nullopt if it still
  /// runs after `limit`.
  std::optional<int> Wait(std::chrono::milliseconds limit);

 private:
  pid_t pid_;
  std::optional<int> ended_;
};

/// Returns a whole file, or an empty text if the file does not exist.
std::string ReadFile(const std::string& path);

}  // namespace crash
