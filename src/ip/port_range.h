// A range of ports, in the syntax of kube-apiserver's --service-node-port-range.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::ip {

/// Both ends are included, and a range is never empty. It may contain port 0, as in Kubernetes.
class PortRange {
 public:
  /// `first` must not be above `last`.
  constexpr PortRange(uint16_t first, uint16_t last) : first_(first), last_(last) {}

  constexpr uint16_t first() const { return first_; }
  constexpr uint16_t last() const { return last_; }
  constexpr uint32_t Size() const { return uint32_t{last_} - first_ + 1; }
  constexpr bool Contains(uint16_t port) const { return first_ <= port && port <= last_; }

  /// Returns text like "30000-32767". A single port is written "80-80".
  std::string ToString() const;

  constexpr bool operator==(const PortRange&) const = default;

 private:
  uint16_t first_;
  uint16_t last_;
};

/// Parses "N", "first-last" or "first+count_after_first", with kube-apiserver's error messages.
base::Result<PortRange> ParsePortRange(std::string_view text);

}  // namespace berth::ip
