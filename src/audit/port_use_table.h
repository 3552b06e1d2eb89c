// How Services use node ports. Most ports are used in one of a few ways, so each way is kept once.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "audit/facts.h"

namespace berth::audit {

struct PortPurpose {
  bool health_check = false;
  std::vector<PortUse> ports = {};  // Ordered.
};

/// Returns whether a record says that its port is used in this way. What it does not say may be
/// anything.
bool SaysSo(const std::optional<bool>& health_check,
            const std::optional<std::vector<PortUse>>& ports, const PortPurpose& purpose);

class PortUseTable {
 public:
  /// Notes how the holder of a port uses it. Of several holders the first one counts.
  void Add(uint16_t port, bool health_check, std::vector<PortUse> ports);
  /// Returns null if no Service holds the port.
  const PortPurpose* Find(uint16_t port) const;

 private:
  static constexpr size_t kPortNumbers = 65536;

  std::vector<uint32_t> by_port_ = std::vector<uint32_t>(kPortNumbers);  // 0 or a place plus one.
  std::deque<PortPurpose> purposes_;
  std::map<std::string, uint32_t> places_;
};

}  // namespace berth::audit
