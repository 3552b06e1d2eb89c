#include "ip/port_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>

#include "base/escape.h"

namespace berth::ip {
namespace {

constexpr int64_t kMaxPort = 65535;
constexpr size_t kNone = std::string_view::npos;

/// A character of UTF-8 text; one byte that is none has `valid` unset and the byte as its value.
struct Rune {
  char32_t value = 0;
  size_t size = 1;
  bool valid = true;
};

/// The first character of `text`, which must not be empty.
Rune FirstRune(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return {.value = first};
  const size_t size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  const std::string_view sequence = text.substr(0, size);
  if (base::FindInvalidUtf8(sequence) != kNone) return {.value = first, .valid = false};
  char32_t value = first & (0x7Fu >> size);
  for (const char c : sequence.substr(1)) value = (value << 6) | (static_cast<uint8_t>(c) & 0x3Fu);
  return {.value = value, .size = size};
}

constexpr bool IsSpace(char32_t c) {
  return (c >= '\t' && c <= '\r') || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

/// Without white space, as Unicode defines it, at both ends.
std::string_view Trim(std::string_view text) {
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

/// What nobody would see on a screen. Go escapes all that Unicode does not call printable; these
/// are the ones that come along when text is pasted.
constexpr bool IsInvisible(char32_t c) {
  return c < ' ' || (c >= 0x7F && c <= 0xA0) || c == 0xAD || (c > ' ' && IsSpace(c)) ||
         (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

void AppendEscaped(std::string& out, char32_t c) {
  constexpr std::string_view kNames = "abtnvfr";  // Of the codes from '\a' to '\r'.
  const auto code = static_cast<uint32_t>(c);
  if (c >= '\a' && c <= '\r') {
    out += {'\\', kNames[code - '\a']};
  } else if (c <= 0x7F) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", code);
  } else {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
  }
}

/// As Go's %q writes it.
std::string Quoted(std::string_view text) {
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

tl::unexpected<base::Error> Bad(std::string message) {
  return base::Fail(base::Reason::kInvalid, std::move(message));
}

tl::unexpected<base::Error> BadNumber(std::string_view part, std::string_view why) {
  return Bad(fmt::format("strconv.Atoi: parsing {}: {}", Quoted(part), why));
}

/// Reads as Go's strconv.Atoi does: digits that overflow 64 bits are out of range before a later
/// character can be bad syntax.
base::Result<int64_t> ReadInt(std::string_view part) {
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  const bool negative = part.starts_with('-');
  const std::string_view digits = part.substr(negative || part.starts_with('+') ? 1 : 0);
  if (digits.empty()) return BadNumber(part, "invalid syntax");
  uint64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return BadNumber(part, "invalid syntax");
    const auto digit = static_cast<uint64_t>(c - '0');
    if (value > (std::numeric_limits<uint64_t>::max() - digit) / 10) {
      return BadNumber(part, "value out of range");
    }
    value = value * 10 + digit;
  }
  if (value > kMax + (negative ? 1 : 0)) return BadNumber(part, "value out of range");
  return static_cast<int64_t>(negative ? 0 - value : value);
}

/// Both ends as they were written, not yet checked against each other.
struct Bounds {
  int64_t low;
  int64_t high;
};

base::Result<Bounds> ReadBounds(std::string_view value) {
  const size_t hyphen = value.find('-');
  const size_t plus = value.find('+');
  if (value.empty() || (hyphen != kNone && plus != kNone)) {
    return Bad(fmt::format("unable to parse port range: {}", value));
  }
  const size_t split = std::min(hyphen, plus);
  const base::Result<int64_t> low = ReadInt(value.substr(0, split));
  if (!low) return tl::unexpected(low.error());
  if (split == kNone) return Bounds{.low = *low, .high = *low};
  const base::Result<int64_t> second = ReadInt(value.substr(split + 1));
  if (!second) return tl::unexpected(second.error());
  if (split == hyphen) return Bounds{.low = *low, .high = *second};
  // Without a '-' in the text neither number is negative, so cutting both keeps every sum that is
  // too large too large, and in range of the type.
  constexpr int64_t kTooLarge = kMaxPort + 1;
  return Bounds{.low = *low, .high = std::min(*low, kTooLarge) + std::min(*second, kTooLarge)};
}

}  // namespace

std::string PortRange::ToString() const { return fmt::format("{}-{}", first_, last_); }

base::Result<PortRange> ParsePortRange(std::string_view text) {
  const std::string_view value = Trim(text);
  const base::Result<Bounds> bounds = ReadBounds(value);
  if (!bounds) return tl::unexpected(bounds.error());
  if (bounds->low > kMaxPort || bounds->high > kMaxPort) {
    return Bad(fmt::format("the port range cannot be greater than 65535: {}", value));
  }
  if (bounds->high < bounds->low) {
    return Bad(fmt::format("end port cannot be less than start port: {}", value));
  }
  // `low` has no sign: it is what precedes the first sign in the text, or there is none.
  return PortRange(static_cast<uint16_t>(bounds->low), static_cast<uint16_t>(bounds->high));
}

}  // namespace berth::ip
