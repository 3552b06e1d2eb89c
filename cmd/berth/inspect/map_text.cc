#include "berth/inspect/map_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/go_text.h"
#include "berth/inspect/document_parts.h"
#include "berth/inspect/gaps_text.h"
#include "berth/inspect/heading_text.h"
#include "berth/inspect/map_cells_text.h"
#include "berth/inspect/map_layout.h"
#include "berth/paint.h"
#include "berth/text.h"
#include "inspect/names.h"

namespace berth::cli {
namespace {

using alloc::Band;
using alloc::Interval;
using alloc::PoolId;
using alloc::State;
using base::U128;
using inspect::CellMark;
using inspect::MapCell;

/// Something that a line above the cells points at.
struct Pointer {
  U128 value = 0;
  std::string text = {};
  std::string brief = {};  ///< Where the text does not fit.
};

MapCell SumOf(const std::vector<MapCell>& cells) {
  MapCell sum = cells.front();
  for (const MapCell& cell : std::span(cells).subspan(1)) sum.Add(cell);
  return sum;
}

std::string CountOf(U128 count, PoolId pool) {
  return fmt::format("{} {}", ShortNumber(count), ShortNoun(KindOf(pool), count));
}

std::string MapHeading(const MapView& view, const MapLayout& layout, const Paint& paint) {
  const PoolId pool = view.whole.range.pool;
  std::string out = HeadingText(paint, base::ToVisible(inspect::TitleOf(view.whole.range)),
                                KindNoun(KindOf(pool), 2));
  const Interval all = inspect::AllValuesOf(*view.whole.range.row);
  std::string text;
  if (view.part != all) {
    text = fmt::format("The part {}. ", paint.Bounds(KindOf(pool), view.part));
  }
  text += fmt::format("A cell is {}, a row is {}.", CountOf(layout.cell, pool),
                      ShortNumber(layout.cell * layout.columns));
  const auto* range = view.whole.range.range;
  if (range != nullptr && !range->exact) text += fmt::format(" The range is {}.", range->source);
  if (!view.whole.range.row->open) text += " It takes no new Services.";
  return out + "\n" + Wrapped(text, kIndent, paint.prose_width()) + "\n";
}

/// Returns the line that says how far each column is from the beginning of its row.
std::string Ruler(const MapLayout& layout, size_t margin, const Paint& paint) {
  const size_t ticks = layout.columns % 5 == 0 ? 5 : layout.columns >= 64 ? 4 : 2;
  const size_t step = layout.columns / ticks;
  std::string line(margin, ' ');
  for (size_t i = 0; i < ticks; ++i) {
    const std::string number = "+" + ShortNumber(layout.cell * step * i);
    // A number that reaches into the next one says nothing.
    line += PadRight(number.size() < step ? number : "", step);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return paint.In(Color::kDim, line) + "\n";
}

/// Returns a line with an arrow down to the cell of a value, and a text on the side with room.
std::string PointerLine(const Pointer& pointer, size_t column, size_t margin, const Paint& paint) {
  const std::string arrow(paint.Char("▾", "v"));
  const size_t at = margin + column;
  for (const std::string& text : {pointer.text, pointer.brief}) {
    const size_t width = DisplayWidth(text) + 2;
    if (at + width <= paint.width()) {
      return std::string(at, ' ') + paint.In(Color::kBold, arrow + " " + text) + "\n";
    }
    if (width <= at + 1) {
      return std::string(at + 1 - width, ' ') + paint.In(Color::kBold, text + " " + arrow) + "\n";
    }
  }
  return std::string(at, ' ') + paint.In(Color::kBold, arrow) + "\n";
}

std::vector<Pointer> PointersOf(const inspect::Census& census, const MapView& view) {
  std::vector<Pointer> pointers;
  const PoolId pool = view.whole.range.pool;
  const alloc::Layout& layout = view.whole.range.row->layout;
  const auto dynamic = layout.BandSpan(Band::kDynamic);
  const auto in_static = layout.BandSpan(Band::kStatic);
  if (dynamic && in_static && view.part.Contains(dynamic->first)) {
    pointers.push_back({.value = dynamic->first,
                        .text = fmt::format("dynamic band from {}",
                                            alloc::TextOf({.pool = pool, .value = dynamic->first})),
                        .brief = "dynamic band"});
  }
  if (view.at && view.part.Contains(*view.at)) {
    const alloc::PoolValue value{.pool = pool, .value = *view.at};
    std::string text = alloc::TextOf(value);
    const auto uses = census.UsesOf(value);
    if (!uses.empty()) {
      text += " " + base::ToVisible(inspect::PathOf(*uses.front().service));
    } else {
      text += fmt::format(" {}", inspect::NameOf(census.StateIn(*view.whole.range.row, value)));
    }
    pointers.push_back({.value = *view.at, .text = std::move(text), .brief = alloc::TextOf(value)});
  }
  return pointers;
}

std::string Drawing(const inspect::Census& census, const MapView& view, const MapLayout& layout,
                    const std::vector<MapCell>& cells, const MapBrush& brush, const Paint& paint) {
  const size_t margin = kIndent + layout.label_width + kIndent;
  const std::vector<Pointer> pointers = PointersOf(census, view);
  const auto row_of = [&](size_t row) {
    const size_t begin = std::min(row * layout.columns, cells.size());
    return std::span(cells).subspan(begin, std::min(layout.columns, cells.size() - begin));
  };
  std::string out = Ruler(layout, margin, paint);
  for (size_t row = 0; row < layout.rows; row += brush.RowsPerLine()) {
    for (const Pointer& pointer : pointers) {
      const auto cell = static_cast<size_t>((pointer.value - view.part.first) / layout.cell);
      const size_t of = cell / layout.columns;
      if (of < row || of >= row + brush.RowsPerLine()) continue;
      out += PointerLine(pointer, cell % layout.columns, margin, paint);
    }
    const auto lower = brush.RowsPerLine() == 2 ? row_of(row + 1) : std::span<const MapCell>();
    out += std::string(kIndent, ' ') + PadRight(layout.labels[row], layout.label_width) +
           std::string(kIndent, ' ') + brush.Line(row_of(row), lower) + "\n";
  }
  return out;
}

/// Returns the free values of the part that are in the static band.
U128 FreeStatic(const inspect::Census& census, const MapView& view) {
  const auto band = view.whole.range.row->layout.BandSpan(Band::kStatic);
  const auto common = band ? alloc::Intersection(*band, view.part) : std::nullopt;
  if (!common) return 0;
  return inspect::MapCells(census, view.whole.range, *common, 1).front().counts[State::kFree];
}

/// Returns the number of values that each mark stands for.
std::array<U128, inspect::kCellMarks> CountsByMark(const MapCell& sum, U128 free_static) {
  std::array<U128, inspect::kCellMarks> counts{};
  const auto at = [&counts](CellMark mark) -> U128& { return counts[static_cast<size_t>(mark)]; };
  at(CellMark::kTaken) = sum.counts[State::kTaken] - sum.named_in_dynamic - sum.spill;
  at(CellMark::kNamedInDynamic) = sum.named_in_dynamic;
  at(CellMark::kSpill) = sum.spill;
  at(CellMark::kReserved) = sum.counts[State::kReserved];
  at(CellMark::kCooling) = sum.counts[State::kCooling];
  at(CellMark::kTwice) = sum.twice;
  at(CellMark::kExcluded) = sum.counts[State::kExcluded];
  at(CellMark::kFreeStatic) = free_static;
  at(CellMark::kFree) = sum.counts[State::kFree] - free_static;
  return counts;
}

/// Returns the meaning of the marks, in as many columns as fit.
std::string Legend(const MapCell& sum, U128 free_static, bool shaded, const MapBrush& brush,
                   const Paint& paint) {
  constexpr size_t kSamples = 4;  // Columns of the widest sample.
  const auto counts = CountsByMark(sum, free_static);
  std::string out;
  size_t used = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const auto mark = static_cast<CellMark>(i);
    const std::string text = fmt::format(" {} {}", MeaningOf(mark), ShortNumber(counts[i]));
    const size_t width = (shaded ? kSamples : 1) + DisplayWidth(text) + kColumnGap;
    if (used > 0 && kIndent + used + width > paint.prose_width() + kColumnGap) used = 0;
    if (used == 0) out += (out.empty() ? "" : "\n") + std::string(kIndent, ' ');
    out += (used == 0 ? "" : std::string(kColumnGap, ' ')) + brush.Sample(mark, shaded) + text;
    used += width;
  }
  return out + "\n";
}

std::string Summary(const MapView& view, const MapCell& sum, const MapLayout& layout,
                    const Paint& paint) {
  const PoolId pool = view.whole.range.pool;
  std::string text = fmt::format("{} of {} are not free ({}).", ShortNumber(sum.Used()),
                                 CountOf(sum.Usable(), pool), PercentText(100 * sum.Fill()));
  if (layout.cell > 1) {
    const U128 at = view.at.value_or(view.part.first);
    text += fmt::format(" Look closer with --at {} --depth {}.",
                        alloc::TextOf({.pool = pool, .value = at}), view.depth + 1);
  }
  return Wrapped(text, kIndent, paint.prose_width());
}

}  // namespace

std::string MapText(const inspect::Census& census, const MapView& view, const Style& style) {
  const Paint paint(style);
  const MapBrush brush(style);
  const size_t rows = brush.RowsPerLine() * kMapRows / 2;
  const MapLayout layout = LayOutMap(view.whole.range.pool, view.part, paint.width(), rows,
                                     std::string(paint.Char("…", "..")));
  const std::vector<MapCell> cells =
      inspect::MapCellsOfSize(census, view.whole.range, view.part, layout.cell);
  const MapCell sum = SumOf(cells);
  return MapHeading(view, layout, paint) + Drawing(census, view, layout, cells, brush, paint) +
         "\n" + Legend(sum, FreeStatic(census, view), layout.cell > 1, brush, paint) + "\n" +
         Summary(view, sum, layout, paint);
}

std::string MapListText(const inspect::Census& census, const Style& style) {
  constexpr size_t kStrip = 64;
  const Paint paint(style);
  // A strip has one row, so half blocks would leave its lower half empty.
  const MapBrush brush({.color = style.color, .utf8 = style.utf8, .width = style.width});
  std::string out;
  for (const inspect::RangeRef& range : census.ranges()) {
    const inspect::RangeFigures figures = census.FiguresOf(range);
    if (!out.empty()) out += "\n";
    out += HeadingText(
        paint, base::ToVisible(inspect::TitleOf(range)),
        fmt::format("{} of {} are not free ({})", ShortNumber(figures.Usable() - figures.Free()),
                    CountOf(figures.Usable(), range.pool), PercentText(figures.PercentUsed())));
    const auto cells = inspect::MapCells(census, range, inspect::AllValuesOf(*range.row),
                                         std::min(kStrip, paint.width() - 2 * kIndent));
    out += std::string(kIndent, ' ') + brush.Line(cells, cells) + "\n";
  }
  if (out.empty()) out = "The source shows no ranges; give --service-cidr.\n";
  return out + GapsText(census.cluster(), paint);
}

}  // namespace berth::cli
