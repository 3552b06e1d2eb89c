// Colours, characters and bars, as far as a Style allows them. For code that renders text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "alloc/layout.h"
#include "berth/plan/value_kind.h"
#include "berth/terminal.h"

namespace berth::cli {

enum class Color : uint8_t { kNone, kBold, kDim, kGreen, kYellow, kRed };

class Paint {
 public:
  explicit Paint(const Style& style) : style_(style) {}

  size_t width() const { return style_.width; }
  /// Returns the width of paragraphs. Longer lines are hard to read.
  size_t prose_width() const { return std::min<size_t>(style_.width, 100); }

  /// Returns the character if the locale has it, otherwise its ASCII replacement.
  std::string_view Char(std::string_view utf8, std::string_view ascii) const {
    return style_.utf8 ? utf8 : ascii;
  }
  std::string_view Ellipsis() const { return Char("…", "..."); }

  std::string In(Color color, std::string_view text) const;

  /// Returns cells of a band in the drawing of a range.
  std::string Cells(alloc::Band band, size_t count) const;

  /// Returns a bar of `width` cells, of which `percent` are filled: at least one if `percent` is
  /// not 0, and all of them only at 100. It is yellow from 80 % and red from 90 %.
  std::string Gauge(double percent, size_t width) const;

  /// Returns "first – last", or the value if there is only one.
  std::string Bounds(ValueKind kind, const alloc::Interval& values) const;

 private:
  Style style_;
};

/// Returns the colour of a band that is `percent` full.
Color FillColor(double percent);

/// Returns "12.3%". Only 0 and 100 read as such: 0.01 is "<0.1%".
std::string PercentText(double percent);

}  // namespace berth::cli
