#include "ip/addr.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace berth::ip {
namespace {

constexpr size_t kV4Fields = 4;
constexpr size_t kV6Groups = 8;
constexpr size_t kV4InV6Groups = 2;
constexpr size_t kMaxStrictGroupDigits = 4;
constexpr uint32_t kMaxV4Field = 0xFF;
constexpr uint32_t kMaxV6Group = 0xFFFF;
constexpr base::U128 kV4Count = base::U128{1} << 32;
constexpr base::U128 kMappedHigh = 0xFFFF;  // The bits before the IPv4 bits in ::ffff:0:0/96.

using Groups = std::array<uint16_t, kV6Groups>;

struct Number {
  uint32_t value = 0;
  size_t digits = 0;
};

struct Reading {
  base::U128 bits = 0;
  bool leading_zeros = false;
};

/// Returns the value of a hexadecimal digit, and 16 for any other character.
constexpr uint32_t DigitValue(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<uint32_t>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<uint32_t>(c - 'A') + 10;
  return 16;
}

/// Removes the number at the front of `text`. Stopping at `max` keeps any run of digits in range.
std::optional<Number> TakeNumber(std::string_view& text, uint32_t radix, uint32_t max) {
  Number number;
  while (number.digits < text.size()) {
    const uint32_t digit = DigitValue(text[number.digits]);
    if (digit >= radix) break;
    number.value = number.value * radix + digit;
    if (number.value > max) return std::nullopt;
    ++number.digits;
  }
  if (number.digits == 0) return std::nullopt;
  text.remove_prefix(number.digits);
  return number;
}

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<Reading> ReadV4(std::string_view text) {
  Reading reading;
  for (size_t i = 0; i < kV4Fields; ++i) {
    if (i > 0 && !TakePrefix(text, ".")) return std::nullopt;
    const bool zero_first = text.starts_with('0');
    const std::optional<Number> field = TakeNumber(text, 10, kMaxV4Field);
    if (!field) return std::nullopt;
    reading.bits = (reading.bits << 8) | field->value;
    reading.leading_zeros |= zero_first && field->digits > 1;
  }
  if (!text.empty()) return std::nullopt;
  return reading;
}

base::U128 Join(const Groups& groups) {
  base::U128 bits = 0;
  for (const uint16_t group : groups) bits = (bits << 16) | group;
  return bits;
}

Groups Split(base::U128 bits) {
  Groups groups;
  for (size_t i = groups.size(); i-- > 0; bits >>= 16) groups[i] = static_cast<uint16_t>(bits);
  return groups;
}

/// The groups of an IPv6 text in the order they are written, and the position of "::" among them.
struct V6Groups {
  Groups groups{};
  size_t count = 0;
  std::optional<size_t> gap;
  bool leading_zeros = false;
};

/// Reads a dotted quad as the last two groups.
bool ReadV4Tail(std::string_view text, V6Groups& read) {
  if (read.count + kV4InV6Groups > kV6Groups) return false;
  const std::optional<Reading> tail = ReadV4(text);
  if (!tail) return false;
  read.groups[read.count++] = static_cast<uint16_t>(tail->bits >> 16);
  read.groups[read.count++] = static_cast<uint16_t>(tail->bits);
  read.leading_zeros |= tail->leading_zeros;
  return true;
}

/// Removes ":" or "::" from the front of `text`. A single colon must be followed by
/// something, and "::" may occur once.
bool TakeSeparator(std::string_view& text, V6Groups& read) {
  if (TakePrefix(text, "::")) {
    if (read.gap) return false;
    read.gap = read.count;
    return true;
  }
  return TakePrefix(text, ":") && !text.empty();
}

std::optional<V6Groups> ReadGroups(std::string_view text) {
  V6Groups read;
  if (TakePrefix(text, "::")) read.gap = 0;
  while (!text.empty()) {
    if (read.count == kV6Groups) return std::nullopt;
    std::string_view rest = text;
    const std::optional<Number> group = TakeNumber(rest, 16, kMaxV6Group);
    if (!group) return std::nullopt;
    if (rest.starts_with('.')) {
      if (!ReadV4Tail(text, read)) return std::nullopt;
      return read;
    }
    read.groups[read.count++] = static_cast<uint16_t>(group->value);
    read.leading_zeros |= group->digits > kMaxStrictGroupDigits;
    text = rest;
    if (!text.empty() && !TakeSeparator(text, read)) return std::nullopt;
  }
  return read;
}

std::optional<Reading> ReadV6(std::string_view text) {
  std::optional<V6Groups> read = ReadGroups(text);
  if (!read) return std::nullopt;
  if (read->gap.has_value() == (read->count == kV6Groups)) return std::nullopt;
  if (read->gap) {
    // The groups that "::" stands for are the zeros at the end: swap them
    // with the groups after "::".
    const auto begin = read->groups.begin();
    std::rotate(begin + static_cast<std::ptrdiff_t>(*read->gap),
                begin + static_cast<std::ptrdiff_t>(read->count), read->groups.end());
  }
  return Reading{.bits = Join(read->groups), .leading_zeros = read->leading_zeros};
}

/// A run of groups, [begin, end).
struct Run {
  size_t begin = 0;
  size_t end = 0;

