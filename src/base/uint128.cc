#include "base/uint128.h"

#include <array>
#include <cstddef>

namespace berth::base {
namespace {

constexpr size_t kMaxDigits = 39;  // 2^128 - 1 has 39 digits.

}  // namespace

std::string ToDecimal(U128 value) {
  std::array<char, kMaxDigits> digits;
  size_t begin = digits.size();
  do {
    digits[--begin] = static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  return {digits.data() + begin, digits.size() - begin};
}

std::optional<U128> ParseDecimal(std::string_view text) {
  if (text.empty() || text.size() > kMaxDigits) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  U128 value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<unsigned>(c - '0');
    if (value > (kU128Max - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

}  // namespace berth::base
