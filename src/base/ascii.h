// ASCII characters, independent of the locale.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace berth::base {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

constexpr char ToLower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Returns the text with all letters from A to Z in lower case.
inline std::string InLowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), ToLower);
  return lower;
}

/// Returns the value of a hexadecimal digit, or -1 for any other character.
constexpr int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace berth::base
