#include "berth/paint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace berth::cli {
namespace {

std::string_view Code(Color color) {
  switch (color) {
    case Color::kNone:
      return "";
    case Color::kBold:
      return "\x1b[1m";
    case Color::kDim:
      return "\x1b[2m";
    case Color::kGreen:
      return "\x1b[32m";
    case Color::kYellow:
      return "\x1b[33m";
    case Color::kRed:
      break;
  }
  return "\x1b[31m";
}

std::string Repeated(std::string_view text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

}  // namespace

std::string Paint::In(Color color, std::string_view text) const {
  if (!style_.color || color == Color::kNone || text.empty()) return std::string(text);
  return fmt::format("{}{}\x1b[0m", Code(color), text);
}

std::string Paint::Cells(alloc::Band band, size_t count) const {
  if (band == alloc::Band::kStatic) return In(Color::kGreen, Repeated(Char("█", "#"), count));
  return In(Color::kDim, Repeated(Char("░", "."), count));
}

std::string Paint::Gauge(double percent, size_t width) const {
  auto filled = static_cast<size_t>(std::lround(percent / 100 * static_cast<double>(width)));
  if (percent > 0) filled = std::max<size_t>(filled, 1);
  if (percent < 100) filled = std::min(filled, width - 1);
  return In(FillColor(percent), Repeated(Char("█", "#"), filled)) +
         In(Color::kDim, Repeated(Char("░", "."), width - filled));
}

std::string Paint::Bounds(ValueKind kind, const alloc::Interval& values) const {
  std::string first = ValueText(kind, values.first);
  if (values.first == values.last) return first;
  return fmt::format("{} {} {}", first, Char("–", "-"), ValueText(kind, values.last));
}

Color FillColor(double percent) {
  if (percent >= 90) return Color::kRed;
  return percent >= 80 ? Color::kYellow : Color::kGreen;
}

std::string PercentText(double percent) {
  if (percent > 0 && percent < 0.1) return "<0.1%";
  if (percent < 100 && percent > 99.9) return ">99.9%";
  return fmt::format("{:.1f}%", percent);
}

}  // namespace berth::cli
