// Points in time as Kubernetes writes them. Pure functions, safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace berth::codec {

/// Returns the text of a kTime field, like "2026-11-15T04:35:00Z". Fractions are cut off.
std::string FormatTime(base::WallTime time);

/// Returns the text of a kMicroTime field, like "2026-11-15T04:35:00.123456Z".
std::string FormatMicroTime(base::WallTime time);

/// Parses RFC 3339 with any fraction and any offset, from year 0 to 9999. WallTime itself only
/// covers 1677 to 2262; a time outside of that becomes the nearest one inside.
std::optional<base::WallTime> ParseTime(std::string_view text);

/// Seconds since 1970 and the rest. It covers every time that can be written.
struct Instant {
  int64_t seconds = 0;
  int32_t nanos = 0;

  bool operator==(const Instant&) const = default;
};

/// The first and last second that a four-digit year can express.
inline constexpr int64_t kFirstSecond = -62167219200;
inline constexpr int64_t kLastSecond = 253402300799;

/// Returns whether this is, with the precision of its field, Go's zero time (the first instant of
/// year 1), which means "not set".
bool IsZeroTime(Instant instant, bool micros);

/// Parses a time. An Error says what is wrong in Go's words.
base::Result<Instant> ParseInstant(std::string_view text);

void AppendInstant(std::string& out, Instant instant, bool micros);

}  // namespace berth::codec
