#include "inspect/names.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::inspect {

using alloc::PoolId;

std::string_view NameOf(alloc::State state) {
  switch (state) {
    case alloc::State::kFree:
      return "free";
    case alloc::State::kTaken:
      return "taken";
    case alloc::State::kReserved:
      return "reserved";
    case alloc::State::kCooling:
      return "cooling";
    case alloc::State::kExcluded:
      break;
  }
  return "excluded";
}

std::string_view NameOf(alloc::Band band) {
  return band == alloc::Band::kStatic ? "static" : "dynamic";
}

std::string_view NameOf(PoolId pool) {
  if (pool == PoolId::kPorts) return "NodePort";
  return pool == PoolId::kIpv4 ? "IPv4" : "IPv6";
}

std::string_view NameOf(Origin origin) {
  if (origin == Origin::kUnknown) return "unknown";
  return origin == Origin::kNamed ? "named" : "drawn";
}

std::string PathOf(const audit::ObjectRef& object) {
  return fmt::format("{}/{}", object.name_space, object.name);
}

std::string PathOf(const Service& service) { return PathOf(service.object); }

std::string TitleOf(const RangeRef& range) {
  if (range.row->name == range.row->text || range.row->name.empty()) return range.row->text;
  return fmt::format("{} {}", range.row->name, range.row->text);
}

alloc::Interval AllValuesOf(const alloc::RangeRow& row) {
  std::optional<alloc::Interval> all = row.layout.span();
  for (const alloc::Unusable& each : row.layout.unusable()) {
    if (!all) all = each.values;
    all->first = std::min(all->first, each.values.first);
    all->last = std::max(all->last, each.values.last);
  }
  return all.value_or(alloc::Interval{});
}

bool ShowsRecords(const Census& census, PoolId pool) {
  const Cluster& cluster = census.cluster();
  const bool ports = pool == PoolId::kPorts;
  switch (cluster.keeps) {
    case audit::Keeps::kRecords:
    case audit::Keeps::kBoth:
      return true;
    case audit::Keeps::kAddressesOnly:
      if (!ports) return true;
      break;
    case audit::Keeps::kBitmaps:
    case audit::Keeps::kNothing:
      break;
  }
  const auto has_some = [&](PoolId each) {
    return !census.RecordsIn(each, {.first = 0, .last = base::kU128Max}).empty();
  };
  return ports ? has_some(pool) : has_some(PoolId::kIpv4) || has_some(PoolId::kIpv6);
}

}  // namespace berth::inspect
