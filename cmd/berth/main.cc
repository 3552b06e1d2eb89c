// The berth program: parses its arguments and runs the command that they name.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/go_text.h"
#include "berth/exit_code.h"
#include "berth/flags/command_set.h"
#include "berth/flags/manual_flags.h"
#include "berth/flags/serve_flags.h"
#include "berth/flags/store_flags.h"
#include "berth/plan/plan_command.h"
#include "berth/program_name.h"
#include "berth/terminal.h"
#include "berth/text.h"

namespace berth::cli {
namespace {

constexpr const char* kProgramHelp =
    "berth, an API server for Kubernetes Services\n"
    "\n"
    "It allocates the cluster IPs and node ports of Services, each value to one Service only.";

constexpr const char* kProgramExamples =
    "Examples:\n"
    "  berth serve                            run the API server; no setup needed\n"
    "  berth plan 10.96.0.0/16 30000-32767    show which values are safe to hard-code\n"
    "  berth plan --help                      show the help of a command\n"
    "  berth top                              show how full the ranges of your cluster are\n"
    "  berth whois 10.96.0.10                 show which Service has an address or a port\n"
    "  berth lint manifests/                  find hard-coded values that can be taken\n"
    "  berth snapshot save --data-dir /var/lib/berth berth.snap\n"
    "  berth verify --data-dir /var/lib/berth\n"
    "  berth migrate --from embedded:/var/lib/berth --to etcd:http://127.0.0.1:2379\n"
    "\n"
    "Exit status: 0 for success, 2 for invalid arguments or files, 1 for other errors.";

constexpr const char* kPlanHelp =
    "Shows which addresses and node ports of Service ranges are safe to hard-code\n"
    "\n"
    "Kubernetes splits a range into two bands. Services that do not ask for a value get one from\n"
    "the dynamic band. The static band is kept for Services that ask for a value, until the\n"
    "dynamic band is full. This command computes the bands offline. Given the values in use, it\n"
    "also shows which values are free, which are used twice, and which are outside the ranges.";

constexpr const char* kPlanExamples =
    "RANGE is a CIDR (10.96.0.0/16, fd00:10:96::/112) or a range of node ports (30000-32767,\n"
    "30000+2767, 30080).\n"
    "\n"
    "FILE is the output of `kubectl get svc -A -o json`, or a list with a value and optionally\n"
    "its owner on each line (10.96.0.10 kube-system/kube-dns).\n"
    "\n"
    "Examples:\n"
    "  berth plan 10.96.0.0/16 fd00:10:96::/112 30000-32767\n"
    "  kubectl get svc -A -o json | berth plan 10.96.0.0/16 30000-32767 --used -\n"
    "  berth plan 10.96.0.0/16 -o json | jq -r '.ranges[].staticBand | .first, .last'\n"
    "\n"
    "Exit status: 0 for success, 2 for invalid arguments or files, 1 for other errors.";

int RunVersion() { return PrintOut("berth " BERTH_VERSION "\n") ? kFine : kFailed; }

CLI::App* AddPlan(CLI::App& app, PlanArguments& arguments) {
  CLI::App* plan = app.add_subcommand("plan", kPlanHelp);
  plan->footer(kPlanExamples);
  plan->add_option("RANGE", arguments.ranges, "CIDRs and port ranges")
      ->required()
      ->option_text("...");
  plan->add_option("-o,--output", arguments.output,
                   "Output format: table, json or yaml (default table)")
      ->option_text("FORMAT");
  plan->add_option("--static-band", arguments.static_band,
                   "Size of the static band of each range, instead of Kubernetes' formula")
      ->option_text("N");
  plan->add_option("--used", arguments.used,
                   "Values in use: Services or a list; - for standard input")
      ->option_text("FILE");
  return plan;
}

/// Puts a blank line after the description. In a list of commands it prints only the first line of
/// each description.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override {
    return app->get_description() + "\n\n";
  }
  std::string make_subcommand(const CLI::App* sub) const override {
    const std::string description = sub->get_description();
    return fmt::format("  {:<22}{}\n", sub->get_name(),
                       description.substr(0, description.find('\n')));
  }
};

/// Returns the names of all commands: "plan, serve and version".
std::string CommandNames(const CLI::App& app, std::string_view last) {
  std::string names;
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  for (size_t i = 0; i < commands.size(); ++i) {
    if (i > 0) names += i + 1 < commands.size() ? ", " : fmt::format(" {} ", last);
    names += commands[i]->get_name();
  }
  return names;
}

