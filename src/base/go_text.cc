#include "base/go_text.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "base/escape.h"

namespace berth::base {
namespace {

constexpr size_t kNone = std::string_view::npos;

/// A character of UTF-8 text. For a byte that is not part of one, `valid` is
/// unset and `value` is the byte.
struct Rune {
  char32_t value = 0;
  size_t size = 1;
  bool valid = true;
};

/// Returns the first character of `text`, which must not be empty.
Rune FirstRune(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return {.value = first};
  const size_t size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  const std::string_view sequence = text.substr(0, size);
  if (FindInvalidUtf8(sequence) != kNone) return {.value = first, .valid = false};
  char32_t value = first & (0x7Fu >> size);
  for (const char c : sequence.substr(1)) value = (value << 6) | (static_cast<uint8_t>(c) & 0x3Fu);
  return {.value = value, .size = size};
}

constexpr bool IsSpace(char32_t c) {
  return (c >= '\t' && c <= '\r') || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

/// Returns whether a character cannot be seen on a screen.
constexpr bool IsInvisible(char32_t c) {
  return c < ' ' || (c >= 0x7F && c <= 0xA0) || c == 0xAD || (c > ' ' && IsSpace(c)) ||
         (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

void AppendEscaped(std::string& out, char32_t c) {
  constexpr std::string_view kNames = "abtnvfr";  // Names of the codes from '\a' to '\r'.
  const auto code = static_cast<uint32_t>(c);
  if (c >= '\a' && c <= '\r') {
    out += {'\\', kNames[code - '\a']};
  } else if (c <= 0x7F) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", code);
  } else {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
  }
}

}  // namespace

std::string_view GoTrimSpace(std::string_view text) {
  size_t begin = kNone;
  size_t end = 0;
  for (size_t i = 0; i < text.size();) {
    const Rune rune = FirstRune(text.substr(i));
    const bool kept = !rune.valid || !IsSpace(rune.value);
    if (kept && begin == kNone) begin = i;
    i += rune.size;
    if (kept) end = i;
  }
  return begin == kNone ? std::string_view() : text.substr(begin, end - begin);
}

std::string GoQuoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const Rune rune = FirstRune(text);
    if (!rune.valid) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<uint32_t>(rune.value));
    } else if (IsInvisible(rune.value)) {
      AppendEscaped(out, rune.value);
    } else {
      if (rune.value == '"' || rune.value == '\\') out += '\\';
      out += text.substr(0, rune.size);
    }
    text.remove_prefix(rune.size);
  }
  return out += '"';
}

std::optional<Invisible> FirstInvisible(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const Rune rune = FirstRune(text.substr(i));
    if (rune.valid && IsInvisible(rune.value)) return Invisible{rune.value, i};
    i += rune.size;
  }
  return std::nullopt;
}

std::string ToVisible(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Rune rune = FirstRune(text);
    if (!rune.valid) {
      out += "\uFFFD";
    } else if (IsInvisible(rune.value)) {
      out += '?';
    } else {
      out += text.substr(0, rune.size);
    }
    text.remove_prefix(rune.size);
  }
  return out;
}

std::string OnlyVisible(std::string_view text, size_t most_bytes) {
  std::string out;
  while (!text.empty()) {
    const Rune rune = FirstRune(text);
    if (!rune.valid || !IsInvisible(rune.value)) {
      const std::string_view shown = rune.valid ? text.substr(0, rune.size) : "\uFFFD";
      if (out.size() + shown.size() > most_bytes) break;
      out += shown;
    }
    text.remove_prefix(rune.size);
  }
  return out;
}

}  // namespace berth::base
