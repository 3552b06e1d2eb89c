// The script for zsh. Each command is a function that describes its flags and arguments in the
// notation of zsh's _arguments.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "berth/completion/scripts.h"

namespace berth::cli {
namespace {

constexpr std::string_view kZshHead = R"sh(#compdef berth kubectl-berth
# Completion of berth for zsh. To load it: source <(berth completion zsh)

_berth_contexts() {
  local -a contexts
  contexts=(${(f)"$(kubectl config get-contexts -o name 2>/dev/null)"})
  compadd -a contexts
}
)sh";

// An autoloaded file is the body of the function _berth, so it calls what it has just defined.
constexpr std::string_view kZshTail = R"(
if [[ $funcstack[1] == _berth ]]; then
  _berth "$@"
else
  compdef _berth berth kubectl-berth
fi
)";

/// Returns the text for a place between single quotes.
std::string ZshQuoted(std::string_view text) { return Replaced(std::string(text), "'", R"('\'')"); }

/// Returns a text as the description of a flag or as the name of a value.
std::string ZshText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return ZshQuoted(out);
}

std::string ZshAction(const ValueHint& hint) {
  switch (hint.kind) {
    case ValueHint::Kind::kNothing:
      return " ";
    case ValueHint::Kind::kFiles:
      return "_files";
    case ValueHint::Kind::kFolders:
      return "_files -/";
    case ValueHint::Kind::kContexts:
      return "_berth_contexts";
    case ValueHint::Kind::kChoices:
      return fmt::format("({})", fmt::join(hint.choices, " "));
  }
  return "";
}

std::string ZshFlag(const FlagDescription& flag) {
  std::vector<std::string> forms;
  for (const auto& name : flag.names) {
    const char* takes = name.starts_with("--") ? "=" : "+";
    forms.push_back(flag.value.empty() ? name : name + takes);
  }
  std::string spec = fmt::format("[{}]", ZshText(flag.help));
  if (!flag.value.empty()) {
    spec += fmt::format(":{}:{}", ZshText(flag.value), ZshAction(flag.hint));
  }
  // A flag that does not repeat excludes itself under all its names.
  const std::string before = flag.repeats ? "*" : fmt::format("({})", fmt::join(flag.names, " "));
  if (forms.size() == 1) return fmt::format("'{}{}{}'", before, forms.front(), spec);
  return fmt::format("'{}'{{{}}}'{}'", before, fmt::join(forms, ","), spec);
}

std::string ZshArgument(const ArgumentDescription& argument, size_t number) {
  const std::string where =
      argument.repeats ? "*:" : fmt::format("{}:{}", number, argument.required ? "" : ":");
  return fmt::format("'{}{}:{}'", where, ZshText(argument.name), ZshAction(argument.hint));
}

std::string ZshFunction(const CommandDescription& command) {
  return Replaced(Replaced(command.name, " ", "_"), "-", "_");
}

/// Returns the part that completes the names of commands, and calls the function of the one given.
std::string ZshCommands(const CommandDescription& command) {
  std::string out = "  case $state in\n    command)\n      local -a commands=(\n";
  for (const auto& below : command.commands) {
    out += fmt::format("        '{}:{}'\n", LastWord(below), ZshText(below.summary));
  }
  out += "      )\n      _describe command commands ;;\n    rest)\n      case $words[1] in\n";
  for (const auto& below : command.commands) {
    out += fmt::format("        {}) _{} ;;\n", LastWord(below), ZshFunction(below));
  }
  return out + "      esac ;;\n  esac\n";
}

std::string ZshCommand(const CommandDescription& command) {
  const bool above = !command.commands.empty();
  std::vector<std::string> specs;
  for (const auto& flag : command.flags) specs.push_back(ZshFlag(flag));
  if (above) {
    specs.emplace_back("'1:command:->command'");
    specs.emplace_back("'*::argument:->rest'");
  }
  for (size_t i = 0; i < command.arguments.size(); ++i) {
    specs.push_back(ZshArgument(command.arguments[i], i + 1));
  }
  std::string out = fmt::format("\n_{}() {{\n", ZshFunction(command));
  if (above) out += "  local curcontext=$curcontext state line\n  local -A opt_args\n";
  out += fmt::format("  _arguments -S -s{} \\\n    {}\n", above ? " -C" : "",
                     fmt::join(specs, " \\\n    "));
  if (above) out += ZshCommands(command);
  return out + "}\n";
}

}  // namespace

std::string ZshScript(const CommandDescription& program) {
  std::string out(kZshHead);
  for (const CommandDescription* command : AllCommands(program)) out += ZshCommand(*command);
  out += kZshTail;
  return out;
}

}  // namespace berth::cli
