#include "berth/manual/man_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <system_error>

#include "base/go_text.h"
#include "base/result.h"
#include "berth/completion/scripts.h"
#include "berth/exit_code.h"
#include "berth/files.h"
#include "berth/manual/man_page.h"
#include "berth/store/open.h"
#include "berth/terminal.h"

namespace berth::cli {
namespace {

base::Result<const CommandDescription*> FindCommand(const CommandDescription& program,
                                                    const std::vector<std::string>& words) {
  // The name of a page is accepted too: berth-snapshot-save.
  const std::string wanted = fmt::format("{}", fmt::join(words, " "));
  for (const CommandDescription* command : AllCommands(program)) {
    const bool is_program = command == &program;
    if (is_program ? wanted.empty() || wanted == program.name
                   : command->name == program.name + " " + wanted || PageName(*command) == wanted) {
      return command;
    }
  }
  return base::Fail(base::Reason::kInvalid,
                    fmt::format("there is no command {}; {} --help lists the commands",
                                base::GoQuoted(wanted), program.name));
}

base::Result<void> WritePages(const CommandDescription& program, const std::string& folder,
                              std::string_view version) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return base::Fail(base::Reason::kInternalError,
                      fmt::format("cannot create {}: {}", folder, error.message()));
  }
  for (const CommandDescription* command : AllCommands(program)) {
    const std::string path = fmt::format("{}/{}.1", folder, PageName(*command));
    const auto written = WritePublicFile(path, ManPage(program, *command, version));
    if (!written) return written;
  }
  return {};
}

}  // namespace

int RunMan(const CommandDescription& program, const ManArguments& arguments,
           std::string_view version) {
  if (!arguments.all.empty() && !arguments.command.empty()) {
    return ReportError("man", {.reason = base::Reason::kInvalid,
                               .message = "--all writes every page; name no command with it"});
  }
  if (!arguments.all.empty()) {
    const auto written = WritePages(program, arguments.all, version);
    return written ? kFine : ReportError("man", written.error());
  }
  const auto command = FindCommand(program, arguments.command);
  if (!command) return ReportError("man", command.error());
  return PrintOut(ManPage(program, **command, version)) ? kFine : kFailed;
}

int RunCompletion(const CommandDescription& program, const std::string& shell) {
  const auto script = CompletionScript(program, shell);
  if (!script) {
    return ReportError("completion",
                       {.reason = base::Reason::kInvalid,
                        .message = fmt::format("{}: must be bash, zsh or fish; see {} completion "
                                               "--help",
                                               base::GoQuoted(shell), program.name)});
  }
  return PrintOut(*script) ? kFine : kFailed;
}

}  // namespace berth::cli
