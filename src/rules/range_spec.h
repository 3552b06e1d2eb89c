// The rules that IPRanges and NodePortRanges of allocation.berth.io share: how their `spec` is
// parsed and validated. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "alloc/pool_id.h"
#include "base/uint128.h"
#include "codec/value.h"
#include "ip/addr.h"
#include "ip/port_range.h"
#include "rules/field_error.h"
#include "rules/names.h"

namespace berth::rules {

/// The names of the ranges that a cluster starts with.
inline constexpr std::string_view kIpv4RangeName = "allocator.ipv4.k8s.io";
inline constexpr std::string_view kIpv6RangeName = "allocator.ipv6.k8s.io";
inline constexpr std::string_view kNodePortRangeName = "allocator.nodeport.k8s.io";

constexpr std::string_view WellKnownRange(ip::Family family) {
  return family == ip::Family::kV4 ? kIpv4RangeName : kIpv6RangeName;
}

/// Returns the name of the first range of a pool.
constexpr std::string_view WellKnownRange(alloc::PoolId pool) {
  if (pool == alloc::PoolId::kPorts) return kNodePortRangeName;
  return WellKnownRange(pool == alloc::PoolId::kIpv4 ? ip::Family::kV4 : ip::Family::kV6);
}

inline bool IsWellKnownRange(std::string_view name) {
  return name == kIpv4RangeName || name == kIpv6RangeName || name == kNodePortRangeName;
}

inline constexpr size_t kMostExcluded = 4096;
inline constexpr int64_t kMostSeconds = 86400;  ///< Limit for a cool-down and for a hold.

/// Returns the problems of `spec.range` of an IPRange, in the words of Kubernetes where it has
/// some. A valid range can serve at least one Service.
Problems IpRangeProblems(std::string_view text);
/// Does the same for a NodePortRange: "443" or "30000-32767".
Problems NodePortRangeProblems(std::string_view text);

/// Return the problems of an entry of `spec.excluded`. An entry is an address or a CIDR of the
/// family (nullopt means any family), or a port or a range of ports. It may lie outside of the
/// range.
Problems ExcludedAddressProblems(std::string_view text, std::optional<ip::Family> family);
Problems ExcludedPortProblems(std::string_view text);

/// Parses the ports of `spec.range` or of an entry of `spec.excluded`. Returns nullopt if the text
/// is not valid.
std::optional<ip::PortRange> ReadPorts(std::string_view text);

/// The addresses of an entry of `spec.excluded`, both ends included. ReadExcludedAddresses returns
/// nullopt if the text is not valid.
struct ExcludedAddresses {
  base::U128 first = 0;
  base::U128 last = 0;
};
std::optional<ExcludedAddresses> ReadExcludedAddresses(std::string_view text, ip::Family family);

/// Checks `staticBand`, `coolDownSeconds` and `excluded`; `problems_of` checks the entries of
/// `excluded`. Does not check whether the band fits into the range.
void ValidateRangeOptions(FieldErrors& errors, const codec::Value& range,
                          const std::function<Problems(std::string_view)>& problems_of);

/// Prepare both kinds for a write: the client does not control the status, and the generation
/// counts changes of the spec.
void PrepareRangeCreate(codec::Value& range);
void PrepareRangeUpdate(codec::Value& range, const codec::Value& old);
/// Keeps everything but the status and managedFields.
void PrepareRangeStatusUpdate(codec::Value& range, const codec::Value& old);
FieldErrors ValidateRangeStatusUpdate(const codec::Value& range, const codec::Value& old);

/// Returns what is wrong with `spec.staticBand` of an IPRange or a NodePortRange that is valid
/// otherwise.
FieldErrors ValidateStaticBand(const codec::Value& range);

}  // namespace berth::rules
