#include "rules/age.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>

#include "codec/timestamp.h"

namespace berth::rules {
namespace {

using std::chrono::nanoseconds;

/// Formats "3m20s". The smaller unit is left out if it is zero.
std::string TwoUnits(int64_t large, char large_unit, int64_t small, char small_unit) {
  if (small == 0) return fmt::format("{}{}", large, large_unit);
  return fmt::format("{}{}{}{}", large, large_unit, small, small_unit);
}

}  // namespace

std::string HumanDuration(nanoseconds duration) {
  const int64_t secs = duration_cast<std::chrono::seconds>(duration).count();
  if (secs < -1) return "<invalid>";
  if (secs < 0) return "0s";
  if (secs < 120) return fmt::format("{}s", secs);
  const int64_t mins = secs / 60;
  if (mins < 10) return TwoUnits(mins, 'm', secs % 60, 's');
  if (mins < 180) return fmt::format("{}m", mins);
  const int64_t hrs = mins / 60;
  if (hrs < 8) return TwoUnits(hrs, 'h', mins % 60, 'm');
  if (hrs < 48) return fmt::format("{}h", hrs);
  if (hrs < int64_t{24} * 8) return TwoUnits(hrs / 24, 'd', hrs % 24, 'h');
  const int64_t dys = hrs / 24;
  if (dys < int64_t{365} * 2) return fmt::format("{}d", dys);
  if (dys < int64_t{365} * 8) return TwoUnits(dys / 365, 'y', dys % 365, 'd');
  return fmt::format("{}y", dys / 365);
}

std::string Age(std::string_view time, base::WallTime now) {
  const std::optional<base::WallTime> then = codec::ParseTime(time);
  if (!then.has_value()) return "<unknown>";
  // A difference that exceeds the range of a duration becomes the longest possible one.
  int64_t nanos = 0;
  if (__builtin_sub_overflow(now.time_since_epoch().count(), then->time_since_epoch().count(),
                             &nanos)) {
    nanos = now < *then ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  }
  return HumanDuration(nanoseconds(nanos));
}

}  // namespace berth::rules
