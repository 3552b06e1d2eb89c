// The flags of the commands that work on stores: snapshot, migrate and salvage.
#pragma once

#include <memory>
#include <optional>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}

namespace berth::cli {

class StoreCommands {
 public:
  /// Adds the commands to the program, which must outlive it.
  explicit StoreCommands(CLI::App& program);
  ~StoreCommands();
  StoreCommands(const StoreCommands&) = delete;
  StoreCommands& operator=(const StoreCommands&) = delete;

  /// Runs the command that was named; nothing when it is none of these.
  std::optional<int> Run() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace berth::cli
