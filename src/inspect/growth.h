// How fast the values in use of a range grow, and when the range is full. Pure; times are in UTC.
//
// The method. The time looked at is cut into 28 equal periods, and the change of each period is one
// observation. The rate is the whole change divided by the whole time. The band around it comes
// from the spread of the 28 changes: 90 % of it, by Student's t. Changes are used and not levels,
// because the number of values in use is a sum: a slope fitted to levels looks far more certain
// than it is. The spread is at least that of a Poisson process, so that a few events give a wide
// band.
//
// One period that brings more than half of all growth is an event and not a trend, such as a move
// from another cluster. The rate leaves it out. The upper end of the band does not, so the earliest
// date says what happens if such days come again.
//
// The time looked at is 28 days, which have each weekday four times. Where fewer than ten values
// changed in it, it is 112 days, then 448 days. It never begins before the first observation.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "base/uint128.h"

namespace berth::inspect {

/// What a rate was computed from.
enum class GrowthBasis : uint8_t {
  kNone,           ///< Nothing, or less than a day. The rate is unknown.
  kCreationTimes,  ///< When the Services that exist now were created.
  kHistory,        ///< How many values were in use at several times.
  kGiven,          ///< A rate that the caller supposes.
};
/// Returns the name in documents: "None", "CreationTimes", "History" or "Given".
std::string_view NameOf(GrowthBasis basis);

/// The number of values in use at a time.
struct UsePoint {
  base::WallTime time = {};
  double values = 0;
};

/// Values per day.
struct Growth {
  GrowthBasis basis = GrowthBasis::kNone;
  double likely = 0;
  double low = 0;  ///< low <= likely <= high.
  double high = 0;
  double days = 0;  ///< The length of the time looked at.
  double burst =
      0;  ///< The values of the period that `likely` leaves out; 0 if there is no such one.

  bool Known() const { return basis != GrowthBasis::kNone; }
  /// Returns this growth with so many values a day more.
  Growth Plus(double per_day) const;
};

/// Returns the growth from the times at which the values in use were taken, in any order. `since`
/// is when the cluster began; what was taken then is no growth. Values that were released since are
/// not among the times. So this is a lower bound on how many values are taken, and it is more than
/// the net growth if older values were released meanwhile.
Growth GrowthOfCreations(std::span<const base::WallTime> created, base::WallTime since,
                         base::WallTime now);

/// Returns the net growth from a history, in any order. Between two points the values in use are
/// taken to change evenly. Points after `now` do not count.
Growth GrowthOfHistory(std::span<const UsePoint> history, base::WallTime now);

/// When something is full, in days from now. Nullopt means that it does not fill up at that rate.
struct TimeToFull {
  bool known = false;  ///< False if the growth is unknown and something is free.
  std::optional<double> earliest = {};
  std::optional<double> likely = {};
  std::optional<double> latest = {};

  bool FullNow() const { return known && likely && *likely == 0; }
};
TimeToFull FullAfter(base::U128 free, const Growth& growth);

/// A time that is further away is called "more than 100 years".
inline constexpr double kFarDays = 36500;

/// Returns the time that lies so many days after `now`. Nullopt if it is further than kFarDays.
std::optional<base::WallTime> TimeAfter(base::WallTime now, double days);

/// Parses a rate such as "500/week", "20/day" or "1000/month" into values per day. A month has 30
/// days. Returns nullopt if the text is something else.
std::optional<double> ParseRate(std::string_view text);

}  // namespace berth::inspect
