#include "berth/flags/top_flags.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "berth/flags/command_set.h"
#include "berth/inspect/forecast_command.h"
#include "berth/inspect/top_command.h"

namespace berth::cli {
namespace {

constexpr const char* kTopHelp =
    "Shows how full the ranges of a cluster are, and what needs attention\n"
    "\n"
    "For each range: how much is used in its static and its dynamic band, how fast it fills, and\n"
    "when it is full. Below that: what needs attention and what to do, the namespaces that hold\n"
    "most, and what the source does not show. It only reads.";

constexpr const char* kTopExamples =
    "Examples:\n"
    "  kubectl get services,servicecidrs,ipaddresses -A -o json --show-managed-fields > all.json\n"
    "  berth top -f all.json\n"
    "  berth top -f all.json -o wide\n"
    "  kubectl get services -A -o json | berth top -f - --service-cidr 10.96.0.0/16\n"
    "  berth top -f all.json -o json | jq '.attention[] | select(.severity == \"critical\")'\n"
    "\n"
    "Exit status: 0 for success, 2 for invalid arguments or files, 1 for other errors.";

constexpr const char* kForecastHelp =
    "Shows when the ranges of a cluster will be full, and what if\n"
    "\n"
    "The growth of each range is estimated with a band of uncertainty. Without a history it comes\n"
    "from the creation times of the Services that exist now. --add and --resize show what changes\n"
    "if more values are taken, or if a range has another size. It only reads.";

constexpr const char* kForecastExamples =
    "Examples:\n"
    "  berth forecast -f all.json\n"
    "  berth forecast -f all.json --range 10.96.0.0/24 --add 500/week\n"
    "  berth forecast -f all.json --resize 10.96.0.0/20\n"
    "\n"
    "Exit status: 0 for success, 2 for invalid arguments or files, 1 for other errors.";

void AddHistoryFlag(CLI::App& command, std::string& directory) {
  command
      .add_option("--history", directory,
                  "Data directory of berth observe, to know the growth better")
      ->option_text("DIR");
}

}  // namespace

void AddTop(CommandSet& commands) {
  const auto arguments = std::make_shared<TopArguments>();
  CLI::App& top =
      commands.Add("top", kTopHelp, kTopExamples, [arguments] { return RunTop(*arguments); });
  AddHistoryFlag(top, arguments->history);
  AddSourceFlags(top, arguments->source);
  AddOutputFlags(top, arguments->output);
}

void AddForecast(CommandSet& commands) {
  const auto arguments = std::make_shared<ForecastArguments>();
  CLI::App& forecast = commands.Add("forecast", kForecastHelp, kForecastExamples,
                                    [arguments] { return RunForecast(*arguments); });
  forecast
      .add_option("--add", arguments->add,
                  "What if so many more values were taken from each range: 20/day, 500/week, "
                  "1000/month")
      ->option_text("RATE");
  forecast
      .add_option("--resize", arguments->resize, "What if the range had this size; may be repeated")
      ->option_text("CIDR|PORTS")
      ->expected(1)
      ->take_all();
  forecast.add_option("--range", arguments->range, "Only this range, by its name or its values")
      ->option_text("NAME");
  AddHistoryFlag(forecast, arguments->history);
  AddSourceFlags(forecast, arguments->source);
  AddOutputFlags(forecast, arguments->output);
}

}  // namespace berth::cli
