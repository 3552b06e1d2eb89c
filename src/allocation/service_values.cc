#include "allocation/service_values.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "rules/service_text.h"

namespace berth::allocation {
namespace {

bool HaveSameSpec(const state::Object& service, const state::Object& other) {
  std::string room;
  std::string other_room;
  const std::string_view spec = rules::TextFromSpec(service.TextWithoutManagedFields(room));
  return !spec.empty() && spec == rules::TextFromSpec(other.TextWithoutManagedFields(other_room));
}

}  // namespace

std::vector<PoolValue> ValuesOf(const rules::Holdings& holdings) {
  std::vector<PoolValue> values;
  values.reserve(holdings.addresses.size() + holdings.ports.size());
  for (const ip::Addr& address : holdings.addresses) {
    values.push_back({.pool = PoolOf(address.family()), .value = address.bits()});
  }
  for (const uint16_t port : holdings.ports) {
    values.push_back({.pool = PoolId::kPorts, .value = port});
  }
  return values;
}

std::vector<PoolValue> ValuesIn(const registry::Row& services, const state::Object& service) {
  std::string room;
  if (const auto holdings = rules::HoldingsInText(service.TextWithoutManagedFields(room))) {
    return ValuesOf(*holdings);
  }
  const auto decoded = registry::DecodeWithoutManagedFields(services, service);
  return decoded ? ValuesOf(rules::HoldingsOf(*decoded)) : std::vector<PoolValue>();
}

void ReadHoldings(const registry::Row& services, const state::Change& change,
                  std::vector<HoldingChange>& changes) {
  if (change.object && change.previous && HaveSameSpec(*change.object, *change.previous)) return;
  std::vector<PoolValue> before;
  std::vector<PoolValue> after;
  if (change.previous) before = ValuesIn(services, *change.previous);
  if (change.object) after = ValuesIn(services, *change.object);
  for (const PoolValue& value : after) {
    if (std::ranges::find(before, value) != before.end()) continue;
    changes.push_back({.value = value, .held = true});
  }
  for (const PoolValue& value : before) {
    if (std::ranges::find(after, value) != after.end()) continue;
    changes.push_back({.value = value, .held = false});
  }
}

}  // namespace berth::allocation