std::string Unexpected(const CLI::App& command, const std::vector<std::string>& arguments) {
  const std::string first = arguments.empty() ? "" : arguments.front();
  if (first.starts_with('-')) return fmt::format("unknown flag {}", base::GoQuoted(first));
  const std::string names = CommandNames(command, "and");
  if (names.empty()) return fmt::format("unexpected argument {}", base::GoQuoted(first));
  return fmt::format("unknown command {}; the commands are {}", base::GoQuoted(first), names);
}

/// Turns CLI11's error into the beginning of a sentence.
std::string Sentence(const CLI::App& app, const CLI::App& command, const CLI::ParseError& error) {
  const std::string message = error.what();
  const std::string option = message.substr(0, message.find(':'));
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    return Unexpected(command, app.remaining(/*recurse=*/true));
  }
  if (message == "RANGE is required") return "RANGE is missing: give a CIDR or a port range";
  if (const size_t at = message.find(" is required"); at != std::string::npos) {
    return message.substr(0, at) + " is missing";
  }
  if (message.ends_with("missing")) return option + " needs a value";
  if (message.find("At Most 1") != std::string::npos) return option + " can be given only once";
  return base::ToVisible(message);
}

int ReportBadArguments(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string name = app.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += " ";
    name += command->get_name();
  }
  fmt::print(stderr, "{}",
             AsInvoked(fmt::format("{}: {}; see {} --help\n", name, Sentence(app, *command, error),
                                   name)));
  return kBadUsage;
}

int Main(int argc, char** argv) {
  if (argc > 0) NoteProgramName(argv[0]);
  CLI::App app(kProgramHelp, "berth");
  app.footer(kProgramExamples);
  const auto formatter = std::make_shared<HelpFormatter>();
  formatter->column_width(24);
  app.formatter(formatter);
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", "berth " BERTH_VERSION, "Print the version");
  app.set_help_flag("-h,--help", "Print this help");
  PlanArguments arguments;
  const CLI::App* plan = AddPlan(app, arguments);
  const StoreCommands store_commands(app);
  const ServeCommand serve(app);
  CommandSet inspect_commands(app);
  AddInspectCommands(inspect_commands);
  CommandSet manual_commands(app);
  AddManualCommands(manual_commands, app, BERTH_VERSION);
  const CLI::App* version =
      app.add_subcommand("version", "Prints the version")->footer("Example:\n  berth version");
  for (int i = 1; i < argc; ++i) {
    // CLI11 would parse such an argument as a list in brackets.
    if (std::string_view(argv[1]) != "plan") break;
    if (argv[i][0] != '[' || argv[i - 1][0] == '-') continue;
    fmt::print(stderr, "{} {}: must be a CIDR or a port range\n", AsInvoked("berth:"),
               base::GoQuoted(argv[i]));
    return kBadUsage;
  }
  if (argc == 2 && std::string_view(argv[1]) == "help") {
    return PrintOut(AsInvoked(app.help())) ? kFine : kFailed;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return PrintOut(AsInvoked(app.help())) ? kFine : kFailed;
  } catch (const CLI::CallForVersion&) {
    return RunVersion();
  } catch (const CLI::ParseError& error) {
    return ReportBadArguments(app, error);
  }
  if (plan->parsed()) return RunPlan(arguments);
  if (version->parsed()) return RunVersion();
  if (const auto status = serve.Run(BERTH_VERSION)) return *status;
  if (const auto status = store_commands.Run()) return *status;
  if (const auto status = inspect_commands.Run()) return *status;
  if (const auto status = manual_commands.Run()) return *status;
  fmt::print(stderr, "{}",
             AsInvoked(fmt::format("berth: a command is missing: {}; see berth --help\n",
                                   CommandNames(app, "or"))));
  return kBadUsage;
}

}  // namespace
}  // namespace berth::cli

int main(int argc, char** argv) {
  // A reader that closes the pipe (`| head`) is not a failure. PrintOut handles it.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return berth::cli::Main(argc, argv);
  } catch (const std::exception& error) {  // In practice, out of memory.
    std::fprintf(stderr, "berth: %s\n", error.what());
    return berth::cli::kFailed;
  }
}
