#include "codec/yaml_scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "base/ascii.h"
#include "base/go_text.h"

namespace berth::codec {
namespace {

constexpr auto kTrueWords = std::to_array<std::string_view>(
    {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"});
constexpr auto kFalseWords = std::to_array<std::string_view>(
    {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"});
constexpr auto kNullWords = std::to_array<std::string_view>({"", "~", "null", "Null", "NULL"});
constexpr auto kNonFiniteWords =
    std::to_array<std::string_view>({".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf",
                                     "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"});

bool IsOneOf(std::string_view text, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

using base::IsDigit;

auto Refuse(std::string_view text, std::string_view why) {
  return base::Fail(base::Reason::kBadRequest,
                    fmt::format("yaml: {} {}", base::GoQuoted(text), why));
}

// Removes the prefix of a number and returns its base: 0x1F, 0b101, 0o17 and, as in C, 017.
int TakeBase(std::string_view& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  const char letter = static_cast<char>(digits[1] | 0x20);
  const int base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
  digits.remove_prefix(base == 8 && letter != 'o' ? 1 : 2);
  return base;
}

// Reads an integer with or without a sign, from which underscores have been removed.
std::optional<Value> ReadInteger(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const int base = TakeBase(text);
  uint64_t size = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), size, base);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  if (!negative) return Value(size);
  constexpr uint64_t kMost = uint64_t{1} << 63;
  if (size > kMost) return std::nullopt;
  return Value(static_cast<int64_t>(~size + 1));
}

// Returns whether the text matches [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool LooksLikeFloat(std::string_view text) {
  size_t at = 0;
  const auto skip_digits = [&] {
    const size_t before = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    return at - before;
  };
  const auto skip_one_of = [&](std::string_view chars) {
    if (at == text.size() || chars.find(text[at]) == std::string_view::npos) return false;
    ++at;
    return true;
  };
  skip_one_of("+-");
  size_t digits = skip_digits();
  if (skip_one_of(".")) digits += skip_digits();
  if (digits == 0) return false;
  if (skip_one_of("eE")) {
    skip_one_of("+-");
    if (skip_digits() == 0) return false;
  }
  return at == text.size();
}

// Returns a number as JSON has it: one without a fraction is an integer.
Value FloatToJson(double number) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (number == std::trunc(number)) {
    if (number >= -kTwoTo63 && number < kTwoTo63) return static_cast<int64_t>(number);
    if (number > 0 && number < kTwoTo63 * 2) return static_cast<uint64_t>(number);
  }
  return number;
}

std::optional<Value> ReadFloat(std::string_view text) {
  if (!LooksLikeFloat(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return FloatToJson(number);
}

}  // namespace

base::Result<Value> ResolvePlain(std::string_view text) {
  if (IsOneOf(text, kNullWords)) return nullptr;
  if (IsOneOf(text, kTrueWords)) return true;
  if (IsOneOf(text, kFalseWords)) return false;
  if (IsOneOf(text, kNonFiniteWords)) return Refuse(text, "is not a number in JSON");
  const char first = text.front();
  if (first == '.') return ReadFloat(text).value_or(Value(text));
  if (!IsDigit(first) && first != '+' && first != '-') return text;
  std::string digits(text);
  std::erase(digits, '_');
  if (auto number = ReadInteger(digits)) return std::move(*number);
  return ReadFloat(digits).value_or(Value(text));
}

base::Result<Value> ResolveTagged(std::string_view tag, std::string_view text) {
  constexpr std::string_view kPrefix = "tag:yaml.org,2002:";
  if (!tag.starts_with(kPrefix)) return Refuse(tag, "is a tag that is not supported");
  tag.remove_prefix(kPrefix.size());
  if (tag == "str" || tag == "timestamp") return text;
  auto value = ResolvePlain(text);
  if (!value) return value;
  const Kind kind = value->GetKind();
  const bool integer = kind == Kind::kInt || kind == Kind::kUint;
  const bool fits =
      (tag == "int" && integer) || (tag == "float" && (integer || kind == Kind::kDouble)) ||
      (tag == "bool" && kind == Kind::kBool) || (tag == "null" && kind == Kind::kNull);
  if (!fits) return Refuse(text, fmt::format("cannot be taken for !!{}", tag));
  return value;
}

}  // namespace berth::codec
