// The script for fish: a `complete` line for each command, flag and argument.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "berth/completion/scripts.h"

namespace berth::cli {
namespace {

constexpr std::string_view kFishHead =
    R"(# Completion of berth for fish. To load it: berth completion fish | source

# Succeeds if the command line names the command "berth $argv" so far.
function __berth_is
    set -l all )";

constexpr std::string_view kFishFunctions = R"(
    set -l path berth
    for word in (commandline -opc)[2..-1]
        if contains -- "$path $word" $all
            set path "$path $word"
        end
    end
    test "$path" = (string join ' ' berth $argv)
end

function __berth_contexts
    kubectl config get-contexts -o name 2>/dev/null
end

complete -c kubectl-berth -w berth
complete -c berth -f
)";

std::string FishQuoted(std::string_view text) {
  return "'" + Replaced(Replaced(std::string(text), "\\", "\\\\"), "'", "\\'") + "'";
}

/// Returns the options of `complete` for a value. `required` says that a value must follow.
std::string FishValue(const ValueHint& hint, bool required) {
  const char* needs = required ? " -r" : "";
  switch (hint.kind) {
    case ValueHint::Kind::kNothing:
      return required ? " -x" : "";
    case ValueHint::Kind::kFiles:
      return fmt::format("{} -F", needs);
    case ValueHint::Kind::kFolders:
      return fmt::format("{} -f -a '(__fish_complete_directories)'", needs);
    case ValueHint::Kind::kContexts:
      return fmt::format("{} -f -a '(__berth_contexts)'", needs);
    case ValueHint::Kind::kChoices:
      return fmt::format("{} -f -a '{}'", needs, fmt::join(hint.choices, " "));
  }
  return "";
}

std::string FishFlag(const std::string& complete, const FlagDescription& flag) {
  std::string out = complete;
  for (const auto& name : flag.names) {
    const bool is_long = name.starts_with("--");
    out += fmt::format(" {} {}", is_long ? "-l" : "-s", name.substr(is_long ? 2 : 1));
  }
  if (!flag.value.empty()) out += FishValue(flag.hint, /*required=*/true);
  return out + fmt::format(" -d {}\n", FishQuoted(flag.help));
}

std::string FishCommand(const CommandDescription& command) {
  const size_t first = command.name.find(' ');
  const std::string below_program = first == std::string::npos ? "" : command.name.substr(first);
  const std::string complete = fmt::format("complete -c berth -n '__berth_is{}'", below_program);
  std::string out = "\n";
  for (const auto& below : command.commands) {
    out += fmt::format("{} -a {} -d {}\n", complete, LastWord(below), FishQuoted(below.summary));
  }
  for (const auto& argument : command.arguments) {
    const std::string value = FishValue(argument.hint, /*required=*/false);
    if (!value.empty()) out += fmt::format("{}{}\n", complete, value);
  }
  for (const auto& flag : command.flags) out += FishFlag(complete, flag);
  return out;
}

}  // namespace

std::string FishScript(const CommandDescription& program) {
  std::vector<std::string> names;
  for (const CommandDescription* command : AllCommands(program)) {
    names.push_back(FishQuoted(command->name));
  }
  std::string out(kFishHead);
  out += fmt::format("{}", fmt::join(names, " "));
  out += kFishFunctions;
  for (const CommandDescription* command : AllCommands(program)) out += FishCommand(*command);
  return out;
}

}  // namespace berth::cli
