#include "inspect/growth.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace berth::inspect {
namespace {

using base::WallTime;
using Days = std::chrono::duration<double, std::ratio<86400>>;

constexpr size_t kPeriods = 28;
constexpr std::array<double, 3> kWindows = {28, 112, 448};  // In days.
constexpr double kEnoughChanges = 10;
constexpr double kLeastDays = 1;
constexpr double kStudent = 1.703;  // 90 % of the distribution with 27 degrees of freedom.
constexpr double kLeastBurst = 10;  // Fewer values are not worth an exception.

double DaysBetween(WallTime from, WallTime to) { return Days(to - from).count(); }

/// The changes of the periods of a time window.
struct Changes {
  double days = 0;
  std::array<double, kPeriods> of = {};

  double Sum() const {
    double sum = 0;
    for (const double change : of) sum += change;
    return sum;
  }
  double Movement() const {
    double sum = 0;
    for (const double change : of) sum += std::abs(change);
    return sum;
  }
};

/// Returns the estimate of the mean change, leaving out the burst if there is one.
Growth Estimate(const Changes& changes, GrowthBasis basis) {
  Growth growth{.basis = basis, .days = changes.days};
  std::vector<double> kept(changes.of.begin(), changes.of.end());
  const auto largest = std::ranges::max_element(kept);
  if (*largest >= kLeastBurst && *largest > changes.Movement() / 2) {
    growth.burst = *largest;
    kept.erase(largest);
  }
  const auto count = static_cast<double>(kept.size());
  const double days = changes.days * count / kPeriods;
  double sum = 0;
  double movement = 0;
  for (const double change : kept) {
    sum += change;
    movement += std::abs(change);
  }
  double squares = 0;
  for (const double change : kept) squares += std::pow(change - sum / count, 2);
  const double variance = std::max(squares / (count - 1) * count, movement);  // Of the sum.
  // The interval of a Poisson count, which is not symmetric for a small one.
  const double middle = sum + kStudent * kStudent / 2;
  const double half = kStudent * std::sqrt(variance + kStudent * kStudent / 4);
  growth.likely = sum / days;
  growth.low = std::min(growth.likely, (middle - half) / days);
  growth.high = std::max(growth.likely, (middle + half) / days);
  if (growth.burst > 0) growth.high = std::max(growth.high, changes.Sum() / changes.days);
  return growth;
}

/// Returns the values in use at a time, on the line between the two points around it.
double LevelAt(const std::vector<UsePoint>& points, WallTime time) {
  const auto after = std::ranges::upper_bound(points, time, {}, &UsePoint::time);
  if (after == points.begin()) return points.front().values;
  const UsePoint& before = *std::prev(after);
  if (after == points.end()) return before.values;
  const double part = DaysBetween(before.time, time) / DaysBetween(before.time, after->time);
  return before.values + part * (after->values - before.values);
}

WallTime Before(WallTime time, double days) {
  return time - std::chrono::duration_cast<WallTime::duration>(Days(days));
}

struct Creations {
  std::vector<double> ages = {};  // In days.
  double oldest = 0;              // How old the cluster is.
};

/// Returns how many were created in each period. What is as old as the cluster does not count.
Changes CreatedIn(const Creations& creations, double window) {
  Changes changes{.days = std::min(creations.oldest, window)};
  for (const double age : creations.ages) {
    if (age >= changes.days) continue;
    const auto period = static_cast<size_t>(age / changes.days * kPeriods);
    changes.of[std::min(period, kPeriods - 1)] += 1;
  }
  return changes;
}

Changes ChangesIn(const std::vector<UsePoint>& points, double window) {
  const double all = DaysBetween(points.front().time, points.back().time);
  Changes changes{.days = std::min(all, window)};
  double later = points.back().values;
  for (size_t i = 0; i < kPeriods; ++i) {
    const double age = changes.days * static_cast<double>(i + 1) / kPeriods;
    const double earlier = LevelAt(points, Before(points.back().time, age));
    changes.of[i] = later - earlier;
    later = earlier;
  }
  return changes;
}

template <typename Observations>
Growth OfShortestWindow(const Observations& observations, GrowthBasis basis,
                        Changes (*changes_in)(const Observations&, double)) {
  Changes changes;
  for (const double window : kWindows) {
    changes = changes_in(observations, window);
    if (changes.Movement() >= kEnoughChanges || changes.days < window) break;
  }
  if (changes.days < kLeastDays) return {};
  return Estimate(changes, basis);
}

}  // namespace

std::string_view NameOf(GrowthBasis basis) {
  switch (basis) {
    case GrowthBasis::kNone:
      return "None";
    case GrowthBasis::kCreationTimes:
      return "CreationTimes";
    case GrowthBasis::kHistory:
      return "History";
    case GrowthBasis::kGiven:
      break;
  }
  return "Given";
}

Growth Growth::Plus(double per_day) const {
  Growth sum = *this;
  sum.likely += per_day;
  sum.low += per_day;
  sum.high += per_day;
  return sum;
}

Growth GrowthOfCreations(std::span<const WallTime> created, WallTime since, WallTime now) {
  Creations creations{.oldest = DaysBetween(since, now)};
  creations.ages.reserve(created.size());
  // A time in the future comes from a clock that is ahead.
  for (const WallTime time : created) {
    creations.ages.push_back(std::max(0.0, DaysBetween(time, now)));
  }
  Growth growth = OfShortestWindow(creations, GrowthBasis::kCreationTimes, &CreatedIn);
  growth.low = std::max(growth.low, 0.0);
  return growth;
}

Growth GrowthOfHistory(std::span<const UsePoint> history, WallTime now) {
  std::vector<UsePoint> points;
  for (const UsePoint& point : history) {
    if (point.time <= now && std::isfinite(point.values)) points.push_back(point);
  }
  if (points.empty()) return {};
  std::ranges::stable_sort(points, {}, &UsePoint::time);
  return OfShortestWindow(points, GrowthBasis::kHistory, &ChangesIn);
}

TimeToFull FullAfter(base::U128 free, const Growth& growth) {
  if (free == 0) return {.known = true, .earliest = 0, .likely = 0, .latest = 0};
  if (!growth.Known()) return {};
  const auto values = static_cast<double>(free);
  const auto after = [values](double rate) -> std::optional<double> {
    if (!(rate > 0)) return std::nullopt;
    const double days = values / rate;
    return std::isfinite(days) ? std::optional(days) : std::nullopt;
  };
  return {.known = true,
          .earliest = after(growth.high),
          .likely = after(growth.likely),
          .latest = after(growth.low)};
}

std::optional<WallTime> TimeAfter(WallTime now, double days) {
  if (!(days <= kFarDays)) return std::nullopt;
  return Before(now, -std::max(days, 0.0));
}

std::optional<double> ParseRate(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
      {{"day", 1}, {"week", 7}, {"month", 30}, {"year", 365}}};
  constexpr uint64_t kMost = 1'000'000'000'000;
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto number = base::ParseDecimal(text.substr(0, slash));
  if (!number || *number > kMost) return std::nullopt;
  for (const auto& [unit, days] : kUnits) {
    if (text.substr(slash + 1) == unit) return static_cast<double>(*number) / days;
  }
  return std::nullopt;
}

}  // namespace berth::inspect
