#include "codec/json_marks.h"

#include <array>

namespace berth::codec {
namespace {

constexpr std::array<bool, 256> kMarks = [] {
  std::array<bool, 256> marks{};
  for (const char c : {'"', '{', '}', '[', ']'}) marks[static_cast<unsigned char>(c)] = true;
  return marks;
}();

}  // namespace

size_t NextMark(std::string_view text, size_t at) {
  const auto is_mark = [text](size_t i) { return kMarks[static_cast<unsigned char>(text[i])]; };
  // Most of a list is neither bracket nor quote, so this loop is what a large file costs.
  for (; at + 4 <= text.size(); at += 4) {
    if (is_mark(at)) return at;
    if (is_mark(at + 1)) return at + 1;
    if (is_mark(at + 2)) return at + 2;
    if (is_mark(at + 3)) return at + 3;
  }
  while (at < text.size() && !is_mark(at)) ++at;
  return at;
}

size_t EndOfString(std::string_view text, size_t begin, size_t from) {
  for (;;) {
    const size_t quote = text.find('"', from);
    if (quote == std::string_view::npos) return quote;
    from = quote + 1;
    size_t before = quote;  // An odd number of backslashes makes the quote a part of the string.
    while (before - 1 > begin && text[before - 1] == '\\') --before;
    if ((quote - before) % 2 == 0) return from;
  }
}

}  // namespace berth::codec
