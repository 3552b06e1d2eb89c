#include "berth/inspect/show.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/go_text.h"
#include "berth/exit_code.h"
#include "berth/inspect/live_source.h"
#include "berth/inspect/load_cluster.h"
#include "berth/store/open.h"
#include "codec/json.h"
#include "codec/yaml.h"

namespace berth::cli {
namespace {

/// Tables are made for the terminal that is there.
constexpr WidthLimits kTableWidths{.narrowest = 40, .widest = 120};

std::string RenderAnswer(const Answer& answer, const inspect::Census& census,
                         const std::string& format) {
  if (format == "json") return codec::WriteJson(answer.document(census), {.indent = 2}) + "\n";
  if (format == "yaml") {
    return codec::WriteYaml(answer.document(census), codec::YamlOrder::kAsGiven);
  }
  return answer.text(census, DetectStyle(kInspectWidths), format == "wide");
}

/// How printing an answer ended.
struct Printed {
  bool done = false;  // False if there was nothing to print, or if it could not be written.
  int code = kFailed;
};

/// Prints the answer for one view.
Printed PrintAnswer(std::string_view command, const inspect::Cluster& cluster,
                    const OutputArguments& output, const Answer& answer, std::string_view before) {
  const inspect::Census census(cluster);
  if (answer.check) {
    if (const auto checked = answer.check(census); !checked) {
      return {.code = ReportError(command, checked.error())};
    }
  }
  if (!PrintOut(std::string(before) + RenderAnswer(answer, census, output.format))) return {};
  return {.done = true, .code = answer.exit_code ? answer.exit_code(census) : kFine};
}

/// Prints the answer again whenever the cluster has changed, until the user ends the program or
/// the reader of the output closes it. A terminal shows the newest answer only; in a pipe a blank
/// line separates them.
int ShowLive(std::string_view command, const SourceArguments& source, const OutputArguments& output,
             const Answer& answer) {
  // A busy cluster changes many times a second, and people do not read that fast.
  constexpr std::chrono::seconds kPause{1};
  const base::SystemClock clock;
  const auto running = LoadRunning(source, clock);
  if (!running) return ReportError(command, running.error());
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  const std::string_view first = terminal ? "\033[2J\033[H" : "";
  const std::string_view next = terminal ? "\033[H\033[J" : "\n";
  Printed printed = PrintAnswer(command, running->view, output, answer, first);
  LiveSource live(running->access, running->view, running->readable, clock);
  while (printed.done && OutputHasReader()) {
    live.WaitForNews();
    printed = PrintAnswer(command, live.View(), output, answer, next);
    std::this_thread::sleep_for(kPause);
  }
  return printed.code;
}

}  // namespace

int Show(std::string_view command, const SourceArguments& source, const OutputArguments& output,
         const Answer& answer) {
  constexpr std::array<std::string_view, 4> kFormats = {"table", "wide", "json", "yaml"};
  if (std::ranges::find(kFormats, output.format) == kFormats.end()) {
    return ReportError(
        command, {.reason = base::Reason::kInvalid,
                  .message = fmt::format("-o {}: must be table, wide, json or yaml; see berth {} "
                                         "--help",
                                         base::GoQuoted(output.format), command)});
  }
  if (output.watch) return ShowLive(command, source, output, answer);
  const base::SystemClock clock;
  const auto cluster = LoadCluster(source, clock);
  if (!cluster) return ReportError(command, cluster.error());
  return PrintAnswer(command, *cluster, output, answer, {}).code;
}

}  // namespace berth::cli
