#include "berth/inspect/top_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "base/go_text.h"
#include "berth/inspect/column_table.h"
#include "berth/inspect/growth_text.h"
#include "berth/text.h"
#include "codec/timestamp.h"

namespace berth::cli {
namespace {

using alloc::State;
using base::U128;
using Cell = ColumnTable::Cell;
using Column = ColumnTable::Column;
using inspect::Attention;
using inspect::BandFigures;
using inspect::Cluster;
using inspect::Severity;
using inspect::TopRange;
using inspect::TopView;

constexpr size_t kAttentionShown = 20;

std::string_view MarkOf(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "-";
    case Severity::kWarning:
      return "!";
    case Severity::kCritical:
      break;
  }
  return "!!";
}

Color ColorOf(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return Color::kNone;
    case Severity::kWarning:
      return Color::kYellow;
    case Severity::kCritical:
      break;
  }
  return Color::kRed;
}

/// Returns the values that are not free, out of the usable ones.
std::string UsedOf(U128 usable, U128 free) {
  return fmt::format("{}/{}", ShortNumber(usable - free), ShortNumber(usable));
}

Cell BandCell(const BandFigures& band) {
  if (!band.span) return {"-"};
  const U128 free = band.counts[State::kFree];
  return {UsedOf(band.Usable(), free), free == 0 ? Color::kRed : Color::kNone};
}

Cell CountCell(U128 count) { return {count == 0 ? "-" : ShortNumber(count)}; }

std::vector<Column> RangeColumns(bool wide) {
  std::vector<Column> columns = {{},
                                 {.title = "RANGE", .shrinks = true},
                                 {.rank = 3, .gauge = true},
                                 {.title = "USED", .right = true},
                                 {.title = "VALUES", .right = true, .rank = 2},
                                 {.title = "STATIC", .right = true, .rank = 6},
                                 {.title = "DYNAMIC", .right = true, .rank = 5},
                                 {.title = "RESERVED", .right = true, .rank = 8},
                                 {.title = "SPILL", .right = true, .rank = 7},
                                 {.title = "GROWTH", .right = true, .rank = 4},
                                 {.title = "FULL IN", .right = true, .rank = 1}};
  if (!wide) return columns;
  for (const char* title : {"FREE", "COOLING", "EXCLUDED", "NO SERVICE", "NAMED IN DYNAMIC"}) {
    columns.push_back({.title = title, .right = true});
  }
  columns.push_back({.title = "STATE"});
  columns.push_back({.title = "SOURCE"});
  return columns;
}

std::string StateOf(const TopRange& range) {
  const alloc::RangeRow& row = *range.ref.row;
  if (row.leaving || row.makes_way) return "leaving";
  if (!row.open) return "closed";
  return row.layout.strict() ? "open, strict" : "open";
}

std::vector<Cell> RangeCells(const TopRange& range, bool wide) {
  const auto counts = range.figures.Counts();
  const double percent = range.figures.PercentUsed();
  const bool judged = range.worst >= Severity::kWarning;
  const Color color = judged ? ColorOf(*range.worst) : Color::kNone;
  const uint64_t spill = range.figures.Spill();
  std::vector<Cell> cells = {
      {judged ? std::string(MarkOf(*range.worst)) : "", color},
      {base::ToVisible(range.label), color == Color::kNone ? Color::kBold : color},
      Cell::Gauge(percent),
      {PercentText(percent)},
      {UsedOf(range.figures.Usable(), range.figures.Free())},
      BandCell(range.figures.static_band),
      BandCell(range.figures.dynamic_band),
      CountCell(counts[State::kReserved]),
      {range.origins_known ? CountCell(spill).text : "?",
       spill > 0 ? Color::kYellow : Color::kNone},
      {range.growth.Known() ? RateText(range.growth.likely) : "?"},
      {FullInText(range.full)}};
  if (!wide) return cells;
  cells.push_back(CountCell(range.figures.Free()));
  cells.push_back(CountCell(counts[State::kCooling]));
  cells.push_back(CountCell(counts[State::kExcluded]));
  cells.push_back(CountCell(range.orphans));
  cells.push_back({range.origins_known ? CountCell(range.figures.dynamic_band.named).text : "?"});
  cells.push_back({StateOf(range)});
  cells.push_back({base::ToVisible(range.ref.range->source)});
  return cells;
}

std::string RangesTable(const TopView& view, const Paint& paint, bool wide) {
  ColumnTable table(RangeColumns(wide));
  for (const TopRange& range : view.ranges) table.Add(RangeCells(range, wide));
  return table.Text(paint, {.tight = true, .fit = !wide});
}

std::string ServicesLine(const Cluster& cluster, const TopView& view, const Paint& paint) {
  std::string types;
  for (const auto& [type, count] : view.types) {
    types += fmt::format("{}{} {}", types.empty() ? ": " : ", ", WithSeparators(U128(count)),
                         base::ToVisible(type));
  }
  return Wrapped(Plural(cluster.services.size(), "Service", "Services") + types, 0,
                 ProseWidth(paint));
}

