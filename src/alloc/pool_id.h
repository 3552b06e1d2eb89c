// The pools, one value of a pool, and an array with an element for each pool. Plain types.
//
// PerPool is the only place that turns a PoolId into an index. To walk over all pools, use
// `for (const PoolId pool : kAllPools)`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/uint128.h"
#include "ip/addr.h"

namespace berth::alloc {

/// All values of one kind.
enum class PoolId : uint8_t { kIpv4, kIpv6, kPorts };
inline constexpr std::array kAllPools = {PoolId::kIpv4, PoolId::kIpv6, PoolId::kPorts};
inline constexpr size_t kPools = kAllPools.size();

inline PoolId PoolOf(ip::Family family) {
  return family == ip::Family::kV4 ? PoolId::kIpv4 : PoolId::kIpv6;
}

/// One value of a pool.
struct PoolValue {
  PoolId pool = PoolId::kIpv4;
  base::U128 value = 0;

  bool operator==(const PoolValue&) const = default;
};

/// Returns the value as people write it: "10.96.0.10", "30080".
std::string TextOf(const PoolValue& value);

/// An element for each pool, in the order of kAllPools.
template <typename T>
struct PerPool : std::array<T, kPools> {
  using std::array<T, kPools>::operator[];
  constexpr T& operator[](PoolId pool) { return (*this)[static_cast<size_t>(pool)]; }
  constexpr const T& operator[](PoolId pool) const { return (*this)[static_cast<size_t>(pool)]; }
};

}  // namespace berth::alloc
