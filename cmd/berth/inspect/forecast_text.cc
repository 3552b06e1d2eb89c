#include "berth/inspect/forecast_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/go_text.h"
#include "berth/inspect/gaps_text.h"
#include "berth/inspect/growth_text.h"
#include "berth/inspect/top_text.h"
#include "berth/paint.h"
#include "berth/text.h"
#include "inspect/attention.h"

namespace berth::cli {
namespace {

using inspect::Growth;
using inspect::Outlook;
using inspect::RangeForecast;
using inspect::TimeToFull;

constexpr size_t kForecastGauge = 20;
constexpr size_t kForecastLabel = 14;  // Columns of the longest label and the gap after it.

/// Returns a label and a text, which is wrapped beside it.
std::string LabelledText(std::string_view label, const std::string& text, const Paint& paint) {
  std::string lines = Wrapped(text, kIndent + kForecastLabel, ProseWidth(paint));
  return lines.replace(0, kIndent + kForecastLabel,
                       std::string(kIndent, ' ') + PadRight(label, kForecastLabel));
}

std::string GrowthText(const Growth& growth) {
  if (!growth.Known()) return fmt::format("unknown: {}", BasisText(growth));
  std::string out = RateText(growth.likely);
  const std::string low = RateText(growth.low);
  const std::string high = RateText(growth.high);
  if (low != out || high != out) out += fmt::format(" ({} to {})", low, high);
  out += ", " + BasisText(growth);
  if (growth.burst > 0) {
    out +=
        fmt::format("; without {} at once", WithSeparators(static_cast<base::U128>(growth.burst)));
  }
  return out;
}

std::string FullText(const TimeToFull& full, base::WallTime now, const Paint& paint,
                     std::string_view label) {
  std::string out = LabelledText(label, FullSentence(full, now), paint);
  if (!full.known || !full.likely || *full.likely > inspect::kSoonDays) return out;
  // Colour comes after wrapping, because colour codes have no width.
  const size_t begin = kIndent + kForecastLabel;
  const size_t end = std::min(out.find_first_of(",(\n", begin), out.size());
  const std::string answer = out.substr(begin, end - begin);
  return out.replace(
      begin, answer.size(),
      paint.In(*full.likely > inspect::kVerySoonDays ? Color::kYellow : Color::kRed, answer));
}

std::string OutlookText(const Outlook& outlook, base::WallTime now, const Paint& paint) {
  return LabelledText("Growth", GrowthText(outlook.growth), paint) +
         FullText(outlook.dynamic_full, now, paint, "Dynamic full") +
         FullText(outlook.full, now, paint, "Range full");
}

std::string RangeHeading(const RangeForecast& forecast, const Paint& paint) {
  const inspect::TopRange& range = forecast.range;
  const double percent = range.figures.PercentUsed();
  const std::string used =
      fmt::format("{} of {} used", ShortNumber(forecast.now.usable - forecast.now.free),
                  ShortNumber(forecast.now.usable));
  const std::string gap(kColumnGap, ' ');
  std::string line = paint.In(Color::kBold, base::ToVisible(range.label)) + gap + used;
  size_t width = DisplayWidth(base::ToVisible(range.label)) + kColumnGap + DisplayWidth(used);
  if (width + kColumnGap + kForecastGauge + kColumnGap + PercentText(percent).size() <=
      paint.width()) {
    line += gap + paint.Gauge(percent, kForecastGauge);
    width += kColumnGap + kForecastGauge;
  }
  if (width + kColumnGap + PercentText(percent).size() <= paint.width()) {
    line += gap + PercentText(percent);
  }
  return line + "\n";
}

std::string ResizedText(const inspect::Resized& resized, std::string_view add, base::WallTime now,
                        const Paint& paint) {
  std::string heading = "As " + resized.text;
  if (!add.empty()) heading += fmt::format(", with {} more", add);
  std::string out = "\n  " + paint.In(Color::kBold, heading) + "\n";
  out += LabelledText(
      "Values",
      fmt::format("{} usable, {} free, {} of them dynamic", ShortNumber(resized.outlook.usable),
                  ShortNumber(resized.outlook.free), ShortNumber(resized.outlook.dynamic_free)),
      paint);
  out += OutlookText(resized.outlook, now, paint);
  if (resized.blockers == 0) {
    return out + LabelledText("In the way", "no value in use lies outside", paint);
  }
  std::string named;
  for (const inspect::OutsideUse& each : resized.first_blockers) {
    named += fmt::format("{}{} of {}", named.empty() ? "" : ", ", each.value,
                         base::ToVisible(each.service));
  }
  if (resized.blockers > resized.first_blockers.size()) named += ", ...";
  out += LabelledText("In the way",
                      fmt::format("{} in use {} outside: {}; berth blockers lists all",
                                  Plural(resized.blockers, "value", "values"),
                                  resized.blockers == 1 ? "lies" : "lie", named),
                      paint);
  return out;
}

std::string RangeText(const RangeForecast& forecast, std::string_view add, bool given_history,
                      base::WallTime now, const Paint& paint) {
  std::string out = "\n" + RangeHeading(forecast, paint);
  if (!forecast.range.ref.range->exact) {
    out += Wrapped("The range is " + base::ToVisible(forecast.range.ref.range->source) + ".",
                   kIndent, ProseWidth(paint));
  }
  if (given_history && forecast.now.growth.basis != inspect::GrowthBasis::kHistory) {
    out += Wrapped(fmt::format("{}.", inspect::kHistoryTooShort), kIndent, ProseWidth(paint));
  }
  out += OutlookText(forecast.now, now, paint);
  if (forecast.with_added) {
    out += "\n  " + paint.In(Color::kBold, fmt::format("With {} more", add)) + "\n";
    out += OutlookText(*forecast.with_added, now, paint);
  }
  for (const inspect::Resized& resized : forecast.resized) {
    out += ResizedText(resized, add, now, paint);
  }
  return out;
}

}  // namespace

std::string ForecastText(const inspect::Cluster& cluster, const inspect::ForecastView& view,
                         std::string_view add, const Style& style) {
  const Paint paint(style);
  std::string out = SourceLine(cluster, paint);
  bool from_creations = false;
  for (const RangeForecast& forecast : view.ranges) {
    out += RangeText(forecast, add, view.given_history, cluster.read_at, paint);
    from_creations =
        from_creations || forecast.now.growth.basis == inspect::GrowthBasis::kCreationTimes;
  }
  if (view.ranges.empty()) out += "\nThere is no range to look at.\n";
  if (from_creations) out += "\n" + Wrapped(kCreationTimesNote, 0, ProseWidth(paint));
  return out + GapsText(cluster, paint);
}

}  // namespace berth::cli
