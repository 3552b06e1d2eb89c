// Points in time as Kubernetes writes them. Pure functions, safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace berth::codec {

/// "2026-11-15T04:35:00Z": what a kTime field holds. Fractions are cut off.
std::string FormatTime(base::WallTime time);

/// "2026-11-15T04:35:00.123456Z": what a kMicroTime field holds.
std::string FormatMicroTime(base::WallTime time);

/// RFC 3339 with any fraction and any offset, from year 0 to 9999. WallTime itself reaches only
/// from 1677 to 2262; what lies outside comes as the nearest it has.
std::optional<base::WallTime> ParseTime(std::string_view text);

/// Seconds since 1970 and the rest: reaches everything that can be written.
struct Instant {
  int64_t seconds = 0;
  int32_t nanos = 0;

  bool operator==(const Instant&) const = default;
};

/// The first and last seconds that four digits of a year can express.
inline constexpr int64_t kFirstSecond = -62167219200;
inline constexpr int64_t kLastSecond = 253402300799;

/// Whether this is, with the precision of its field, Go's zero time (the first instant of year 1),
/// which is the same as none.
bool IsZeroTime(Instant instant, bool micros);

/// An Error says in Go's words what is wrong.
base::Result<Instant> ParseInstant(std::string_view text);

void AppendInstant(std::string& out, Instant instant, bool micros);

}  // namespace berth::codec
