// The flags of `berth serve`.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}

namespace berth::cli {

class ServeCommand {
 public:
  /// Adds the command to the program, which must outlive it.
  explicit ServeCommand(CLI::App& program);
  ~ServeCommand();
  ServeCommand(const ServeCommand&) = delete;
  ServeCommand& operator=(const ServeCommand&) = delete;

  /// Runs the command if the arguments name it, and returns its exit code.
  std::optional<int> Run(const std::string& version) const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace berth::cli
