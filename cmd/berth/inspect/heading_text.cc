#include "berth/inspect/heading_text.h"

#include <fmt/format.h>

#include "berth/text.h"

namespace berth::cli {

std::string HeadingText(const Paint& paint, std::string_view title, std::string_view words,
                        std::string_view last, Color color) {
  const size_t room = paint.width();
  const size_t width = DisplayWidth(words) + DisplayWidth(last);
  const std::string bold = paint.In(Color::kBold, Shortened(title, room, paint.Ellipsis()));
  const std::string rest = std::string(words) + paint.In(color, last);
  if (DisplayWidth(title) + kColumnGap + width <= room) {
    return fmt::format("{}{:{}}{}\n", bold, "", kColumnGap, rest);
  }
  if (kIndent + width <= room) return fmt::format("{}\n{:{}}{}\n", bold, "", kIndent, rest);
  return fmt::format("{}\n{}", bold, Wrapped(std::string(words).append(last), kIndent, room));
}

}  // namespace berth::cli
