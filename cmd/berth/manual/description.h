// The program's commands as plain data. Manual pages and the completion of shells are generated
// from it. flags/description.h makes it from the command line that the program parses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/manual/value_hint.h"

namespace berth::cli {

struct FlagDescription {
  std::vector<std::string> names;  ///< "-o" and "--output"
  std::string value;               ///< "FORMAT"; empty if the flag takes no value
  std::string help;
  std::string group;  ///< a heading; empty for flags without one
  ValueHint hint;
  bool required = false;
  bool repeats = false;
};

/// An argument that is not a flag.
struct ArgumentDescription {
  std::string name;
  std::string help;
  ValueHint hint;
  bool required = false;
  bool repeats = false;
};

struct CommandDescription {
  std::string name;     ///< with the commands above it: "berth snapshot save"
  std::string summary;  ///< one line
  std::string text;     ///< paragraphs
  std::string footer;   ///< more paragraphs, examples and the exit status
  std::vector<FlagDescription> flags;
  std::vector<ArgumentDescription> arguments;
  std::vector<CommandDescription> commands;
};

/// Returns the last word of the command's name: "save" for "berth snapshot save".
std::string LastWord(const CommandDescription& command);

/// Returns the command and all below it, each before those below it.
std::vector<const CommandDescription*> AllCommands(const CommandDescription& program);

/// Returns `text` with `to` for every `from`, which must not be empty.
std::string Replaced(std::string text, std::string_view from, std::string_view to);

}  // namespace berth::cli
