// The script for bash. It has two tables, generated from the description, and one function that
// reads the words on the command line and looks them up.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "berth/completion/scripts.h"

namespace berth::cli {
namespace {

constexpr std::string_view kBashHead =
    R"sh(# Completion of berth for bash. To load it: eval "$(berth completion bash)"
)sh";

constexpr std::string_view kBashNames = R"sh(
# Sets commands and flags to the words that may follow the command "$1".
_berth_names() {
  commands= flags=
  case $1 in
)sh";

constexpr std::string_view kBashValues = R"sh(  esac
}

# Sets kind and choices to what the flag or the argument "$2" of the command "$1" takes. Arguments
# are numbered from 1. Fails if the command has no such argument, and no such flag with a value.
_berth_value() {
  kind=nothing choices=
  case "$1 $2" in
)sh";

// readline splits words at = and at colons, as in --output=json and fd00::1. The pieces are joined
// first, and the part that readline does not replace is cut off the candidates at the end.
constexpr std::string_view kBashFunction = R"sh(    *) return 1 ;;
  esac
}

# Adds the lines of the input that begin with "$word" to COMPREPLY.
_berth_offer() {
  local candidate
  while IFS= read -r candidate; do
    if [[ -n $candidate && $candidate == "$word"* ]]; then
      if [[ $kind == contexts ]]; then printf -v candidate %q "$candidate"; fi
      candidate=$prefix$candidate
      COMPREPLY+=("${candidate#"$kept"}")
    fi
  done
}

_berth() {
  local word= piece= last= kept= prefix= flag= command=berth count=1 i
  local kind=nothing choices= commands= flags=
  local newline=$'\n'
  local -a words=()
  COMPREPLY=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    piece=${COMP_WORDS[i]}
    if ((i > 1)) && [[ -n $piece ]] && [[ $piece =~ ^[:=]+$ || $last =~ ^[:=]+$ ]]; then
      words[${#words[@]} - 1]+=$piece
    else
      words+=("$piece")
    fi
    last=$piece
  done
  word=${words[${#words[@]} - 1]}
  if [[ $piece =~ ^[:=]+$ ]]; then kept=$word; else kept=${word%"$piece"}; fi

  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    piece=${words[i]} flag=
    _berth_names "$command"
    if [[ $piece == -* ]]; then
      if _berth_value "$command" "$piece"; then flag=$piece; ((i++)); fi
    elif [[ " $commands " == *" $piece "* ]]; then
      command+=" $piece"
    else
      ((count++))
    fi
  done
  # The last word is the value of a flag only if the loop has stepped over it.
  ((i >= ${#words[@]})) || flag=
  if [[ -z $flag && $word == --*=* ]]; then
    flag=${word%%=*} prefix=${word%%=*}= word=${word#*=}
  fi

  _berth_names "$command"
  if [[ -n $flag ]]; then
    _berth_value "$command" "$flag"
  elif [[ $word == -* ]]; then
    kind=choices choices=$flags
  elif [[ -n $commands ]]; then
    kind=choices choices=$commands
  else
    _berth_value "$command" "$count"
  fi
  _berth_kind=$kind  # For kubectl_complete-berth.
  case $kind in
    choices) _berth_offer <<<"${choices// /$newline}" ;;
    contexts) _berth_offer <<<"$(kubectl config get-contexts -o name 2>/dev/null)" ;;
    files)
      _berth_offer <<<"$(compgen -f -- "$word")"
      compopt -o filenames -o default 2>/dev/null ;;
    folders)
      _berth_offer <<<"$(compgen -d -- "$word")"
      compopt -o filenames -o dirnames 2>/dev/null ;;
  esac
  return 0
}

complete -F _berth berth kubectl-berth
)sh";

std::string BashKind(const ValueHint& hint) {
  switch (hint.kind) {
    case ValueHint::Kind::kNothing:
      return "kind=nothing";
    case ValueHint::Kind::kFiles:
      return "kind=files";
    case ValueHint::Kind::kFolders:
      return "kind=folders";
    case ValueHint::Kind::kContexts:
      return "kind=contexts";
    case ValueHint::Kind::kChoices:
      return fmt::format("kind=choices choices='{}'", fmt::join(hint.choices, " "));
  }
  return "";
}

std::string BashNames(const CommandDescription& command) {
  std::vector<std::string> names;
  std::vector<std::string> flags;
  for (const auto& below : command.commands) names.push_back(LastWord(below));
  for (const auto& flag : command.flags) {
    flags.insert(flags.end(), flag.names.begin(), flag.names.end());
  }
  return fmt::format("    '{}')\n      commands='{}'\n      flags='{}' ;;\n", command.name,
                     fmt::join(names, " "), fmt::join(flags, " "));
}

std::string BashValues(const CommandDescription& command) {
  std::string out;
  for (const auto& flag : command.flags) {
    if (flag.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const auto& name : flag.names)
      patterns.push_back(fmt::format("'{} {}'", command.name, name));
    out += fmt::format("    {}) {} ;;\n", fmt::join(patterns, " | "), BashKind(flag.hint));
  }
  for (size_t i = 0; i < command.arguments.size(); ++i) {
    const auto& argument = command.arguments[i];
    const std::string number = argument.repeats ? "[0-9]*" : fmt::format("{}", i + 1);
    out += fmt::format("    '{} '{}) {} ;;\n", command.name, number, BashKind(argument.hint));
  }
  return out;
}

}  // namespace

std::string BashScript(const CommandDescription& program) {
  std::string out(kBashHead);
  out += kBashNames;
  for (const CommandDescription* command : AllCommands(program)) out += BashNames(*command);
  out += kBashValues;
  for (const CommandDescription* command : AllCommands(program)) out += BashValues(*command);
  out += kBashFunction;
  return out;
}

}  // namespace berth::cli
