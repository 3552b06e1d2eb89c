#include "berth/flags/manual_flags.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "berth/flags/description.h"
#include "berth/manual/man_command.h"

namespace berth::cli {
namespace {

constexpr const char* kCompletionHelp =
    "Prints the script that lets a shell complete commands, flags and values\n"
    "\n"
    "`cmake --install` puts the scripts where the shells find them. Otherwise, load the script of\n"
    "your shell when it starts:\n"
    "\n"
    "  bash    add this line to ~/.bashrc:\n"
    "            eval \"$(berth completion bash)\"\n"
    "  zsh     add this line to ~/.zshrc, after compinit:\n"
    "            source <(berth completion zsh)\n"
    "  fish    run this once:\n"
    "            berth completion fish > ~/.config/fish/completions/berth.fish";

constexpr const char* kCompletionExamples =
    "kubectl 1.26 and newer completes `kubectl berth` with the program kubectl_complete-berth, "
    "which\n"
    "is installed together with kubectl-berth.\n"
    "\n"
    "Examples:\n"
    "  eval \"$(berth completion bash)\"\n"
    "  berth completion zsh > ~/.zsh/functions/_berth\n"
    "\n"
    "Exit status: 0 for success, 2 for invalid arguments or files, 1 for other errors.";

constexpr const char* kManHelp =
    "Prints a manual page, of the program or of one of its commands\n"
    "\n"
    "A page has the same text as --help. It is in troff, which man shows and formats.";

constexpr const char* kManExamples =
    "Examples:\n"
    "  berth man plan | man -l -\n"
    "  berth man snapshot save > berth-snapshot-save.1\n"
    "  berth man --all ~/.local/share/man/man1\n"
    "\n"
    "Exit status: 0 for success, 2 for invalid arguments or files, 1 for other errors.";

}  // namespace

void AddManualCommands(CommandSet& commands, const CLI::App& program, const std::string& version) {
  const auto shell = std::make_shared<std::string>();
  CLI::App& completion =
      commands.Add("completion", kCompletionHelp, kCompletionExamples,
                   [shell, &program] { return RunCompletion(DescribeProgram(program), *shell); });
  completion.add_option("SHELL", *shell, "Shell: bash, zsh or fish")->required()->option_text(" ");

  const auto arguments = std::make_shared<ManArguments>();
  CLI::App& man = commands.Add("man", kManHelp, kManExamples, [arguments, &program, version] {
    return RunMan(DescribeProgram(program), *arguments, version);
  });
  man.add_option("COMMAND", arguments->command, "Command, such as plan or snapshot save")
      ->option_text("...");
  man.add_option("--all", arguments->all, "Write the pages of all commands into this folder")
      ->option_text("DIR");
}

}  // namespace berth::cli
