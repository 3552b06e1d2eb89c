// The commands of the program that share their flags: each has a name, a help text, flags, and a
// function that runs it. A file of this folder adds one command, or a few that belong together.
//
//   void AddTop(CommandSet& commands) {
//     const auto arguments = std::make_shared<TopArguments>();
//     CLI::App& top = commands.Add("top", kTopHelp, kTopExamples,
//                                  [arguments] { return RunTop(*arguments); });
//     AddSourceFlags(top, arguments->source);
//     AddOutputFlags(top, arguments->output);
//   }
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "berth/inspect/source_arguments.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}

namespace berth::cli {

class CommandSet {
 public:
  /// Commands are added to the program, which must outlive this.
  explicit CommandSet(CLI::App& program) : program_(program) {}

  /// Adds a command. The first line of the help is its summary. `run` returns the exit code.
  CLI::App& Add(const char* name, const char* help, const char* examples, std::function<int()> run);

  /// Runs the command that the arguments name. Returns nullopt if they name none of these.
  std::optional<int> Run() const;

 private:
  struct Command {
    CLI::App* app;
    std::function<int()> run;
  };

  CLI::App& program_;
  std::vector<Command> commands_;
};

/// Adds the flags that say which cluster the command looks at. `group` is their heading in the
/// help.
void AddSourceFlags(
    CLI::App& command, SourceArguments& source,
    const char* group = "SOURCE (the cluster that kubectl would use, if none is given)");
/// Adds -o, and --watch.
void AddOutputFlags(CLI::App& command, OutputArguments& output);

/// Add the command of that name.
void AddWhois(CommandSet& commands);
void AddMap(CommandSet& commands);
void AddBlockers(CommandSet& commands);
void AddObserve(CommandSet& commands);
void AddUi(CommandSet& commands);

/// Adds all commands that look into a cluster.
void AddInspectCommands(CommandSet& commands);

}  // namespace berth::cli
