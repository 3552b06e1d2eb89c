// Proposes values that a manifest can hard-code: free, in the static band of an open range, and
// asked for by no file. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alloc/pool_id.h"
#include "inspect/census.h"
#include "inspect/host_ports.h"
#include "ip/port_range.h"

namespace berth::inspect {

struct SafeValue {
  alloc::PoolValue value = {};
  alloc::Interval band = {};  ///< The static band that it lies in.
};

class SafeValues {
 public:
  /// The census must outlive this. `ranges` are those that values may come from.
  SafeValues(const Census& census, std::vector<RangeRef> ranges, HostPorts host_ports,
             const ip::PortRange& ephemeral);

  /// Keeps a value from being proposed, because a file asks for it.
  void Exclude(const alloc::PoolValue& value) { excluded_.insert({value.pool, value.value}); }

  /// Returns a value for a Service instead of the one that it asks for, or nullopt if no static
  /// band has one. Ranges that contain the asked value come first; with `only_same` no others are
  /// used. The same Service gets the same value while that is free, and different Services get
  /// different ones. The first and the tenth address of a range are not proposed, because the API
  /// server and cluster DNS use them.
  std::optional<SafeValue> Propose(const alloc::PoolValue& asked, std::string_view service,
                                   bool only_same);

 private:
  std::optional<SafeValue> ProposeFrom(const RangeRef& range, std::string_view service);
  bool IsSafe(const RangeRef& range, const alloc::PoolValue& value) const;

  const Census& census_;
  const std::vector<RangeRef> ranges_;
  const HostPorts host_ports_;
  const ip::PortRange ephemeral_;
  std::set<std::pair<alloc::PoolId, base::U128>> excluded_;
};

/// Returns a number for a text that is the same on every machine (FNV-1a).
uint64_t StableHash(std::string_view text);

}  // namespace berth::inspect
