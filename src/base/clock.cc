#include "base/clock.h"

namespace berth::base {

WallTime SystemClock::Now() const { return std::chrono::system_clock::now(); }

SteadyTime SystemClock::Steady() const { return std::chrono::steady_clock::now(); }

namespace {

/// Writes the digits without a format string, which would cost ten times as much: every
/// request needs the time as text.
void PutDigits(std::string& text, size_t at, size_t count, uint64_t number) {
  for (size_t i = at + count; i-- > at; number /= 10)
    text[i] = static_cast<char>('0' + number % 10);
}

}  // namespace

std::string FormatRfc3339Millis(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{std::chrono::floor<std::chrono::milliseconds>(time - day)};
  std::string text = "0000-00-00T00:00:00.000Z";
  PutDigits(text, 0, 4, static_cast<uint64_t>(static_cast<int>(date.year())));
  PutDigits(text, 5, 2, static_cast<unsigned>(date.month()));
  PutDigits(text, 8, 2, static_cast<unsigned>(date.day()));
  PutDigits(text, 11, 2, static_cast<uint64_t>(clock.hours().count()));
  PutDigits(text, 14, 2, static_cast<uint64_t>(clock.minutes().count()));
  PutDigits(text, 17, 2, static_cast<uint64_t>(clock.seconds().count()));
  PutDigits(text, 20, 3, static_cast<uint64_t>(clock.subseconds().count()));
  return text;
}

}  // namespace berth::base
