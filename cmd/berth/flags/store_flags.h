// The flags of the commands that work on stores: snapshot, migrate, migrate-allocations,
// reset-ranges, salvage, verify.
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

  /// Runs the command that the arguments name, and returns its exit code. Returns nullopt if they
  /// name none of these commands.
  std::optional<int> Run() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace berth::cli
