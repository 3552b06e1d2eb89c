#include "inspect/assumed_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "alloc/layout.h"
#include "inspect/cluster_reader.h"
#include "ip/addr.h"
#include "ip/cidr.h"
#include "ip/port_range.h"

namespace berth::inspect {
namespace {

using alloc::Interval;
using alloc::PoolId;

bool HasRange(const Cluster& cluster, PoolId pool) {
  return std::ranges::any_of(cluster.ranges, [pool](const Range& range) {
    return std::ranges::any_of(range.facts.range.parts,
                               [pool](const auto& part) { return part.pool == pool; });
  });
}

/// Returns the smallest interval that contains all values of the pool that Services hold.
std::optional<Interval> InUse(const Cluster& cluster, PoolId pool) {
  std::optional<Interval> all;
  for (const Service& service : cluster.services) {
    for (const Held& held : service.holds) {
      if (held.value.pool != pool) continue;
      const base::U128 value = held.value.value;
      if (!all) all = Interval{.first = value, .last = value};
      all->first = std::min(all->first, value);
      all->last = std::max(all->last, value);
    }
  }
  return all;
}

AssumedRange AssumePorts(const Cluster& cluster) {
  const ip::PortRange usual = ip::ParsePortRange(kDefaultPortRange).value();
  const auto in_use = InUse(cluster, PoolId::kPorts);
  if (!in_use || (usual.first() <= in_use->first && in_use->last <= usual.last())) {
    return {.text = usual.ToString(), .source = "assumed, as Kubernetes' default"};
  }
  const auto first = std::min(usual.first(), static_cast<uint16_t>(in_use->first));
  const auto last = std::max(usual.last(), static_cast<uint16_t>(in_use->last));
  return {.text = ip::PortRange(first, last).ToString(),
          .source = "assumed, as Kubernetes' default widened by the node ports in use"};
}

std::optional<AssumedRange> AssumeAddresses(const Cluster& cluster, PoolId pool) {
  constexpr int kUsualPrefix4 = 24;
  constexpr int kUsualPrefix6 = 112;
  const auto in_use = InUse(cluster, pool);
  if (!in_use) return std::nullopt;
  const ip::Family family = pool == PoolId::kIpv4 ? ip::Family::kV4 : ip::Family::kV6;
  const int bits = family == ip::Family::kV4 ? 32 : 128;
  int prefix = family == ip::Family::kV4 ? kUsualPrefix4 : kUsualPrefix6;
  const auto network = [&](base::U128 value) {
    return prefix == 0 ? base::U128(0) : value >> (bits - prefix);
  };
  while (prefix > 0 && network(in_use->first) != network(in_use->last)) --prefix;
  const base::U128 base = prefix == 0 ? base::U128(0) : network(in_use->first) << (bits - prefix);
  return AssumedRange{.text = fmt::format("{}/{}", ip::Addr(family, base).ToString(), prefix),
                      .source = "assumed, as the smallest that has all addresses in use"};
}

}  // namespace

std::vector<AssumedRange> AssumeRanges(const Cluster& cluster) {
  std::vector<AssumedRange> ranges;
  for (const PoolId pool : {PoolId::kIpv4, PoolId::kIpv6}) {
    if (HasRange(cluster, pool)) continue;
    // A cluster that shows its ranges has no other ones.
    if (HasRange(cluster, PoolId::kIpv4) || HasRange(cluster, PoolId::kIpv6)) continue;
    if (auto assumed = AssumeAddresses(cluster, pool)) ranges.push_back(*std::move(assumed));
  }
  if (!HasRange(cluster, PoolId::kPorts)) ranges.push_back(AssumePorts(cluster));
  return ranges;
}

}  // namespace berth::inspect
