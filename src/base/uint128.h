// 128-bit unsigned arithmetic, for the width of an IPv6 address and so of
// every value Berth allocates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace berth::base {

__extension__ using U128 = unsigned __int128;

inline constexpr U128 kU128Max = ~U128{0};

constexpr U128 MakeU128(uint64_t high, uint64_t low) { return (U128{high} << 64) | low; }
constexpr uint64_t High64(U128 value) { return static_cast<uint64_t>(value >> 64); }
constexpr uint64_t Low64(U128 value) { return static_cast<uint64_t>(value); }

/// Returns `value` if it fits a signed 64-bit API field, else that field's largest value.
constexpr int64_t SaturateToInt64(U128 value) {
  return value > U128{INT64_MAX} ? INT64_MAX : static_cast<int64_t>(value);
}

std::string ToDecimal(U128 value);

/// Parses a decimal number: digits only, no sign, no leading zeros, at most 128 bits. It accepts
/// exactly the texts that ToDecimal writes.
std::optional<U128> ParseDecimal(std::string_view text);

}  // namespace berth::base