std::string AttentionText(const TopView& view, const Paint& paint) {
  constexpr size_t kMarkColumns = 3;
  const bool urgent = !view.attention.empty() && view.attention[0].severity > Severity::kNote;
  std::string out = urgent ? paint.In(Color::kBold, "Needs attention")
                           : paint.In(Color::kGreen, "Nothing needs attention");
  out = "\n" + out + "\n";
  const size_t shown = std::min(kAttentionShown, view.attention.size());
  for (const Attention& each : std::span(view.attention).first(shown)) {
    constexpr size_t kText = kIndent + kMarkColumns;
    std::string lines = Wrapped(base::ToVisible(each.message), kText, ProseWidth(paint));
    const std::string mark = paint.In(ColorOf(each.severity), MarkOf(each.severity));
    out += lines.replace(kIndent, MarkOf(each.severity).size(), mark);
    out += AdviceLines(each.advice, kText, paint);
  }
  if (shown < view.attention.size()) {
    out += fmt::format("  and {} more; -o json lists all\n",
                       WithSeparators(U128(view.attention.size() - shown)));
  }
  return out;
}

std::string HoldersText(const TopView& view, const Paint& paint) {
  if (view.holders.empty()) return {};
  ColumnTable table({{.title = "NAMESPACE", .shrinks = true},
                     {.title = "ADDRESSES", .right = true},
                     {.title = "PORTS", .right = true},
                     {.title = "SERVICES", .right = true, .rank = 1}});
  for (const inspect::Holder& holder : view.holders) {
    table.Add({{base::ToVisible(holder.name_space)},
               CountCell(holder.addresses),
               CountCell(holder.ports),
               CountCell(holder.services)});
  }
  std::string out =
      "\n" + paint.In(Color::kBold, "Who holds most") + "\n" + table.Text(paint, {.tight = true});
  if (view.namespaces > view.holders.size()) {
    out += fmt::format("  and {}\n", Plural(view.namespaces - view.holders.size(), "more namespace",
                                            "more namespaces"));
  }
  return out;
}

std::string GapsText(const TopView& view, const Paint& paint) {
  std::string out;
  const bool from_creations = std::ranges::any_of(view.ranges, [](const TopRange& range) {
    return range.growth.basis == inspect::GrowthBasis::kCreationTimes;
  });
  if (view.gaps.empty() && !from_creations) return {};
  out = "\n" + paint.In(Color::kBold, "What this cannot tell") + "\n";
  for (const inspect::Gap& gap : view.gaps) {
    out += Wrapped(base::ToVisible(gap.what) + ".", kIndent, ProseWidth(paint));
    out += AdviceLines(gap.advice, 2 * kIndent, paint);
  }
  if (from_creations) out += Wrapped(kCreationTimesNote, kIndent, ProseWidth(paint));
  return out;
}

}  // namespace

std::string AdviceLines(std::string_view advice, size_t indent, const Paint& paint) {
  if (advice.empty()) return {};
  const std::string_view arrow = paint.Char("→", "->");
  const size_t column = indent + DisplayWidth(arrow) + 1;
  std::string lines = Wrapped(base::ToVisible(std::string(advice)), column, ProseWidth(paint));
  return lines.replace(indent, DisplayWidth(arrow), arrow);
}

std::string SourceLine(const Cluster& cluster, const Paint& paint) {
  std::string details;
  const auto add = [&details](std::string_view text) {
    if (text.empty()) return;
    details += (details.empty() ? "" : ", ") + std::string(text);
  };
  if (cluster.server == inspect::ServerKind::kKubernetes) add("Kubernetes");
  if (cluster.server == inspect::ServerKind::kBerth) add("Berth");
  add(base::ToVisible(cluster.version));
  if (cluster.revision > 0) add(fmt::format("revision {}", cluster.revision));
  std::string time = codec::FormatTime(cluster.read_at);
  time.replace(time.find('T'), 1, " ").replace(time.find('Z'), 1, " UTC");
  add(time);
  const std::string source = base::ToVisible(cluster.source);
  if (DisplayWidth(source) + kColumnGap + DisplayWidth(details) <= paint.width()) {
    return fmt::format("{}{:{}}{}\n", paint.In(Color::kBold, source), "", kColumnGap, details);
  }
  return paint.In(Color::kBold, Shortened(source, paint.width(), paint.Ellipsis())) + "\n" +
         Wrapped(details, 0, ProseWidth(paint));
}

std::string TopText(const Cluster& cluster, const TopView& view, const Style& style, bool wide) {
  const Paint paint(style);
  return SourceLine(cluster, paint) + ServicesLine(cluster, view, paint) + "\n" +
         RangesTable(view, paint, wide) + AttentionText(view, paint) + HoldersText(view, paint) +
         GapsText(view, paint);
}

}  // namespace berth::cli
