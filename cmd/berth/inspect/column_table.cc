#include "berth/inspect/column_table.h"

#include <algorithm>
#include <limits>

#include "berth/text.h"

namespace berth::cli {
namespace {

constexpr size_t kNarrowColumn = 8;  // No column shrinks below this width.
constexpr size_t kNarrowTerminal = 60;
constexpr size_t kTightGap = 2;
constexpr size_t kShortGauge = 6;
constexpr size_t kLongGauge = 20;

}  // namespace

size_t ColumnTable::Frame::Width() const {
  size_t width = shown.empty() ? 0 : (shown.size() - 1) * gap;
  for (const Shown& each : shown) width += each.width;
  return width;
}

/// Returns the columns that have content, as wide as that is.
std::vector<ColumnTable::Shown> ColumnTable::Filled() const {
  std::vector<Shown> filled;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = columns_[i].gauge ? kShortGauge : 0;
    for (const auto& row : rows_) width = std::max(width, DisplayWidth(row[i].text));
    const size_t title = DisplayWidth(columns_[i].title);
    if (width == 0 && title > 0) continue;
    filled.push_back({.column = i, .width = std::max(width, title)});
  }
  return filled;
}

/// Returns the rank of a column. Of those that may be left out, one without any figure goes first.
int ColumnTable::RankOf(const Shown& shown) const {
  constexpr int kNoFigures = 100;
  const int given = columns_[shown.column].rank;
  const bool no_figures =
      std::ranges::all_of(rows_, [&](const auto& row) { return row[shown.column].text == "-"; });
  return given > 0 && no_figures ? given + kNoFigures : given;
}

void ColumnTable::LeaveOut(Frame& frame, size_t room) const {
  while (frame.Width() > room) {
    const auto least = std::ranges::max_element(frame.shown, {},
                                                [this](const Shown& each) { return RankOf(each); });
    if (least == frame.shown.end() || RankOf(*least) == 0) return;
    frame.shown.erase(least);
  }
}

void ColumnTable::Shrink(Frame& frame, size_t room) const {
  while (frame.Width() > room) {
    Shown* widest = nullptr;
    for (Shown& each : frame.shown) {
      if (!columns_[each.column].shrinks || each.width <= kNarrowColumn) continue;
      if (widest == nullptr || each.width > widest->width) widest = &each;
    }
    if (widest == nullptr) return;
    --widest->width;
  }
}

std::string ColumnTable::Line(const std::vector<Cell>& row, const Frame& frame, size_t room,
                              const Paint& paint) const {
  std::string line(kIndent, ' ');
  size_t blanks = 0;  // Blanks that are needed only if more text follows.
  size_t used = 0;
  for (const Shown& each : frame.shown) {
    const Cell& cell = row[each.column];
    const bool right = columns_[each.column].right;
    // What does not fit even so is left out at the end of the line.
    const size_t width = std::min(each.width, room > used ? room - used : 0);
    const std::string cut = Shortened(cell.text, width, paint.Ellipsis());
    const size_t text = cell.percent ? width : std::min(DisplayWidth(cut), width);
    if (right) blanks += width - text;
    if (text > 0) {
      line.append(blanks, ' ');
      line += cell.percent ? paint.Gauge(*cell.percent, width) : paint.In(cell.color, cut);
      blanks = 0;
    }
    if (!right) blanks += width - text;
    blanks += frame.gap;
    used += each.width + frame.gap;
  }
  return line + "\n";
}

std::string ColumnTable::Text(const Paint& paint, const TableLayout& layout) const {
  if (rows_.empty()) return {};
  const size_t terminal = paint.width() > kIndent ? paint.width() - kIndent : 1;
  const size_t room = layout.fit ? terminal : std::numeric_limits<size_t>::max();
  const size_t loose = paint.width() < kNarrowTerminal ? 1 : kColumnGap;
  Frame frame{.shown = Filled(), .gap = layout.tight ? kTightGap : loose};
  LeaveOut(frame, room);
  Shrink(frame, room);
  for (Shown& each : frame.shown) {
    if (!columns_[each.column].gauge) continue;
    const size_t width = frame.Width();
    each.width = std::min(kLongGauge, each.width + (terminal > width ? terminal - width : 0));
  }
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.emplace_back(column.title, Color::kDim);
  std::string out = Line(titles, frame, room, paint);
  for (const auto& row : rows_) out += Line(row, frame, room, paint);
  return out;
}

}  // namespace berth::cli
