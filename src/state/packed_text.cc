#include "state/packed_text.h"

#include <array>
#include <chrono>

#include "state/time_gaps.h"

namespace berth::state {
namespace {

/// Returns the number that `digits` digits of `text` from `at` on make. The result is meaningless
/// if these are not all digits.
unsigned NumberAt(std::string_view text, size_t at, size_t digits) {
  unsigned number = 0;
  for (const char digit : text.substr(at, digits)) {
    number = number * 10 + static_cast<unsigned char>(digit) - '0';
  }
  return number;
}

void PutNumber(char* at, unsigned number, size_t digits) {
  for (; digits > 0; number /= 10) at[--digits] = static_cast<char>('0' + number % 10);
}

using TimeText = std::array<char, kTimeSize>;

TimeText Format(uint32_t packed) {
  namespace chrono = std::chrono;
  constexpr unsigned kDay = 86'400;
  const chrono::year_month_day date{chrono::sys_days(chrono::days(packed / kDay))};
  const unsigned second = packed % kDay;
  TimeText text{'0', '0', '0', '0', '-', '0', '0', '-', '0', '0',
                'T', '0', '0', ':', '0', '0', ':', '0', '0', 'Z'};
  PutNumber(text.data(), static_cast<unsigned>(static_cast<int>(date.year())), 4);
  PutNumber(text.data() + 5, static_cast<unsigned>(date.month()), 2);
  PutNumber(text.data() + 8, static_cast<unsigned>(date.day()), 2);
  PutNumber(text.data() + 11, second / 3600, 2);
  PutNumber(text.data() + 14, second / 60 % 60, 2);
  PutNumber(text.data() + 17, second % 60, 2);
  return text;
}

}  // namespace

std::optional<uint32_t> PackTime(std::string_view text) {
  if (text.size() != kTimeSize) return std::nullopt;
  namespace chrono = std::chrono;
  const chrono::year_month_day date(chrono::year(static_cast<int>(NumberAt(text, 0, 4))),
                                    chrono::month(NumberAt(text, 5, 2)),
                                    chrono::day(NumberAt(text, 8, 2)));
  if (!date.ok()) return std::nullopt;
  const auto time = chrono::sys_days(date) + chrono::hours(NumberAt(text, 11, 2)) +
                    chrono::minutes(NumberAt(text, 14, 2)) + chrono::seconds(NumberAt(text, 17, 2));
  const int64_t seconds = time.time_since_epoch().count();
  if (seconds < 0 || seconds > UINT32_MAX) return std::nullopt;
  // The comparison finds everything that is not a time in this form: signs that are not digits, the
  // hour 24, the second 60.
  const auto packed = static_cast<uint32_t>(seconds);
  const TimeText again = Format(packed);
  if (std::string_view(again.data(), again.size()) != text) return std::nullopt;
  return packed;
}

void AppendTime(std::string& out, uint32_t packed) {
  const TimeText text = Format(packed);
  out.append(text.data(), text.size());
}

}  // namespace berth::state