  size_t size() const { return end - begin; }
};

/// Returns the zero groups that "::" stands for: the longest run, and the first one if several are
/// as long. The run is empty if none has two groups.
Run CompressedRun(const Groups& groups) {
  Run best;
  Run run;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] != 0) {
      run = Run{.begin = i + 1, .end = i + 1};
      continue;
    }
    run.end = i + 1;
    if (run.size() >= 2 && run.size() > best.size()) best = run;
  }
  return best;
}

std::string V4Text(base::U128 bits) {
  const auto v4 = static_cast<uint32_t>(bits);
  return fmt::format("{}.{}.{}.{}", v4 >> 24, (v4 >> 16) & 0xFF, (v4 >> 8) & 0xFF, v4 & 0xFF);
}

std::string V6Text(base::U128 bits) {
  const Groups groups = Split(bits);
  const Run zeros = CompressedRun(groups);
  std::string text;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (zeros.size() > 0 && i == zeros.begin) {
      text += "::";
      i = zeros.end - 1;
      continue;
    }
    if (!text.empty() && !text.ends_with(':')) text += ':';
    fmt::format_to(std::back_inserter(text), "{:x}", groups[i]);
  }
  return text;
}

}  // namespace

std::string_view FamilyText(Family family) { return family == Family::kV4 ? "IPv4" : "IPv6"; }

std::string Addr::ToString() const {
  return family_ == Family::kV4 ? V4Text(bits_) : V6Text(bits_);
}

std::optional<std::string> Addr::DecimalName() const {
  if (family_ == Family::kV6 && bits_ < kV4Count) return std::nullopt;
  return base::ToDecimal(bits_);
}

std::optional<LooseAddr> ParseAddrLoose(std::string_view text) {
  const size_t separator = text.find_first_of(".:");
  if (separator == std::string_view::npos) return std::nullopt;
  const bool is_v4 = text[separator] == '.';
  const std::optional<Reading> reading = is_v4 ? ReadV4(text) : ReadV6(text);
  if (!reading) return std::nullopt;
  if (!is_v4 && reading->bits >> 32 == kMappedHigh) {
    return LooseAddr{.addr = Addr(Family::kV4, reading->bits & (kV4Count - 1)),
                     .leading_zeros = reading->leading_zeros,
                     .v4_mapped = true};
  }
  return LooseAddr{.addr = Addr(is_v4 ? Family::kV4 : Family::kV6, reading->bits),
                   .leading_zeros = reading->leading_zeros};
}

base::Result<Addr> ParseAddr(std::string_view text, Strictness strictness) {
  using base::Fail;
  using base::Reason;
  const std::optional<LooseAddr> loose = ParseAddrLoose(text);
  if (!loose) {
    return Fail(Reason::kInvalid, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  }
  if (loose->leading_zeros) return Fail(Reason::kInvalid, "must not have leading 0s");
  if (loose->v4_mapped) {
    return Fail(Reason::kInvalid, "must not be an IPv4-mapped IPv6 address");
  }
  if (strictness == Strictness::kCanonical) {
    const std::string canonical = loose->addr.ToString();
    if (text != canonical) {
      return Fail(Reason::kInvalid, fmt::format("must be in canonical form (\"{}\")", canonical));
    }
  }
  return loose->addr;
}

base::Result<Addr> ParseDecimalName(std::string_view text) {
  using base::Fail;
  using base::Reason;
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) {
    return Fail(Reason::kInvalid,
                "must be an IP address written as a decimal number, with digits only");
  }
  if (text.size() > 1 && text.front() == '0') {
    return Fail(Reason::kInvalid, "must not have leading 0s");
  }
  const std::optional<base::U128> number = base::ParseDecimal(text);
  if (!number) {
    return Fail(Reason::kInvalid,
                fmt::format("must not be greater than {}, the number of the last IPv6 address",
                            base::ToDecimal(base::kU128Max)));
  }
  return Addr(*number < kV4Count ? Family::kV4 : Family::kV6, *number);
}

}  // namespace berth::ip
