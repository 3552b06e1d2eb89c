#include "codec/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

namespace berth::codec {
namespace {

constexpr std::string_view kFormatWrong =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::string_view kSuffixWrong = "unable to parse quantity's suffix";
constexpr std::string_view kDigits = "0123456789";

// Amounts are rounded up to this power of ten.
constexpr int kSmallestPower = -9;
// The largest amount with a binary unit, 2^63 - 1.
constexpr std::string_view kMostBinary = "9223372036854775807";
// Numbers with at most so many digits are kept as they are, if they look canonical.
constexpr size_t kMostPlainDigits = 18;

enum class Format : uint8_t { kDecimal, kBinary, kExponent };

struct Unit {
  std::string_view suffix;
  int power;  // Of ten or, for binary units, of two.
};
constexpr auto kDecimalUnits = std::to_array<Unit>({{"n", -9},
                                                    {"u", -6},
                                                    {"m", -3},
                                                    {"", 0},
                                                    {"k", 3},
                                                    {"M", 6},
                                                    {"G", 9},
                                                    {"T", 12},
                                                    {"P", 15},
                                                    {"E", 18}});
constexpr auto kBinaryUnits =
    std::to_array<Unit>({{"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}, {"Pi", 50}, {"Ei", 60}});

// A number with a unit, as it was written.
struct Parts {
  bool negative = false;
  std::string_view whole;     // Without leading zeros; "0" if nothing is left.
  std::string_view fraction;  // Digits after the point.
  std::string_view suffix;
};

// Takes the longest prefix of `text` that consists of characters of `set`.
std::string_view Take(std::string_view& text, std::string_view set) {
  const size_t end = std::min(text.find_first_not_of(set), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end);
  return taken;
}

std::optional<Parts> Split(std::string_view text) {
  Parts parts;
  std::string_view rest = text;
  if (rest.starts_with('-') || rest.starts_with('+')) {
    parts.negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  Take(rest, "0");
  parts.whole = Take(rest, kDigits);
  if (parts.whole.empty()) parts.whole = "0";
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    parts.fraction = Take(rest, kDigits);
  }
  parts.suffix = rest;
  Take(rest, "eEinumkKMGTP");
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  Take(rest, kDigits);
  if (!rest.empty()) return std::nullopt;
  return parts;
}

struct Scale {
  Format format = Format::kDecimal;
  int power = 0;
};

std::optional<Scale> ReadSuffix(std::string_view suffix) {
  for (const Unit& unit : kDecimalUnits) {
    if (unit.suffix == suffix) return Scale{Format::kDecimal, unit.power};
  }
  for (const Unit& unit : kBinaryUnits) {
    if (unit.suffix == suffix) return Scale{Format::kBinary, unit.power};
  }
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E')) return std::nullopt;
  suffix.remove_prefix(suffix[1] == '+' ? 2 : 1);
  int32_t power = 0;
  const auto [end, error] = std::from_chars(suffix.data(), suffix.data() + suffix.size(), power);
  if (error != std::errc() || end != suffix.data() + suffix.size()) return std::nullopt;
  return Scale{Format::kExponent, power};
}

void StripLeadingZeros(std::string& digits) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
}

void Multiply(std::string& digits, uint32_t factor) {
  uint64_t carry = 0;
  for (size_t i = digits.size(); i-- > 0;) {
    carry += static_cast<uint64_t>(digits[i] - '0') * factor;
    digits[i] = static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  if (carry > 0) digits.insert(0, std::to_string(carry));
}

// Divides by 1024. Returns the remainder.
uint32_t DivideBy1024(std::string& digits) {
  uint32_t remainder = 0;
  for (char& digit : digits) {
    remainder = remainder * 10 + static_cast<uint32_t>(digit - '0');
    digit = static_cast<char>('0' + remainder / 1024);
    remainder %= 1024;
  }
  StripLeadingZeros(digits);
  return remainder;
}

// A number that is not negative: digits, without leading zeros, times ten to a power. No digits
// are zero.
struct Amount {
  std::string digits;
  int64_t power = 0;

  // Drops the digits below `least` and rounds up.
  void RoundUp(int64_t least) {
    if (power >= least || digits.empty()) return;
    const int64_t drop = std::min<int64_t>(least - power, static_cast<int64_t>(digits.size()));
    const size_t keep = digits.size() - static_cast<size_t>(drop);
    const bool exact = digits.find_first_not_of('0', keep) == std::string::npos;
    digits.resize(keep);
    power = least;
    if (exact) return;
    size_t at = digits.size();
    while (at > 0 && digits[at - 1] == '9') digits[--at] = '0';
    if (at > 0) {
      ++digits[at - 1];
    } else {
      digits.insert(0, "1");
    }
  }

  void StripTrailingZeros() {
    while (digits.ends_with('0')) {
      digits.pop_back();
      ++power;
    }
  }

  // Writes the number without a power, if it is whole. It must be below 10^40.
  std::optional<std::string> WholeDigits() const {
    if (power < 0) return std::nullopt;
    return digits + std::string(static_cast<size_t>(power), '0');
  }
};

bool Exceeds(const std::string& digits, std::string_view most) {
  return digits.size() > most.size() || (digits.size() == most.size() && digits > most);
}

Amount AmountOf(const Parts& parts, Scale& scale) {
  Amount amount{.digits = std::string(parts.whole) + std::string(parts.fraction),
                .power = -static_cast<int64_t>(parts.fraction.size())};
  StripLeadingZeros(amount.digits);
  if (scale.format == Format::kBinary) {
    for (int power = 0; power < scale.power; power += 10) Multiply(amount.digits, 1024);
  } else {
    amount.power += scale.power;
  }
  amount.RoundUp(kSmallestPower);
  amount.StripTrailingZeros();
  if (scale.format != Format::kBinary) return amount;
  const auto whole = amount.WholeDigits();
  const std::string_view text = amount.digits;
  const auto size = static_cast<int64_t>(text.size()) + amount.power;  // Digits before the point.
  const bool too_much =
      whole ? Exceeds(*whole, kMostBinary) : size > static_cast<int64_t>(kMostBinary.size());
  if (too_much) amount = {.digits = std::string(kMostBinary), .power = 0};
  if (size <= 0) scale.format = Format::kDecimal;
  return amount;
}

std::string DecimalText(Amount amount, Format format) {
  while (amount.power % 3 != 0) {
    amount.digits += '0';
    --amount.power;
  }
  if (format == Format::kExponent) {
    return amount.power == 0 ? amount.digits : fmt::format("{}e{}", amount.digits, amount.power);
  }
  const auto* const unit = std::ranges::find(kDecimalUnits, amount.power, &Unit::power);
  return amount.digits + std::string(unit == kDecimalUnits.end() ? "" : unit->suffix);
}

std::string CanonicalText(const Amount& amount, Format format) {
  if (amount.digits.empty()) return "0";
  if (format != Format::kBinary) return DecimalText(amount, format);
  auto whole = amount.WholeDigits();
  if (!whole || !Exceeds(*whole, "1023")) return DecimalText(amount, Format::kDecimal);
  std::string_view suffix;
  for (const Unit& unit : kBinaryUnits) {
    std::string divided = *whole;
    if (DivideBy1024(divided) != 0) break;
    whole = std::move(divided);
    suffix = unit.suffix;
  }
  return *whole + std::string(suffix);
}

// Returns whether Kubernetes keeps the text as it is.
bool KeepsText(const Parts& parts, const Scale& scale) {
  const std::string shifted = std::string(parts.whole) + std::string(parts.fraction);
  if (scale.format == Format::kBinary) {
    const int room = 15 - static_cast<int>(parts.whole.size()) - scale.power * 3 / 10 - 1;
    if (!parts.fraction.empty() || room < 0) return false;
    // Multiples of 8 are not kept: they may fit a larger unit.
    return (std::stoll(shifted) & 7) != 0;
  }
  const int64_t power = int64_t{scale.power} - static_cast<int64_t>(parts.fraction.size());
  return shifted.size() <= kMostPlainDigits && power >= kSmallestPower && power % 3 == 0 &&
         !shifted.ends_with("000") && shifted.front() != '0';
}

bool IsWhole(Amount amount) {
  amount.RoundUp(-3);
  amount.StripTrailingZeros();
  return amount.digits.empty() || amount.power >= 0;
}

}  // namespace

base::Result<Quantity> ParseQuantity(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  Take(text, kSpace);
  text = text.substr(0, text.find_last_not_of(kSpace) + 1);
  const auto fail = [](std::string_view message) {
    return base::Fail(base::Reason::kBadRequest, std::string(message));
  };
  if (text.empty() || text.size() > kMostQuantityBytes) return fail(kFormatWrong);
  const auto parts = Split(text);
  if (!parts) return fail(kFormatWrong);
  auto scale = ReadSuffix(parts->suffix);
  if (!scale) return fail(kSuffixWrong);
  const bool keeps = KeepsText(*parts, *scale);
  const Amount amount = AmountOf(*parts, *scale);
  Quantity quantity{.text = keeps ? std::string(text) : CanonicalText(amount, scale->format),
                    .negative = parts->negative && !amount.digits.empty(),
                    .whole = IsWhole(amount)};
  if (quantity.negative && !keeps) quantity.text.insert(0, "-");
  return quantity;
}

}  // namespace berth::codec
