#include "berth/plan/band_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "berth/text.h"

namespace berth::cli {
namespace {

constexpr size_t kWidestBar = 88;

/// Returns the number of cells of the static band: to scale, but at least one if it is not empty.
size_t StaticCells(const RangePlan& range, size_t cells) {
  if (!range.static_band.span) return 0;
  if (!range.dynamic_band.span) return cells;
  const auto part = static_cast<double>(range.static_band.span->Size());
  const auto whole = static_cast<double>(range.layout.span()->Size());
  const auto scaled = static_cast<size_t>(std::lround(part / whole * static_cast<double>(cells)));
  return std::clamp<size_t>(scaled, 1, cells - 1);
}

/// Returns the line with the first dynamic value, attached to the cell where its band begins, on
/// the side where it fits. If it fits on neither side of a narrow bar, it extends beyond the right
/// end.
std::string BorderLine(const std::string& border, size_t column, size_t cells, const Paint& paint) {
  const bool left = column + 2 + border.size() > cells && column > border.size();
  const std::string_view tick = paint.Char("│", "|");
  if (left) {
    return PadRight(tick, column - border.size() - 1).append(border).append(paint.Char(" ╯", " /"));
  }
  return PadRight(tick, column).append(paint.Char("╰ ", "\\ ")).append(border);
}

/// Returns the first and the last value under the ends of the bar, on two lines if necessary.
std::vector<std::string> EndLines(const std::string& first, const std::string& last, size_t cells,
                                  const Paint& paint) {
  const std::string begin = std::string(paint.Char("╰ ", "\\ ")).append(first);
  if (first == last) return {begin};
  const std::string end = std::string(last).append(paint.Char(" ╯", " /"));
  const size_t width = DisplayWidth(begin);
  if (width + 1 + DisplayWidth(end) > cells) {
    const std::string_view tick = paint.Char("│", "|");
    return {std::string(tick).append(PadLeft(end, cells - 1)), begin};
  }
  return {begin + PadLeft(end, cells - width)};
}

}  // namespace

std::string BandBar(const RangePlan& range, const Paint& paint) {
  const alloc::Interval& span = *range.layout.span();
  size_t cells = std::min(kWidestBar, paint.width() - 2 * kIndent);
  // There is nothing to scale with one value, and a long bar would look like many.
  if (span.first == span.last) cells = 1;
  const size_t column = StaticCells(range, cells);
  const auto line = [](const std::string& text) {
    return fmt::format("{:{}}{}\n", "", kIndent, text);
  };
  std::string out = line(paint.Cells(alloc::Band::kStatic, column) +
                         paint.Cells(alloc::Band::kDynamic, cells - column));
  if (column > 0 && column < cells) {
    const std::string border = ValueText(range.kind, range.dynamic_band.span->first);
    out += line(BorderLine(border, column, cells, paint));
  }
  for (const std::string& ends : EndLines(ValueText(range.kind, span.first),
                                          ValueText(range.kind, span.last), cells, paint)) {
    out += line(ends);
  }
  return out;
}

}  // namespace berth::cli
