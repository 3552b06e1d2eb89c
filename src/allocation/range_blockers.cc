#include "allocation/range_blockers.h"

#include <fmt/format.h>

#include <algorithm>

#include "codec/read.h"
#include "rules/ip_address.h"

namespace berth::allocation {
namespace {

using alloc::PoolId;
using codec::Value;

constexpr size_t kBlockersNamed = 20;

std::string OwnerOf(const RecordRows& rows, const state::Object& record) {
  const bool port = record.Resource() == rows.node_ports->resource;
  const auto value =
      registry::DecodeWithoutManagedFields(port ? *rows.node_ports : *rows.ip_addresses, record);
  if (!value) return "unknown";
  if (port) {
    const Value* service = codec::FindAt(*value, "status", "service");
    if (service == nullptr) return "reserved";
    return fmt::format("Service {}/{}", codec::StringAt(*service, "namespace"),
                       codec::StringAt(*service, "name"));
  }
  const auto service = rules::ParentService(*value);
  if (!service) return "reserved";
  return fmt::format("Service {}/{}", service->name_space, service->name);
}

/// Returns the addresses of default/kubernetes, which are also the names of their records.
std::vector<std::string> AddressesOfKubernetes(const RecordRows& rows,
                                               const state::Snapshot& snapshot) {
  const auto stored = snapshot.Find(rows.services->prefix + "default/kubernetes");
  const auto service = stored ? registry::DecodeWithoutManagedFields(*rows.services, *stored)
                              : base::Result<Value>(codec::Object());
  if (!service) return {};
  return codec::Texts(codec::ArrayAt(*service, "spec", "clusterIPs"));
}

}  // namespace

Blockers FindBlockers(const RecordRows& rows, const state::Snapshot& snapshot, PoolId pool,
                      const std::vector<alloc::RangeRow>& before,
                      const std::vector<alloc::RangeRow>& after, SpareKubernetes spare) {
  Blockers blockers;
  const std::vector<std::string> spared = spare == SpareKubernetes::kYes
                                              ? AddressesOfKubernetes(rows, snapshot)
                                              : std::vector<std::string>();
  const alloc::Coverage covered(before);
  const alloc::Coverage kept(after);
  const registry::Row& row = pool == PoolId::kPorts ? *rows.node_ports : *rows.ip_addresses;
  for (auto at = snapshot.Seek(row.prefix); at.Valid(); at.Next()) {
    const auto record = ReadRecord(rows, *at.Get());
    if (!record || record->value.pool != pool) continue;
    if (record->state == RecordState::kCooling) continue;
    const alloc::U128 value = record->value.value;
    if (!covered.Covers(value) || kept.Covers(value)) continue;
    if (pool != PoolId::kPorts && std::ranges::count(spared, at.Get()->Name()) > 0) continue;
    if (++blockers.total > kBlockersNamed) continue;
    blockers.named.push_back(
        fmt::format("{} ({})", RecordName(record->value), OwnerOf(rows, *at.Get())));
  }
  return blockers;
}

std::string BlockersText(const Blockers& blockers) {
  std::string text = fmt::format("{}", fmt::join(blockers.named, ", "));
  if (blockers.total > blockers.named.size()) {
    text += fmt::format(" and {} more", blockers.total - blockers.named.size());
  }
  return text;
}

}  // namespace berth::allocation
