#include "audit/port_use_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace berth::audit {
namespace {

void SortUses(std::vector<PortUse>& ports) {
  std::ranges::sort(ports, {},
                    [](const PortUse& use) { return std::tie(use.port, use.protocol, use.name); });
}

/// Returns a text that is the same for equal purposes only. Names have no spaces.
std::string KeyOf(const PortPurpose& purpose) {
  std::string key = purpose.health_check ? "check" : "";
  for (const PortUse& use : purpose.ports) {
    key += fmt::format(" {} {} {}", use.port, use.protocol, use.name);
  }
  return key;
}

}  // namespace

bool SaysSo(const std::optional<bool>& health_check,
            const std::optional<std::vector<PortUse>>& ports, const PortPurpose& purpose) {
  if (health_check && *health_check != purpose.health_check) return false;
  if (!ports) return true;
  std::vector<PortUse> sorted = *ports;
  SortUses(sorted);
  return sorted == purpose.ports;
}

void PortUseTable::Add(uint16_t port, bool health_check, std::vector<PortUse> ports) {
  if (by_port_[port] != 0) return;
  SortUses(ports);
  PortPurpose purpose{.health_check = health_check, .ports = std::move(ports)};
  const auto [known, added] =
      places_.try_emplace(KeyOf(purpose), static_cast<uint32_t>(purposes_.size()));
  if (added) purposes_.push_back(std::move(purpose));
  by_port_[port] = known->second + 1;
}

const PortPurpose* PortUseTable::Find(uint16_t port) const {
  const uint32_t place = by_port_[port];
  return place == 0 ? nullptr : &purposes_[place - 1];
}

}  // namespace berth::audit
