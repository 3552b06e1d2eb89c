#include "codec/yaml_resolve.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "base/ascii.h"

namespace berth::codec {
namespace {

constexpr std::array<std::string_view, 29> kWords = {
    "",      "~",  "null", "Null", "NULL", "true", "True", "TRUE", "false", "False",
    "FALSE", "y",  "Y",    "yes",  "Yes",  "YES",  "n",    "N",    "no",    "No",
    "NO",    "on", "On",   "ON",   "off",  "Off",  "OFF",  "<<",   "="};

constexpr std::array<std::string_view, 6> kNonFinite = {".inf", ".Inf", ".INF",
                                                        ".nan", ".NaN", ".NAN"};

using base::IsDigit;

// Reads a text from front to back, piece by piece.
class PlainScanner {
 public:
  explicit PlainScanner(std::string_view text) : rest_(text) {}

  bool AtEnd() const { return rest_.empty(); }

  bool SkipOneOf(std::string_view chars) {
    if (rest_.empty() || chars.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }

  size_t SkipDigits() {
    const size_t before = rest_.size();
    while (!rest_.empty() && IsDigit(rest_.front())) rest_.remove_prefix(1);
    return before - rest_.size();
  }

  bool SkipDigits(size_t least, size_t most) {
    const size_t count = SkipDigits();
    return count >= least && count <= most;
  }

  bool SkipBlanks() {
    const size_t before = rest_.size();
    while (SkipOneOf(" \t")) {
    }
    return rest_.size() != before;
  }

  std::string_view Rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// Returns whether `text` is like 0x1F, 0b101 or 0o17, without a sign. Underscores count as digits.
bool IsPrefixedInteger(std::string_view text) {
  if (text.size() < 3 || text[0] != '0') return false;
  const std::string_view digits = text.substr(2);
  switch (text[1]) {
    case 'x':
    case 'X':
      return digits.find_first_not_of("0123456789abcdefABCDEF_") == std::string_view::npos;
    case 'o':
    case 'O':
      return digits.find_first_not_of("01234567_") == std::string_view::npos;
    case 'b':
    case 'B':
      return digits.find_first_not_of("01_") == std::string_view::npos;
    default:
      return false;
  }
}

// Returns whether `text` is like 12, 017, 1.5, .5, 1. or 1e3, without a sign.
bool IsDecimal(std::string_view text) {
  PlainScanner scanner(text);
  size_t digits = scanner.SkipDigits();
  if (scanner.SkipOneOf(".")) digits += scanner.SkipDigits();
  if (digits == 0) return false;
  if (scanner.SkipOneOf("eE")) {
    scanner.SkipOneOf("+-");
    if (scanner.SkipDigits() == 0) return false;
  }
  return scanner.AtEnd();
}

// Returns whether `text` is like 1:30 or 190:20:30.15, without a sign. All
// places but the first are below 60.
bool IsSexagesimal(std::string_view text) {
  PlainScanner scanner(text);
  if (scanner.SkipDigits() == 0 || scanner.Rest().substr(0, 1) != ":") return false;
  while (scanner.SkipOneOf(":")) {
    const std::string_view place = scanner.Rest();
    if (!scanner.SkipDigits(1, 2)) return false;
    if (place.size() - scanner.Rest().size() == 2 && place.front() > '5') return false;
  }
  if (scanner.SkipOneOf(".")) scanner.SkipDigits();
  return scanner.AtEnd();
}

bool IsNumber(std::string_view text) {
  PlainScanner sign(text);
  const bool has_sign = sign.SkipOneOf("+-");
  text = sign.Rest();
  if (std::find(kNonFinite.begin(), kNonFinite.end(), text) != kNonFinite.end()) return true;
  if (text.empty()) return false;
  const char first = text.front();
  const bool may_begin = IsDigit(first) || first == '.' || (has_sign && first == '_');
  if (!may_begin) return false;
  if (IsPrefixedInteger(text)) return true;
  // Underscores group digits. Go's parser removes them wherever they are.
  std::string digits(text);
  std::erase(digits, '_');
  return IsPrefixedInteger(digits) || IsDecimal(digits) || IsSexagesimal(digits);
}

// Returns whether the rest is like Z, +1, -05:30 or +0530, or is empty.
bool IsTimeZone(PlainScanner scanner) {
  scanner.SkipBlanks();
  if (scanner.AtEnd() || (scanner.Rest() == "Z" || scanner.Rest() == "z")) return true;
  if (!scanner.SkipOneOf("+-") || !scanner.SkipDigits(1, 4)) return false;
  if (scanner.SkipOneOf(":")) return scanner.SkipDigits(1, 2) && scanner.AtEnd();
  return scanner.AtEnd();
}

// Returns whether `text` is like 2026-11-15, 2026-11-15T04:35:00.123Z or 2026-11-15 4:35:00 +1.
bool IsTimestamp(std::string_view text) {
  PlainScanner scanner(text);
  if (!scanner.SkipDigits(4, 4) || !scanner.SkipOneOf("-") || !scanner.SkipDigits(1, 2) ||
      !scanner.SkipOneOf("-") || !scanner.SkipDigits(1, 2)) {
    return false;
  }
  if (scanner.AtEnd()) return true;
  if (!scanner.SkipOneOf("Tt") && !scanner.SkipBlanks()) return false;
  if (!scanner.SkipDigits(1, 2) || !scanner.SkipOneOf(":") || !scanner.SkipDigits(1, 2) ||
      !scanner.SkipOneOf(":") || !scanner.SkipDigits(1, 2)) {
    return false;
  }
  if (scanner.SkipOneOf(".")) scanner.SkipDigits();
  return IsTimeZone(scanner);
}

}  // namespace

bool IsTakenForNonString(std::string_view text) {
  return std::find(kWords.begin(), kWords.end(), text) != kWords.end() || IsNumber(text) ||
         IsTimestamp(text);
}

}  // namespace berth::codec
