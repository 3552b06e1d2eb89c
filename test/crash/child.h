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
  /// Starts `command` with these variables added to the environment; its standard streams go
  /// to the file `output`, if that is named.
  Child(const std::vector<std::string>& command,
        const std::map<std::string, std::string>& environment, const std::string& output = "");
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// kill -9; it may have ended by itself.
  void Kill() const;

  /// The exit code, or 128 + the signal that ended it; nothing when it still runs after `limit`.
  std::optional<int> Wait(std::chrono::milliseconds limit);

 private:
  pid_t pid_;
  std::optional<int> ended_;
};

/// A whole file; empty when there is none.
std::string ReadFile(const std::string& path);

}  // namespace crash
