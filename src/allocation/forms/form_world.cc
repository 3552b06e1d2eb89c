#include "allocation/forms/form_world.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "alloc/value_set.h"
#include "allocation/range_world.h"
#include "allocation/service_values.h"

namespace berth::allocation {
namespace {

using alloc::PoolId;

constexpr size_t kFormBlockersNamed = 20;

void Add(FormBlockers& blockers, std::string what) {
  if (++blockers.total <= kFormBlockersNamed) blockers.named.push_back(std::move(what));
}

std::string_view PoolText(PoolId pool) {
  switch (pool) {
    case PoolId::kIpv4:
      return "IPv4 addresses";
    case PoolId::kIpv6:
      return "IPv6 addresses";
    case PoolId::kPorts:
      break;
  }
  return "node ports";
}

/// Adds the ranges that bitmaps have no room for: each pool has one bitmap, for one range, of a
/// limited size.
void AddRanges(const BitmapWorld& world, FormBlockers& blockers) {
  for (const PoolId pool : alloc::kAllPools) {
    const auto& bitmap = world.bitmaps[pool];
    for (const alloc::RangeRow& row : world.table.rows[pool]) {
      if (bitmap && bitmap->layout.range() == row.text) {
        const auto cidr = ip::ParseCidr(row.text);
        const auto error =
            cidr ? CheckBitmapRange(*cidr, fmt::format("range {} ({})", row.name, row.text))
                 : std::nullopt;
        if (!error) continue;
        blockers.for_ever |= cidr->family() == ip::Family::kV4;
        Add(blockers, error->message);
      } else {
        Add(blockers, fmt::format("range {} ({}) is not the only one of {}", row.name, row.text,
                                  PoolText(pool)));
      }
    }
  }
}

void AddRecords(const RecordRows& rows, const state::Snapshot& snapshot, FormBlockers& blockers) {
  for (const registry::Row* row : {rows.ip_addresses, rows.node_ports}) {
    const char* what = row == rows.node_ports ? "port" : "address";
    for (auto at = snapshot.Seek(row->prefix); at.Valid(); at.Next()) {
      const auto info = ReadRecord(rows, *at.Get());
      if (!info) continue;
      switch (info->state) {
        case RecordState::kAllocated:
          if (info->reserved_for.empty()) continue;
          Add(blockers,
              fmt::format("{} {} is reserved for {}", what, at.Get()->Name(), info->reserved_for));
          continue;
        case RecordState::kReserved:
          Add(blockers, fmt::format("{} {} is reserved", what, at.Get()->Name()));
          continue;
        case RecordState::kPending:
          Add(blockers,
              fmt::format("{} {} is held for {}", what, at.Get()->Name(), info->reserved_for));
          continue;
        case RecordState::kCooling:
          continue;  // A bitmap says that the value is free, as it will be soon.
      }
    }
  }
}

}  // namespace

void EachHoldingService(const registry::Row& services, const state::Snapshot& snapshot,
                        const std::function<void(const HoldingService& service)>& visit) {
  for (auto at = snapshot.Seek(services.prefix); at.Valid(); at.Next()) {
    auto service = registry::DecodeWithoutManagedFields(services, *at.Get());
    if (!service) continue;
    auto values = ValuesOf(rules::HoldingsOf(*service));
    if (values.empty()) continue;
    visit({.object = *at.Get(), .service = *std::move(service), .values = std::move(values)});
  }
}

BitmapWorld BitmapWorldOf(const RecordRows& rows, const registry::Gates& gates,
                          const state::Snapshot& snapshot) {
  BitmapWorld world;
  world.table = alloc::MakeRangeTable(RangeWorld(rows, gates, snapshot).Facts(), {});
  alloc::RangeTable fitting = world.table;
  world.bitmaps = FitIntoBitmaps(fitting);
  return world;
}

FormBlockers FindFormBlockers(const RecordRows& rows, const registry::Row& services,
                              const BitmapWorld& world, const state::Snapshot& snapshot) {
  FormBlockers blockers;
  AddRanges(world, blockers);
  AddRecords(rows, snapshot, blockers);
  EachHoldingService(services, snapshot, [&](const HoldingService& service) {
    for (const PoolValue& value : service.values) {
      const auto& bitmap = world.bitmaps[value.pool];
      if (bitmap && bitmap->layout.BitOf(value.value)) continue;
      Add(blockers, fmt::format("{} of Service {}/{} has no place in {}", RecordName(value),
                                service.object.Namespace(), service.object.Name(),
                                bitmap ? bitmap->layout.range() : std::string("any bitmap")));
    }
  });
  return blockers;
}

FormBlockers FindSharedValues(const registry::Row& services, const state::Snapshot& snapshot) {
  FormBlockers blockers{.for_ever = true};
  PerPool<absl::flat_hash_map<U128, const state::Object*, alloc::ValueHash>> holders;
  for (auto at = snapshot.Seek(services.prefix); at.Valid(); at.Next()) {
    const state::Object& service = *at.Get();
    for (const PoolValue& value : ValuesIn(services, service)) {
      const auto [place, first] = holders[value.pool].try_emplace(value.value, &service);
      if (first) continue;
      Add(blockers,
          fmt::format("{} {} is held by the Services {} and {}",
                      value.pool == PoolId::kPorts ? "port" : "address", RecordName(value),
                      place->second->KeyAfterPrefix(), service.KeyAfterPrefix()));
    }
  }
  return blockers;
}

std::string FormBlockersText(const FormBlockers& blockers) {
  std::string text = fmt::format("{}", fmt::join(blockers.named, "; "));
  if (blockers.total > blockers.named.size()) {
    text += fmt::format("; and {} more", blockers.total - blockers.named.size());
  }
  return text;
}

}  // namespace berth::allocation
