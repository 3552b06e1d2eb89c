#include "state/packed_text.h"

#include <array>
#include <chrono>

#include "state/time_gaps.h"

namespace berth::state {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

constexpr bool IsDash(size_t place) {
  return place == 8 || place == 13 || place == 18 || place == 23;
}

/// 16: it is none.
constexpr unsigned HexValue(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  return digit >= 'a' && digit <= 'f' ? static_cast<unsigned>(digit - 'a') + 10 : 16;
}

/// The number in the digits of `text` from `at` on; anything if they are none.
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

std::optional<PackedUuid> PackUuid(std::string_view text) {
  if (text.size() != kUuidSize) return std::nullopt;
  PackedUuid packed;
  size_t at = 0;
  for (char& byte : packed) {
    if (IsDash(at)) {
      if (text[at] != '-') return std::nullopt;
      ++at;
    }
    const unsigned high = HexValue(text[at++]);
    const unsigned low = HexValue(text[at++]);
    if (high > 15 || low > 15) return std::nullopt;
    byte = static_cast<char>(high << 4 | low);
  }
  return packed;
}

void AppendUuid(std::string& out, const PackedUuid& packed) {
  std::array<char, kUuidSize> text;
  size_t at = 0;
  for (const char byte : packed) {
    if (IsDash(at)) text[at++] = '-';
    text[at++] = kHex[static_cast<uint8_t>(byte) >> 4];
    text[at++] = kHex[static_cast<uint8_t>(byte) & 0xfU];
  }
  out.append(text.data(), at);
}

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
  // Signs that are no digits, an hour 24, a second 60: all that is not written like this.
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
