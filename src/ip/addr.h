// An IPv4 or IPv6 address, parsed and written exactly as Kubernetes does.
//
// Kubernetes parses addresses twice: leniently (leading zeros are decimal, IPv4-mapped IPv6 is
// IPv4) and strictly. Its field errors are about the differences between the two, so the lenient
// parser here records what it noticed.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/uint128.h"

namespace berth::ip {

enum class Family : uint8_t { kV4, kV6 };

/// Returns "IPv4" or "IPv6", the names in Service.spec.ipFamilies.
std::string_view FamilyText(Family family);

/// Returns the number of bits in an address of the family: 32 or 128.
constexpr int Width(Family family) { return family == Family::kV4 ? 32 : 128; }

class Addr {
 public:
  /// `bits` must fit the family's width.
  constexpr Addr(Family family, base::U128 bits) : bits_(bits), family_(family) {}

  constexpr Family family() const { return family_; }
  constexpr base::U128 bits() const { return bits_; }

  /// Returns the canonical text: a dotted quad, or RFC 5952. An IPv4-mapped IPv6 address is
  /// written in hexadecimal groups.
  std::string ToString() const;

  /// Returns the object name of the KEP-1880 draft: the address as a decimal number. Returns
  /// nullopt for an IPv6 address below 2^32, because its number already names an IPv4 address.
  std::optional<std::string> DecimalName() const;

  /// Orders IPv4 before IPv6, then by number.
  constexpr std::strong_ordering operator<=>(const Addr& other) const {
    if (const auto by_family = family_ <=> other.family_; by_family != 0) return by_family;
    return bits_ <=> other.bits_;
  }
  constexpr bool operator==(const Addr& other) const = default;

 private:
  base::U128 bits_;
  Family family_;
};

/// The result of a lenient parse, and what a strict one would object to.
struct LooseAddr {
  Addr addr;
  bool leading_zeros = false;  ///< "010.0.0.1", "00001::"
  bool v4_mapped = false;      ///< "::ffff:10.0.0.1"; `addr` is then the IPv4 address
};

/// Returns nullopt if `text` is not an address at all. Text with a zone ("%eth0") is not one.
std::optional<LooseAddr> ParseAddrLoose(std::string_view text);

/// What a field accepts. Fields that are older than Kubernetes' strict rules also accept IPv6 text
/// that is not canonical (upper case, uncompressed).
enum class Strictness : uint8_t { kLegacyField, kCanonical };

/// Returns the address. The error is the detail that Kubernetes prints after
/// "Invalid value: ...: ".
base::Result<Addr> ParseAddr(std::string_view text, Strictness strictness = Strictness::kCanonical);

/// Parses a DecimalName. Numbers below 2^32 are IPv4, all others IPv6. Signs, leading zeros and
/// numbers of more than 128 bits are errors.
base::Result<Addr> ParseDecimalName(std::string_view text);

}  // namespace berth::ip
