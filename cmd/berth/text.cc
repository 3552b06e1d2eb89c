#include "berth/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace berth::cli {
namespace {

using base::U128;

constexpr U128 kTooLongToRead = U128{1'000'000'000'000'000};

bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

int HighestBit(U128 number) {
  const uint64_t high = base::High64(number);
  return high != 0 ? 127 - std::countl_zero(high) : 63 - std::countl_zero(base::Low64(number));
}

/// Returns the exponent of a power of two within a thousandth of `number`, or -1.
int NearPower(U128 number) {
  if (number == 0) return -1;
  const int bit = HighestBit(number);
  const U128 below = number - (U128{1} << bit);
  if (below <= number / 1000) return bit;
  // 2^128 does not fit, but the subtraction wraps around to the right distance.
  const U128 above = bit == 127 ? U128{0} - number : (U128{1} << (bit + 1)) - number;
  return above <= number / 1000 ? bit + 1 : -1;
}

bool IsPower(U128 number) { return (number & (number - 1)) == 0; }

}  // namespace

std::string PowerHint(U128 number) {
  if (number < (U128{1} << 32)) return {};
  const int power = NearPower(number);
  if (power < 0) return {};
  return fmt::format("{}2^{}", IsPower(number) ? "" : "about ", power);
}

std::string ShortNumber(U128 number) {
  if (number < kTooLongToRead) return WithSeparators(number);
  const int power = NearPower(number);
  if (power < 0) return fmt::format("{:.3g}", static_cast<double>(number));
  return fmt::format("{}2^{}", IsPower(number) ? "" : "~", power);
}

std::string Plural(uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", WithSeparators(base::U128(count)), count == 1 ? one : many);
}

size_t DisplayWidth(std::string_view utf8) {
  size_t width = 0;
  for (const char c : utf8) width += StartsCharacter(c) ? 1 : 0;
  return width;
}

std::string Shortened(std::string_view utf8, size_t width, std::string_view ellipsis) {
  if (DisplayWidth(utf8) <= width) return std::string(utf8);
  const size_t mark = DisplayWidth(ellipsis);
  const size_t kept = width > mark ? width - mark : 0;
  size_t end = 0;
  for (size_t columns = 0; end < utf8.size(); ++end) {
    if (StartsCharacter(utf8[end]) && columns++ == kept) break;
  }
  return std::string(utf8.substr(0, end)).append(ellipsis);
}

std::string PadRight(std::string_view text, size_t width) {
  const size_t used = DisplayWidth(text);
  return std::string(text).append(width > used ? width - used : 0, ' ');
}

std::string PadLeft(std::string_view text, size_t width) {
  const size_t used = DisplayWidth(text);
  return std::string(width > used ? width - used : 0, ' ').append(text);
}

std::string Wrapped(std::string_view paragraph, size_t indent, size_t width) {
  const size_t room = width > indent ? width - indent : 1;
  std::string out;
  std::string line;
  const auto flush = [&] {
    line.erase(line.find_last_not_of(' ') + 1);
    if (line.empty()) return;
    out += std::string(indent, ' ') + line + '\n';
    line.clear();
  };
  while (!paragraph.empty()) {
    const std::string_view word = paragraph.substr(0, paragraph.find(' '));
    paragraph.remove_prefix(std::min(word.size() + 1, paragraph.size()));
    if (DisplayWidth(line) + 1 + DisplayWidth(word) > room) flush();
    if (!line.empty()) line += ' ';
    line += Shortened(word, room, "...");
  }
  flush();
  return out;
}

}  // namespace berth::cli
