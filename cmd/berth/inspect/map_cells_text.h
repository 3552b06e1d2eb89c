// Draws the cells of a map: two rows to a line as half blocks, or characters.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "berth/terminal.h"
#include "inspect/range_map.h"

namespace berth::cli {

class MapBrush {
 public:
  explicit MapBrush(const Style& style) : style_(style) {}

  /// Returns how many rows a line has: 2 for half blocks.
  size_t RowsPerLine() const { return style_.color && style_.utf8 ? 2 : 1; }

  /// Returns a line of cells. `lower` is drawn below `upper` and may be shorter, or empty.
  std::string Line(std::span<const inspect::MapCell> upper,
                   std::span<const inspect::MapCell> lower) const;

  /// Returns a sample of a mark for the legend, in all its shades if cells can have them.
  std::string Sample(inspect::CellMark mark, bool shaded) const;

 private:
  std::string Glyph(inspect::CellMark mark, double fill) const;

  Style style_;
};

/// Returns what a mark means: "named in the dynamic band".
std::string_view MeaningOf(inspect::CellMark mark);

}  // namespace berth::cli
