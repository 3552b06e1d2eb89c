#include "ip/port_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/go_text.h"

namespace berth::ip {
namespace {

constexpr int64_t kMaxPort = 65535;
constexpr size_t kNone = std::string_view::npos;

tl::unexpected<base::Error> Bad(std::string message) {
  return base::Fail(base::Reason::kInvalid, std::move(message));
}

tl::unexpected<base::Error> BadNumber(std::string_view part, std::string_view why) {
  return Bad(fmt::format("strconv.Atoi: parsing {}: {}", base::GoQuoted(part), why));
}

/// Parses as Go's strconv.Atoi does: digits that overflow 64 bits are out of range before a later
/// character can be a syntax error.
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

/// Both ends as written, not yet compared with each other.
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
  // If the text has no '-', neither number is negative. So limiting both keeps every sum that is
  // too large too large, and avoids an overflow.
  constexpr int64_t kTooLarge = kMaxPort + 1;
  return Bounds{.low = *low, .high = std::min(*low, kTooLarge) + std::min(*second, kTooLarge)};
}

}  // namespace

std::string PortRange::ToString() const { return fmt::format("{}-{}", first_, last_); }

base::Result<PortRange> ParsePortRange(std::string_view text) {
  const std::string_view value = base::GoTrimSpace(text);
  const base::Result<Bounds> bounds = ReadBounds(value);
  if (!bounds) return tl::unexpected(bounds.error());
  if (bounds->low > kMaxPort || bounds->high > kMaxPort) {
    return Bad(fmt::format("the port range cannot be greater than 65535: {}", value));
  }
  if (bounds->high < bounds->low) {
    return Bad(fmt::format("end port cannot be less than start port: {}", value));
  }
  // `low` is not negative: it is the text before the first sign, or the whole
  // text if there is no sign.
  return PortRange(static_cast<uint16_t>(bounds->low), static_cast<uint16_t>(bounds->high));
}

}  // namespace berth::ip
