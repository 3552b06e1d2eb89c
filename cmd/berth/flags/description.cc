#include "berth/flags/description.h"

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::cli {
namespace {

bool Repeats(const CLI::Option& option) {
  return option.get_items_expected_max() > 1 ||
         option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
}

FlagDescription DescribeFlag(const CLI::Option& option) {
  FlagDescription flag{.names = {},
                       .value = "",
                       .help = option.get_description(),
                       .group = option.get_group() == "Options" ? "" : option.get_group(),
                       .hint = {},
                       .required = option.get_required(),
                       .repeats = Repeats(option)};
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  if (option.get_items_expected_max() == 0) return flag;
  flag.value = option.get_option_text().empty() ? "VALUE" : option.get_option_text();
  flag.hint = HintFor(flag.names.back(), flag.value, flag.help);
  return flag;
}

ArgumentDescription DescribeArgument(const CLI::Option& option) {
  const std::string name = option.get_name(/*positional=*/true);
  return {.name = name,
          .help = option.get_description(),
          .hint = HintFor("", name, option.get_description()),
          .required = option.get_required(),
          .repeats = Repeats(option)};
}

CommandDescription DescribeCommand(const CLI::App& app, std::string name) {
  const std::string help = app.get_description();
  const size_t end = help.find('\n');
  CommandDescription command{.name = std::move(name),
                             .summary = help.substr(0, end),
                             .text = "",
                             .footer = app.get_footer(),
                             .flags = {},
                             .arguments = {},
                             .commands = {}};
  if (end != std::string::npos) command.text = help.substr(help.find_first_not_of('\n', end));
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // Hidden.
    if (option->nonpositional()) {
      command.flags.push_back(DescribeFlag(*option));
    } else {
      command.arguments.push_back(DescribeArgument(*option));
    }
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (below->get_group().empty()) continue;
    command.commands.push_back(DescribeCommand(*below, command.name + " " + below->get_name()));
  }
  return command;
}

}  // namespace

CommandDescription DescribeProgram(const CLI::App& program) {
  CommandDescription all = DescribeCommand(program, "berth");
  std::vector<std::string> names;
  for (const CommandDescription& command : all.commands) names.push_back(LastWord(command));
  // An argument COMMAND is the name of a command.
  for (CommandDescription& command : all.commands) {
    for (ArgumentDescription& argument : command.arguments) {
      if (argument.name != "COMMAND") continue;
      argument.hint = {.kind = ValueHint::Kind::kChoices, .choices = names};
    }
  }
  return all;
}

}  // namespace berth::cli
