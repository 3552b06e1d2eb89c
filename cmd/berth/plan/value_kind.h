// The kinds of values a Service can hold: what tells an IPv4 address from an IPv6 one and from a
// node port once both are numbers, and how each is written.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/uint128.h"

namespace berth::cli {

using base::U128;

enum class ValueKind : uint8_t { kIpv4, kIpv6, kNodePort };

inline constexpr std::array kValueKinds = {ValueKind::kIpv4, ValueKind::kIpv6,
                                           ValueKind::kNodePort};

/// The canonical text of a value: an address, or the decimal number of a port.
std::string ValueText(ValueKind kind, U128 value);

/// The name in documents: "IPv4", "IPv6" or "NodePort".
std::string_view KindName(ValueKind kind);

/// What `count` values are called: "IPv4 address", "IPv4 addresses", "node port", ...
std::string_view KindNoun(ValueKind kind, U128 count);

/// As KindNoun where the family is clear already: "addresses", "ports".
std::string_view ShortNoun(ValueKind kind, U128 count);

}  // namespace berth::cli
