#include "controllers/form_world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "registry/range_world.h"

namespace berth::controllers {
namespace {

using alloc::PoolId;
using commit::PoolValue;
using registry::RecordRows;

constexpr size_t kNamed = 20;

void Add(FormBlockers& blockers, std::string what) {
  if (++blockers.total <= kNamed) blockers.named.push_back(std::move(what));
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

/// Of each pool there is one bitmap, of one range, of a limited size.
void AddRanges(const BitmapWorld& world, FormBlockers& blockers) {
  for (size_t i = 0; i < alloc::kPools; ++i) {
    const auto& bitmap = world.bitmaps[i];
    for (const alloc::RangeRow& row : world.table.rows[i]) {
      if (bitmap && bitmap->form.range() == row.text) {
        const auto cidr = ip::ParseCidr(row.text);
        const auto error =
            cidr ? alloc::CheckBitmapRange(*cidr, fmt::format("range {} ({})", row.name, row.text))
                 : std::nullopt;
        if (!error) continue;
        blockers.for_ever |= cidr->family() == ip::Family::kV4;
        Add(blockers, error->message);
      } else {
        Add(blockers, fmt::format("range {} ({}) is not the only one of {}", row.name, row.text,
                                  PoolText(static_cast<PoolId>(i))));
      }
    }
  }
}

void AddRecords(const RecordRows& rows, const state::Snapshot& picture, FormBlockers& blockers) {
  for (const registry::Row* row : {rows.ip_addresses, rows.node_ports}) {
    const char* what = row == rows.node_ports ? "port" : "address";
    for (auto at = picture.Seek(row->prefix); at.Valid(); at.Next()) {
      const auto info = registry::ReadRecord(rows, *at.Get());
      if (!info) continue;
      switch (info->state) {
        case commit::RecordState::kAllocated:
          if (info->reserved_for.empty()) continue;
          Add(blockers,
              fmt::format("{} {} is reserved for {}", what, at.Get()->Name(), info->reserved_for));
          continue;
        case commit::RecordState::kReserved:
          Add(blockers, fmt::format("{} {} is reserved", what, at.Get()->Name()));
          continue;
        case commit::RecordState::kPending:
          Add(blockers,
              fmt::format("{} {} is held for {}", what, at.Get()->Name(), info->reserved_for));
          continue;
        case commit::RecordState::kCooling:
          continue;  // In a bitmap it is free, as it would be soon.
      }
    }
  }
}

}  // namespace

std::vector<PoolValue> ValuesOf(const codec::Value& service) {
  const rules::Holdings holdings = rules::HoldingsOf(service);
  std::vector<PoolValue> values;
  for (const ip::Addr& address : holdings.addresses) {
    values.push_back({.pool = commit::PoolOf(address.family()), .value = address.bits()});
  }
  for (const uint16_t port : holdings.ports) {
    values.push_back({.pool = PoolId::kPorts, .value = port});
  }
  return values;
}

void EachHoldingService(const registry::Row& services, const state::Snapshot& picture,
                        const std::function<void(const HoldingService& service)>& visit) {
  for (auto at = picture.Seek(services.prefix); at.Valid(); at.Next()) {
    auto service = registry::DecodeWithoutManagedFields(services, *at.Get());
    if (!service) continue;
    auto values = ValuesOf(*service);
    if (values.empty()) continue;
    visit({.object = *at.Get(), .service = *std::move(service), .values = std::move(values)});
  }
}

BitmapWorld BitmapWorldOf(const RecordRows& rows, const registry::Gates& gates,
                          const state::Snapshot& picture) {
  BitmapWorld world;
  world.table = alloc::MakeRangeTable(registry::RangeWorld(rows, gates, picture).Facts(), {});
  alloc::RangeTable fitting = world.table;
  world.bitmaps = alloc::FitIntoBitmaps(fitting);
  return world;
}

FormBlockers FindFormBlockers(const RecordRows& rows, const registry::Row& services,
                              const BitmapWorld& world, const state::Snapshot& picture) {
  FormBlockers blockers;
  AddRanges(world, blockers);
  AddRecords(rows, picture, blockers);
  EachHoldingService(services, picture, [&](const HoldingService& service) {
    for (const PoolValue& value : service.values) {
      const auto& bitmap = world.bitmaps[static_cast<size_t>(value.pool)];
      if (bitmap && bitmap->form.BitOf(value.value)) continue;
      Add(blockers,
          fmt::format("{} of Service {}/{} has no place in {}", registry::RecordName(value),
                      service.object.Namespace(), service.object.Name(),
                      bitmap ? bitmap->form.range() : std::string("any bitmap")));
    }
  });
  return blockers;
}

std::string FormBlockersText(const FormBlockers& blockers) {
  std::string text = fmt::format("{}", fmt::join(blockers.named, "; "));
  if (blockers.total > blockers.named.size()) {
    text += fmt::format("; and {} more", blockers.total - blockers.named.size());
  }
  return text;
}

}  // namespace berth::controllers
