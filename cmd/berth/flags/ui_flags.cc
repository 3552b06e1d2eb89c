// The flags of `berth ui`.
#include <CLI/CLI.hpp>
#include <memory>

#include "berth/flags/command_set.h"
#include "berth/ui/ui_command.h"

namespace berth::cli {
namespace {

constexpr const char* kUiHelp =
    "Shows the ranges of a cluster in the browser: a map to zoom, search, what if\n"
    "\n"
    "It serves a page on this machine, prints a link to it, and follows the cluster until Ctrl-C.\n"
    "The link works once, in one browser. The page only reads from the cluster, and the\n"
    "credentials never reach it.";

constexpr const char* kUiExamples =
    "Examples:\n"
    "  berth ui\n"
    "  berth ui --open\n"
    "  berth ui --context prod --port 8080\n"
    "  berth ui -f all.json\n"
    "  berth ui --history /var/lib/observer\n"
    "\n"
    "Exit status: 0 if a signal ended it, 2 for invalid arguments or files, 1 for other errors.";

}  // namespace

void AddUi(CommandSet& commands) {
  const auto arguments = std::make_shared<UiArguments>();
  arguments->version = BERTH_VERSION;
  CLI::App& ui =
      commands.Add("ui", kUiHelp, kUiExamples, [arguments] { return RunUi(*arguments); });
  ui.add_flag("--open", arguments->open, "Open the link in the browser");
  ui.add_option("--port", arguments->port, "Port on 127.0.0.1 (default: any free one)")
      ->option_text("PORT");
  ui.add_option("--history", arguments->history,
                "Data directory of berth observe, to show the past too")
      ->option_text("DIR");
  AddSourceFlags(ui, arguments->source);
}

}  // namespace berth::cli
