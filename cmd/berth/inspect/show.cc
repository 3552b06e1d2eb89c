#include "berth/inspect/show.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/go_text.h"
#include "berth/exit_code.h"
#include "berth/inspect/live_source.h"
#include "berth/inspect/load_cluster.h"
#include "berth/inspect/range_sources.h"
#include "berth/paint.h"
#include "berth/store/open.h"
#include "berth/text.h"
#include "codec/json.h"
#include "codec/yaml.h"

namespace berth::cli {
namespace {

std::string RenderAnswer(const Answer& answer, const inspect::Census& census,
                         const std::string& format) {
  if (format == "json") return codec::WriteJson(answer.document(census), {.indent = 2}) + "\n";
  if (format == "yaml") {
    return codec::WriteYaml(answer.document(census), codec::YamlOrder::kAsGiven);
  }
  const Style style = DetectStyle(kInspectWidths);
  return answer.text(census, style, format == "wide") + "\n" +
         Wrapped(RangeSources(census.cluster()), 0, Paint(style).prose_width());
}

/// Where an answer of several goes.
struct Frame {
  std::string notice = {};            // The first lines of a table on a screen.
  std::string_view before = {};       // Printed before it.
  std::optional<Screen> screen = {};  // The terminal that has to show it, if any.
};

/// How printing an answer ended.
struct Printed {
  bool done = false;  // False if there was nothing to print, or if it could not be written.
  int code = kFailed;
};

/// Prints the answer for one view.
Printed PrintAnswer(std::string_view command, const inspect::Cluster& cluster,
                    const OutputArguments& output, const Answer& answer, const Frame& frame = {}) {
  const inspect::Census census(cluster);
  if (answer.check) {
    if (const auto checked = answer.check(census); !checked) {
      return {.code = ReportError(command, checked.error())};
    }
  }
  std::string text = RenderAnswer(answer, census, output.format);
  // A part of a document is of no use.
  const bool cut = frame.screen && (output.format == "table" || output.format == "wide");
  if (cut) text = FitToScreen(frame.notice + text, *frame.screen);
  if (!PrintOut(std::string(frame.before) + text)) return {};
  return {.done = true, .code = answer.exit_code ? answer.exit_code(census) : kFine};
}

/// Returns what people must not overlook, for an answer that is not up to date.
std::string NoticeOf(const LiveSource& live) {
  if (live.troubles().empty()) return {};
  constexpr std::string_view kNotUpToDate = "Not up to date";
  const Paint paint(DetectStyle(kInspectWidths));
  std::string lines =
      Wrapped(fmt::format("{}: {}", kNotUpToDate, base::ToVisible(live.troubles().front().what)), 0,
              paint.prose_width());
  return lines.replace(0, kNotUpToDate.size(), paint.In(Color::kRed, kNotUpToDate));
}

/// Prints the answer again whenever the cluster has changed, until the user ends the program or
/// the reader of the output closes it. A terminal shows the newest answer only; in a pipe a blank
/// line separates them.
int ShowLive(std::string_view command, const SourceArguments& source, const OutputArguments& output,
             const Answer& answer) {
  // A busy cluster changes many times a second, and people do not read that fast.
  constexpr std::chrono::seconds kPause{1};
  // A terminal shows ages and the time, so it is drawn again without a change too.
  constexpr std::chrono::seconds kRedraw{5};
  const base::SystemClock clock;
  auto running = LoadRunning(source, clock);
  if (!running) return ReportError(command, running.error());
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  const std::string_view next = terminal ? "\033[H\033[J" : "\n";
  Printed printed =
      PrintAnswer(command, running->view, output, answer,
                  {.before = terminal ? "\033[2J\033[H" : "", .screen = DetectScreen()});
  LiveSource live(running->access, std::move(running->view), running->readable, clock);
  while (printed.done && OutputHasReader()) {
    if (!live.WaitForNews(kRedraw) && !terminal) continue;
    const inspect::Cluster view = live.View();
    printed = PrintAnswer(command, view, output, answer,
                          {.notice = NoticeOf(live), .before = next, .screen = DetectScreen()});
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
  const auto cluster = LoadCluster(source, clock, !answer.needs_all_services);
  if (!cluster) return ReportError(command, cluster.error());
  return PrintAnswer(command, *cluster, output, answer).code;
}

}  // namespace berth::cli
