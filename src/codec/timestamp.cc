#include "codec/timestamp.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include "base/ascii.h"
#include "base/go_text.h"

namespace berth::codec {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year_month_day;

constexpr int64_t kSecondsPerDay = 86'400;
constexpr int64_t kZeroSecond = -62'135'596'800;  // 0001-01-01T00:00:00Z
constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr size_t kMaxFractionDigits = 9;

using base::IsDigit;

auto Complain(std::string message) {
  return base::Fail(base::Reason::kBadRequest, std::move(message));
}

// Reads the parts of a text one after the other and keeps the first error, in Go's words.
class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : text_(text), rest_(text) {}

  /// Reads exactly `digits` digits. `layout` is Go's name for the part.
  int Number(size_t digits, std::string_view layout) {
    int number = 0;
    for (size_t i = 0; i < digits; ++i) {
      if (i >= rest_.size() || !IsDigit(rest_[i])) {
        Miss(layout);
        return 0;
      }
      number = number * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(digits);
    return number;
  }

  int Number(size_t digits, std::string_view layout, int least, int most, std::string_view name) {
    const int number = Number(digits, layout);
    if (number < least || number > most) OutOfRange(name);
    return number;
  }

  void Literal(std::string_view expected) {
    if (!Skip(expected.front())) Miss(expected);
  }

  bool Skip(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// Reads nanoseconds. Further digits are cut off.
  int32_t Fraction() {
    if (rest_.size() < 2 || rest_[0] != '.' || !IsDigit(rest_[1])) return 0;
    rest_.remove_prefix(1);
    int32_t nanos = 0;
    size_t digits = 0;
    for (; !rest_.empty() && IsDigit(rest_.front()); rest_.remove_prefix(1), ++digits) {
      if (digits < kMaxFractionDigits) nanos = nanos * 10 + (rest_.front() - '0');
    }
    for (; digits < kMaxFractionDigits; ++digits) nanos *= 10;
    return nanos;
  }

  /// Reads an offset in seconds east of UTC.
  int64_t Offset() {
    static constexpr std::string_view kLayout = "Z07:00";
    if (Skip('Z')) return 0;
    const bool west = !rest_.empty() && rest_.front() == '-';
    if (rest_.size() < 6 || (rest_.front() != '+' && !west) || rest_[3] != ':') {
      Miss(kLayout);
      return 0;
    }
    rest_.remove_prefix(1);
    const int hours = Number(2, kLayout, 0, 24, "time zone offset hour");
    rest_.remove_prefix(1);
    const int minutes = Number(2, kLayout, 0, 59, "time zone offset minute");
    const int64_t seconds = int64_t{hours} * 3600 + int64_t{minutes} * 60;
    return west ? -seconds : seconds;
  }

  void End() {
    if (complaint_.empty() && !rest_.empty()) {
      complaint_ = fmt::format("parsing time {}: extra text: {}", base::GoQuoted(text_),
                               base::GoQuoted(rest_));
    }
  }

  void OutOfRange(std::string_view name) {
    if (!complaint_.empty()) return;
    complaint_ = fmt::format("parsing time {}: {} out of range", base::GoQuoted(text_), name);
  }

  const std::string& Complaint() const { return complaint_; }

 private:
  void Miss(std::string_view layout) {
    if (!complaint_.empty()) return;
    complaint_ = fmt::format(
        "parsing time {} as \"2006-01-02T15:04:05Z07:00\": cannot parse {} "
        "as {}",
        base::GoQuoted(text_), base::GoQuoted(rest_), base::GoQuoted(layout));
  }

  std::string_view text_;
  std::string_view rest_;
  std::string complaint_;
};

void AppendDigits(std::string& out, unsigned number, size_t digits) {
  std::array<char, 9> buffer{};
  for (size_t i = digits; i-- > 0; number /= 10) buffer[i] = static_cast<char>('0' + number % 10);
  out.append(buffer.data(), digits);
}

Instant ToInstant(base::WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return {.seconds = seconds.time_since_epoch().count(),
          .nanos = static_cast<int32_t>((time - seconds).count())};
}

std::string Format(Instant instant, bool micros) {
  std::string text;
  AppendInstant(text, instant, micros);
  return text;
}

}  // namespace

base::Result<Instant> ParseInstant(std::string_view text) {
  TimeReader reader(text);
  const int year = reader.Number(4, "2006");
  reader.Literal("-");
  const int month = reader.Number(2, "01", 1, 12, "month");
  reader.Literal("-");
  const int day = reader.Number(2, "02", 1, 31, "day");
  reader.Literal("T");
  const int hour = reader.Number(2, "15", 0, 23, "hour");
  reader.Literal(":");
  const int minute = reader.Number(2, "04", 0, 59, "minute");
  reader.Literal(":");
  const int second = reader.Number(2, "05", 0, 59, "second");
  const int32_t nanos = reader.Fraction();
  const int64_t offset = reader.Offset();
  reader.End();
  const year_month_day date(std::chrono::year(year),
                            std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) reader.OutOfRange("day");
  const int64_t seconds = sys_days(date).time_since_epoch().count() * kSecondsPerDay +
                          int64_t{hour} * 3600 + int64_t{minute} * 60 + second - offset;
  if (seconds < kFirstSecond || seconds > kLastSecond) reader.OutOfRange("year");
  if (!reader.Complaint().empty()) return Complain(reader.Complaint());
  return Instant{.seconds = seconds, .nanos = nanos};
}

bool IsZeroTime(Instant instant, bool micros) {
  return instant.seconds == kZeroSecond && (!micros || instant.nanos < 1000);
}

void AppendInstant(std::string& out, Instant instant, bool micros) {
  const int64_t seconds = std::clamp(instant.seconds, kFirstSecond, kLastSecond);
  int64_t day_number = seconds / kSecondsPerDay;
  int64_t second_of_day = seconds % kSecondsPerDay;
  if (second_of_day < 0) {
    second_of_day += kSecondsPerDay;
    --day_number;
  }
  const year_month_day date{sys_days(days(day_number))};
  const auto of_day = static_cast<unsigned>(second_of_day);
  AppendDigits(out, static_cast<unsigned>(static_cast<int>(date.year())), 4);
  out += '-';
  AppendDigits(out, static_cast<unsigned>(date.month()), 2);
  out += '-';
  AppendDigits(out, static_cast<unsigned>(date.day()), 2);
  out += 'T';
  AppendDigits(out, of_day / 3600, 2);
  out += ':';
  AppendDigits(out, of_day / 60 % 60, 2);
  out += ':';
  AppendDigits(out, of_day % 60, 2);
  if (micros) {
    out += '.';
    AppendDigits(out, static_cast<unsigned>(instant.nanos) / 1000, 6);
  }
  out += 'Z';
}

std::string FormatTime(base::WallTime time) { return Format(ToInstant(time), false); }

std::string FormatMicroTime(base::WallTime time) { return Format(ToInstant(time), true); }

std::optional<base::WallTime> ParseTime(std::string_view text) {
  const auto instant = ParseInstant(text);
  if (!instant) return std::nullopt;
  static constexpr int64_t kFurthest = std::numeric_limits<int64_t>::max() / kNanosPerSecond - 1;
  const int64_t seconds = std::clamp(instant->seconds, -kFurthest, kFurthest);
  const bool inside = seconds == instant->seconds;
  return base::WallTime(
      std::chrono::nanoseconds(seconds * kNanosPerSecond + (inside ? instant->nanos : 0)));
}

}  // namespace berth::codec
