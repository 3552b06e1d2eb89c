// A range of ports as kube-apiserver's --service-node-port-range takes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::ip {

/// Inclusive at both ends, never empty. Port 0 is not excluded here, as in Kubernetes.
class PortRange {
 public:
  /// `first` must not be above `last`.
  constexpr PortRange(uint16_t first, uint16_t last) : first_(first), last_(last) {}

  constexpr uint16_t first() const { return first_; }
  constexpr uint16_t last() const { return last_; }
  constexpr uint32_t Size() const { return uint32_t{last_} - first_ + 1; }
  constexpr bool Contains(uint16_t port) const { return first_ <= port && port <= last_; }

  /// "30000-32767"; a single port is written "80-80".
  std::string ToString() const;

  constexpr bool operator==(const PortRange&) const = default;

 private:
  uint16_t first_;
  uint16_t last_;
};

/// Reads "N", "first-last" or "first+count_after_first", with kube-apiserver's error texts.
base::Result<PortRange> ParsePortRange(std::string_view text);

}  // namespace berth::ip
