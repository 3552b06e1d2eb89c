#include "berth/inspect/map_cells_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace berth::cli {
namespace {

using inspect::CellMark;
using inspect::MapCell;

constexpr size_t kShades = 4;

/// How a mark looks. The colours are numbers of the 256 that terminals have, from a cell with few
/// values in use to a full one.
struct MarkLook {
  std::array<int, kShades> colors;
  std::array<std::string_view, kShades> utf8;
  std::array<std::string_view, kShades> ascii;
  std::string_view meaning;
};

constexpr std::array<std::string_view, kShades> Same(std::string_view text) {
  return {text, text, text, text};
}

/// In the order of the marks.
constexpr std::array<MarkLook, inspect::kCellMarks> kLooks = {{
    {{245, 245, 245, 245}, Same("-"), Same("-"), "free, static band"},
    {{238, 238, 238, 238}, Same("·"), Same("."), "free"},
    {{22, 28, 34, 46}, {"░", "▒", "▓", "█"}, {":", "+", "%", "#"}, "taken"},
    {{94, 136, 178, 220}, Same("N"), Same("N"), "named in the dynamic band"},
    {{53, 90, 164, 201}, Same("S"), Same("S"), "drawn in the static band"},
    {{18, 25, 33, 39}, Same("R"), Same("R"), "reserved"},
    {{23, 30, 37, 51}, Same("C"), Same("C"), "cooling"},
    {{196, 196, 196, 196}, Same("!"), Same("!"), "taken twice"},
    {{52, 52, 52, 52}, Same("x"), Same("x"), "never given out"},
}};

const MarkLook& LookOf(CellMark mark) { return kLooks[static_cast<size_t>(mark)]; }

/// Returns the shade of a cell. Only a cell without free values has the strongest one.
size_t ShadeOf(double fill) {
  constexpr std::array<double, kShades - 1> kFrom = {0.125, 0.5, 1};
  return static_cast<size_t>(std::ranges::upper_bound(kFrom, fill) - kFrom.begin());
}

int ColorOf(const MapCell& cell) { return LookOf(cell.Mark()).colors[ShadeOf(cell.Fill())]; }

}  // namespace

std::string_view MeaningOf(CellMark mark) { return LookOf(mark).meaning; }

std::string MapBrush::Glyph(CellMark mark, double fill) const {
  const MarkLook& look = LookOf(mark);
  const std::string_view text = (style_.utf8 ? look.utf8 : look.ascii)[ShadeOf(fill)];
  if (!style_.color) return std::string(text);
  return fmt::format("\x1b[38;5;{}m{}\x1b[0m", look.colors[ShadeOf(fill)], text);
}

std::string MapBrush::Line(std::span<const MapCell> upper, std::span<const MapCell> lower) const {
  std::string out;
  if (RowsPerLine() == 1) {
    for (const MapCell& cell : upper) out += Glyph(cell.Mark(), cell.Fill());
    return out;
  }
  // Colours are written where they change, because most cells look like the one before.
  int above = -1;
  int below = -1;
  for (size_t i = 0; i < upper.size(); ++i) {
    const int next_above = ColorOf(upper[i]);
    const int next_below = i < lower.size() ? ColorOf(lower[i]) : 0;
    if (next_above != above || next_below != below) {
      out += "\x1b[0m";
      out += fmt::format("\x1b[38;5;{}m", next_above);
      if (next_below != 0) out += fmt::format("\x1b[48;5;{}m", next_below);
      above = next_above;
      below = next_below;
    }
    out += "▀";
  }
  return out + "\x1b[0m";
}

std::string MapBrush::Sample(CellMark mark, bool shaded) const {
  const MarkLook& look = LookOf(mark);
  const auto& glyphs = style_.utf8 ? look.utf8 : look.ascii;
  const bool blocks = RowsPerLine() == 2;
  const bool differ =
      blocks ? look.colors.front() != look.colors.back() : glyphs.front() != glyphs.back();
  std::string out;
  for (size_t shade = shaded && differ ? 0 : kShades - 1; shade < kShades; ++shade) {
    const std::string_view text = blocks ? "█" : glyphs[shade];
    out += style_.color ? fmt::format("\x1b[38;5;{}m{}\x1b[0m", look.colors[shade], text) : text;
  }
  return out;
}

}  // namespace berth::cli
