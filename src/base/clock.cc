#include "base/clock.h"

#include <fmt/format.h>

namespace berth::base {

WallTime SystemClock::Now() const { return std::chrono::system_clock::now(); }

SteadyTime SystemClock::Steady() const { return std::chrono::steady_clock::now(); }

std::string FormatRfc3339Millis(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{std::chrono::floor<std::chrono::milliseconds>(time - day)};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

}  // namespace berth::base
