#include "berth/inspect/top_command.h"

#include <optional>
#include <utility>

#include "berth/inspect/past_source.h"
#include "berth/inspect/show.h"
#include "berth/inspect/top_document.h"
#include "berth/inspect/top_text.h"
#include "berth/observe/history_document.h"
#include "berth/store/open.h"
#include "inspect/top.h"

namespace berth::cli {

int RunTop(const TopArguments& arguments) {
  std::optional<history::HistoryReader> reader;
  if (!arguments.history.empty()) {
    auto opened = OpenHistoryReader(arguments.history);
    if (!opened) return ReportError("top", opened.error());
    reader = *std::move(opened);
  }
  const auto top = [&](const inspect::Census& census) {
    inspect::TopOptions options{.given_history = reader.has_value()};
    if (reader) options.history = PastUse(*reader, census);
    return inspect::MakeTop(census, options);
  };
  const Answer answer{
      .text = [&](const inspect::Census& census, const Style& style,
                  bool wide) { return TopText(census.cluster(), top(census), style, wide); },
      .document =
          [&](const inspect::Census& census) {
            return TopDocument(census.cluster(), top(census));
          }};
  return Show("top", arguments.source, arguments.output, answer);
}

}  // namespace berth::cli
