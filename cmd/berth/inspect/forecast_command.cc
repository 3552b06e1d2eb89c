#include "berth/inspect/forecast_command.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/go_text.h"
#include "berth/exit_code.h"
#include "berth/inspect/forecast_document.h"
#include "berth/inspect/forecast_text.h"
#include "berth/inspect/past_source.h"
#include "berth/inspect/show.h"
#include "berth/observe/history_document.h"
#include "berth/store/open.h"
#include "inspect/forecast.h"

namespace berth::cli {

int RunForecast(const ForecastArguments& arguments) {
  inspect::ForecastOptions options{.range = arguments.range, .resize = arguments.resize};
  if (!arguments.add.empty()) {
    options.add = inspect::ParseRate(arguments.add);
    if (!options.add) {
      return ReportError(
          "forecast",
          {.reason = base::Reason::kInvalid,
           .message = fmt::format("--add {}: must be a number of values per day, week, month or "
                                  "year, such as 500/week",
                                  base::GoQuoted(arguments.add))});
    }
  }
  std::optional<history::HistoryReader> reader;
  if (!arguments.history.empty()) {
    auto opened = OpenHistoryReader(arguments.history);
    if (!opened) return ReportError("forecast", opened.error());
    reader = *std::move(opened);
    options.given_history = true;
  }
  const auto forecast = [&](const inspect::Census& census) {
    if (reader) options.history = PastUse(*reader, census);
    return inspect::MakeForecast(census, options);
  };
  // Show asks for the check first, so the other two have a forecast.
  const Answer answer{.check = [&](const inspect::Census& census) -> base::Result<void> {
                        const auto view = forecast(census);
                        if (!view) return tl::unexpected(view.error());
                        return {};
                      },
                      .text =
                          [&](const inspect::Census& census, const Style& style, bool /*wide*/) {
                            return ForecastText(census.cluster(), *forecast(census), arguments.add,
                                                style);
                          },
                      .document =
                          [&](const inspect::Census& census) {
                            return ForecastDocument(census.cluster(), *forecast(census));
                          }};
  return Show("forecast", arguments.source, arguments.output, answer);
}

}  // namespace berth::cli
