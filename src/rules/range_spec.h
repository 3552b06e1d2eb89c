// What IPRanges and NodePortRanges of allocation.berth.io have in common: how their `spec` is read
// and what is refused in it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/uint128.h"
#include "codec/value.h"
#include "ip/addr.h"
#include "ip/port_range.h"
#include "rules/field_error.h"
#include "rules/names.h"

namespace berth::rules {

/// The names of the ranges that a cluster begins with.
inline constexpr std::string_view kIpv4RangeName = "allocator.ipv4.k8s.io";
inline constexpr std::string_view kIpv6RangeName = "allocator.ipv6.k8s.io";
inline constexpr std::string_view kNodePortRangeName = "allocator.nodeport.k8s.io";

constexpr std::string_view WellKnownRange(ip::Family family) {
  return family == ip::Family::kV4 ? kIpv4RangeName : kIpv6RangeName;
}

inline bool IsWellKnownRange(std::string_view name) {
  return name == kIpv4RangeName || name == kIpv6RangeName || name == kNodePortRangeName;
}

inline constexpr size_t kMostExcluded = 4096;
inline constexpr int64_t kMostSeconds = 86400;  ///< Of a cool-down, and of a hold.

/// What is wrong with `spec.range` of an IPRange, in the words of Kubernetes where it has some. One
/// that is fine can serve at least one Service.
Problems IpRangeProblems(std::string_view text);
/// The same of a NodePortRange: "443" or "30000-32767".
Problems NodePortRangeProblems(std::string_view text);

/// What is wrong with an entry of `spec.excluded`: an address or a CIDR of the family (nothing: of
/// any), or a port or a range of ports. It may lie outside of the range.
Problems ExcludedAddressProblems(std::string_view text, std::optional<ip::Family> family);
Problems ExcludedPortProblems(std::string_view text);

/// The ports of `spec.range` or of an entry of `spec.excluded`; nothing: the text is not valid.
std::optional<ip::PortRange> ReadPorts(std::string_view text);

/// The addresses of an entry of `spec.excluded`, both ends included; nothing: it is not valid.
struct ExcludedAddresses {
  base::U128 first = 0;
  base::U128 last = 0;
};
std::optional<ExcludedAddresses> ReadExcludedAddresses(std::string_view text, ip::Family family);

/// `staticBand`, `coolDownSeconds` and `excluded`, whose entries `problems_of` looks at. Whether
/// the band fits into the range is not said here.
void ValidateRangeOptions(FieldErrors& errors, const codec::Value& range,
                          const std::function<Problems(std::string_view)>& problems_of);

/// Of both kinds: the status is not the client's, and the generation counts changes of the spec.
void PrepareRangeCreate(codec::Value& range);
void PrepareRangeUpdate(codec::Value& range, const codec::Value& old);
/// Only the status changes, and managedFields with it.
void PrepareRangeStatusUpdate(codec::Value& range, const codec::Value& old);
FieldErrors ValidateRangeStatusUpdate(const codec::Value& range, const codec::Value& old);

}  // namespace berth::rules
