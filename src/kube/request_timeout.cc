#include "kube/request_timeout.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "base/go_text.h"

namespace berth::kube {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 8> kUnits{{{"ns", 1},
                                                                     {"us", 1e3},
                                                                     {"µs", 1e3},
                                                                     {"μs", 1e3},
                                                                     {"ms", 1e6},
                                                                     {"s", 1e9},
                                                                     {"m", 60e9},
                                                                     {"h", 3600e9}}};
constexpr double kLongestTimeout = 3600e9 * 24 * 365;

/// Removes a unit from the front of the text and returns its nanoseconds, or 0 if there is no unit.
double TakeUnit(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find_first_of("0123456789."));
  for (const auto& [name, length] : kUnits) {
    if (word != name) continue;
    text.remove_prefix(word.size());
    return length;
  }
  return 0;
}

/// Returns a negative number if the text is not a duration.
double NanosecondsOf(std::string_view text) {
  constexpr double kNotADuration = -1;
  double total = 0;
  for (bool first = true; !text.empty(); first = false) {
    double number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc() || std::signbit(number)) return kNotADuration;
    const auto digits = static_cast<size_t>(end - text.data());
    const bool whole = text.substr(0, digits).find('.') == std::string_view::npos;
    text.remove_prefix(digits);
    const bool plain = first && whole && text.empty();
    const double unit = plain ? 1e9 : TakeUnit(text);
    if (unit == 0) return kNotADuration;
    total += number * unit;
  }
  return total;
}

}  // namespace

base::Result<std::chrono::nanoseconds> ParseRequestTimeout(std::string_view text) {
  const double total = NanosecondsOf(text);
  if (total >= 0 && total <= kLongestTimeout) {
    return std::chrono::nanoseconds(std::llround(total));
  }
  return base::Fail(base::Reason::kInvalid,
                    fmt::format("--request-timeout {} is not a time: write seconds, like 30, or "
                                "numbers with units, like 1m30s",
                                base::GoQuoted(text)));
}

}  // namespace berth::kube
