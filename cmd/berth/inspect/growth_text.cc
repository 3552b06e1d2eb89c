#include "berth/inspect/growth_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "berth/text.h"
#include "codec/timestamp.h"

namespace berth::cli {
namespace {

using inspect::Growth;
using inspect::GrowthBasis;
using inspect::TimeToFull;

struct TimeUnit {
  double days;
  double from;  // The shortest time, in days, for which this unit is used.
  std::string_view brief;
  std::string_view one;
  std::string_view many;
};
constexpr std::array<TimeUnit, 4> kTimeUnits = {{
    {365, 730, "y", "year", "years"},
    {30, 90, "mo", "month", "months"},
    {1, 2, "d", "day", "days"},
    {1.0 / 24, 0, "h", "hour", "hours"},
}};

const TimeUnit& UnitOf(double days) {
  for (const TimeUnit& unit : kTimeUnits) {
    if (days >= unit.from) return unit;
  }
  return kTimeUnits.back();
}

uint64_t NumberOf(double days, const TimeUnit& unit) {
  return static_cast<uint64_t>(std::max(1L, std::lround(days / unit.days)));
}

std::string RateNumber(double number) {
  const double size = std::abs(number);
  if (size >= 1e15) return fmt::format("{:.3g}", size);
  // A tenth matters only where the number is small and not whole.
  if (size >= 9.95 || std::abs(size - std::round(size)) < 0.05) {
    return WithSeparators(static_cast<base::U128>(std::llround(size)));
  }
  return fmt::format("{:.1f}", size);
}

std::string DateText(base::WallTime now, const std::optional<double>& days) {
  if (!days) return "never";
  const auto time = inspect::TimeAfter(now, *days);
  if (!time) return "after 100 years";
  return codec::FormatTime(*time).substr(0, std::string_view("2026-01-01").size());
}

codec::Value DaysDocument(const std::optional<double>& days, base::WallTime now) {
  if (!days) return {};
  const auto time = inspect::TimeAfter(now, *days);
  return codec::Object{{"days", *days},
                       {"time", time ? codec::Value(codec::FormatTime(*time)) : codec::Value()}};
}

}  // namespace

std::string RateText(double per_day) {
  constexpr std::array<std::pair<double, std::string_view>, 3> kRates = {
      {{1, "day"}, {7, "week"}, {30, "month"}}};
  for (const auto& [days, unit] : kRates) {
    const double number = per_day * days;
    const bool last = unit == "month";
    if (std::abs(number) < (last ? 0.05 : 0.95)) continue;
    return fmt::format("{}{}/{}", number < 0 ? "-" : "+", RateNumber(number), unit);
  }
  return "0";
}

std::string ShortDays(double days) {
  if (days > inspect::kFarDays) return ">100 y";
  const TimeUnit& unit = UnitOf(days);
  return fmt::format("{} {}", NumberOf(days, unit), unit.brief);
}

std::string DaysInWords(double days) {
  if (days > inspect::kFarDays) return "more than 100 years";
  const TimeUnit& unit = UnitOf(days);
  const uint64_t number = NumberOf(days, unit);
  return fmt::format("{} {}", number, number == 1 ? unit.one : unit.many);
}

std::string FullInText(const TimeToFull& full) {
  if (!full.known) return "?";
  if (full.FullNow()) return "full";
  return full.likely ? ShortDays(*full.likely) : "never";
}

std::string FullSentence(const TimeToFull& full, base::WallTime now) {
  if (!full.known) return "unknown";
  if (full.FullNow()) return "now";
  if (!full.likely) {
    if (!full.earliest || *full.earliest > inspect::kFarDays) return "never: it does not grow";
    return fmt::format("never at this rate, at the earliest {}", DateText(now, full.earliest));
  }
  if (*full.likely > inspect::kFarDays) return "in more than 100 years";
  const std::string date = DateText(now, full.likely);
  const std::string first = DateText(now, full.earliest);
  const std::string last = DateText(now, full.latest);
  std::string out = fmt::format("in about {}, on {}", DaysInWords(*full.likely), date);
  if (first == date && last == date) return out;
  return out + fmt::format(" (earliest {}, latest {})", first, last);
}

std::string BasisText(const Growth& growth) {
  const auto days = static_cast<uint64_t>(std::max(1L, std::lround(growth.days)));
  const std::string last = days == 1 ? "day" : fmt::format("{} days", days);
  switch (growth.basis) {
    case GrowthBasis::kNone:
      return "no creation times, or less than a day of them";
    case GrowthBasis::kCreationTimes:
      return fmt::format("by creation times of the last {}", last);
    case GrowthBasis::kHistory:
      return fmt::format("by the history of the last {}", last);
    case GrowthBasis::kGiven:
      break;
  }
  return "as supposed";
}

codec::Value GrowthDocument(const Growth& growth) {
  const auto number = [&](double value) {
    return growth.Known() ? codec::Value(value) : codec::Value();
  };
  return codec::Object{
      {"basis", inspect::NameOf(growth.basis)}, {"perDay", number(growth.likely)},
      {"perDayLow", number(growth.low)},        {"perDayHigh", number(growth.high)},
      {"observedDays", number(growth.days)},    {"burst", number(growth.burst)}};
}

codec::Value TimeToFullDocument(const TimeToFull& full, base::WallTime now) {
  return codec::Object{{"known", full.known},
                       {"fullNow", full.FullNow()},
                       {"earliest", DaysDocument(full.earliest, now)},
                       {"likely", DaysDocument(full.likely, now)},
                       {"latest", DaysDocument(full.latest, now)}};
}

}  // namespace berth::cli
