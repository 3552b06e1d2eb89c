// The kinds of values that a Service can have. All values are numbers; the kind says whether a
// number is an IPv4 address, an IPv6 address or a node port, and how to write it.
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

/// Returns the canonical text of a value: an address, or the decimal number of a port.
std::string ValueText(ValueKind kind, U128 value);

/// Returns the name in documents: "IPv4", "IPv6" or "NodePort".
std::string_view KindName(ValueKind kind);

/// Returns the noun for `count` values: "IPv4 address", "IPv4 addresses", "node port", ...
std::string_view KindNoun(ValueKind kind, U128 count);

/// Returns a noun without the family: "addresses", "ports".
std::string_view ShortNoun(ValueKind kind, U128 count);

}  // namespace berth::cli
