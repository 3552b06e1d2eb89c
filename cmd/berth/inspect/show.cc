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

#include "base/go_text.h"
#include "berth/inspect/live_source.h"
#include "berth/inspect/range_sources.h"
#include "berth/paint.h"
#include "berth/store/open.h"
#include "berth/text.h"
#include "codec/json.h"
#include "codec/yaml.h"

namespace berth::cli {
namespace {

base::Result<Rendered> RenderAnswer(const inspect::Cluster& cluster, const Answer& answer,
                                    const std::string& format) {
  const inspect::Census census(cluster);
  if (answer.check) {
    if (const auto checked = answer.check(census); !checked) {
      return tl::unexpected(checked.error());
    }
  }
  Rendered rendered{.code = answer.exit_code ? answer.exit_code(census) : kFine};
  if (format == "json") {
    rendered.text = codec::WriteJson(answer.document(census), {.indent = 2}) + "\n";
  } else if (format == "yaml") {
    rendered.text = codec::WriteYaml(answer.document(census), codec::YamlOrder::kAsGiven);
  } else {
    const Style style = DetectStyle(kInspectWidths);
    rendered.text = answer.text(census, style, format == "wide") + "\n" +
                    Wrapped(RangeSources(census.cluster()), 0, Paint(style).prose_width());
  }
  return rendered;
}

/// Prints one answer of several. `before` is printed first, and `notice` are the first lines of a
/// table on a terminal.
bool PrintFrame(std::string_view before, const std::string& notice, const Rendered& rendered,
                bool table) {
  const std::optional<Screen> screen = DetectScreen();
  // A part of a document is of no use.
  return PrintOut(std::string(before) +
                  (screen && table ? FitToScreen(notice + rendered.text, *screen) : rendered.text));
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

}  // namespace

bool IsTable(std::string_view format) { return format == "table" || format == "wide"; }

base::Result<void> CheckFormat(std::string_view command, std::string_view format) {
  constexpr std::array<std::string_view, 4> kFormats = {"table", "wide", "json", "yaml"};
  if (std::ranges::find(kFormats, format) != kFormats.end()) return {};
  return base::Fail(base::Reason::kInvalid,
                    fmt::format("-o {}: must be table, wide, json or yaml; see berth {} --help",
                                base::GoQuoted(format), command));
}

base::Result<int> ShowAgain(RunningCluster running, const base::Clock& clock,
                            const LiveAnswer& answer) {
  // A busy cluster changes many times a second, and people do not read that fast.
  constexpr std::chrono::seconds kPause{1};
  // A terminal shows ages and the time, so it is drawn again without a change too.
  constexpr std::chrono::seconds kRedraw{5};
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  const std::string_view next = terminal ? "\033[H\033[J" : "\n";
  auto rendered = answer.render(running.view);
  if (!rendered) return tl::unexpected(rendered.error());
  if (!PrintFrame(terminal ? "\033[2J\033[H" : "", "", *rendered, answer.table)) {
    return answer.not_written;
  }
  LiveSource live(running.access, std::move(running.view), running.readable, clock);
  while (OutputHasReader()) {
    const bool news = live.WaitForNews(kRedraw);
    if (!news && !terminal && !answer.ripens) continue;
    const std::string last = std::move(rendered->text);
    rendered = answer.render(live.View());
    if (!rendered) return tl::unexpected(rendered.error());
    const bool shown = answer.ripens && !terminal && rendered->text == last;
    if (!shown && !PrintFrame(next, NoticeOf(live), *rendered, answer.table)) {
      return answer.not_written;
    }
    std::this_thread::sleep_for(kPause);
  }
  return rendered->code;
}

int Show(std::string_view command, const SourceArguments& source, const OutputArguments& output,
         const Answer& answer) {
  if (const auto checked = CheckFormat(command, output.format); !checked) {
    return ReportError(command, checked.error());
  }
  const base::SystemClock clock;
  const auto render = [&](const inspect::Cluster& view) {
    return RenderAnswer(view, answer, output.format);
  };
  if (output.watch) {
    auto running = LoadRunning(source, clock);
    if (!running) return ReportError(command, running.error());
    const auto shown =
        ShowAgain(*std::move(running), clock, {.render = render, .table = IsTable(output.format)});
    return shown ? *shown : ReportError(command, shown.error());
  }
  const auto cluster = LoadCluster(source, clock, !answer.needs_all_services);
  if (!cluster) return ReportError(command, cluster.error());
  const auto rendered = render(*cluster);
  if (!rendered) return ReportError(command, rendered.error());
  return PrintOut(rendered->text) ? rendered->code : kFailed;
}

}  // namespace berth::cli
