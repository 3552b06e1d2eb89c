// Colours, characters and bars within what a Style allows. For use by what renders text.
#pragma once

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

  /// The character where the locale has it, else its ASCII stand-in.
  std::string_view Char(std::string_view utf8, std::string_view ascii) const {
    return style_.utf8 ? utf8 : ascii;
  }
  std::string_view Ellipsis() const { return Char("…", "..."); }

  std::string In(Color color, std::string_view text) const;

  /// Cells of a band in the drawing of a range.
  std::string Cells(alloc::Band band, size_t count) const;

  /// A bar of `width` cells of which `percent` are filled, at least one if there is anything and
  /// all of them only if it is full; yellow from 80 %, red from 90 %.
  std::string Gauge(double percent, size_t width) const;

  /// "first – last", or the one value.
  std::string Bounds(ValueKind kind, const alloc::Interval& values) const;

 private:
  Style style_;
};

/// The colour of a band that is `percent` full.
Color FillColor(double percent);

/// "12.3%"; what is not quite none or not quite all does not read as such.
std::string PercentText(double percent);

}  // namespace berth::cli
