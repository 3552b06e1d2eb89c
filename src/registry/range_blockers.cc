#include "registry/range_blockers.h"

#include <fmt/format.h>

#include "codec/read.h"
#include "rules/ip_address.h"

namespace berth::registry {
namespace {

using alloc::PoolId;
using codec::Value;

constexpr size_t kNamed = 20;

std::string OwnerOf(const RecordRows& rows, const state::Object& record) {
  const bool port = record.Resource() == rows.node_ports->resource;
  const auto value =
      DecodeWithoutManagedFields(port ? *rows.node_ports : *rows.ip_addresses, record);
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

}  // namespace

Blockers FindBlockers(const RecordRows& rows, const state::Snapshot& picture, PoolId pool,
                      const std::vector<alloc::RangeRow>& before,
                      const std::vector<alloc::RangeRow>& after) {
  Blockers blockers;
  const alloc::Coverage covered(before);
  const alloc::Coverage kept(after);
  const Row& row = pool == PoolId::kPorts ? *rows.node_ports : *rows.ip_addresses;
  for (auto at = picture.Seek(row.prefix); at.Valid(); at.Next()) {
    const auto record = ReadRecord(rows, *at.Get());
    if (!record || record->value.pool != pool) continue;
    if (record->state == commit::RecordState::kCooling) continue;
    const alloc::U128 value = record->value.value;
    if (!covered.Covers(value) || kept.Covers(value)) continue;
    if (++blockers.total > kNamed) continue;
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

}  // namespace berth::registry
