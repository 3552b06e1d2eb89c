#include "allocation/records.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>
#include <vector>

#include "allocation/allocation_forms.h"
#include "allocation/bitmaps/stored_bitmaps.h"
#include "allocation/fences.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/range_facts.h"
#include "allocation/service_values.h"
#include "base/uint128.h"
#include "codec/read.h"
#include "codec/storage.h"
#include "codec/timestamp.h"
#include "rules/ip_address.h"
#include "rules/range_spec.h"
#include "rules/record_notes.h"

namespace berth::allocation {
namespace {

using codec::Value;

ip::Addr AddrOf(const PoolValue& value) {
  return {value.pool == PoolId::kIpv4 ? ip::Family::kV4 : ip::Family::kV6, value.value};
}

codec::Object Metadata(const PoolValue& value, std::string uid, base::WallTime now) {
  return {{"name", RecordName(value)},
          {"uid", std::move(uid)},
          {"creationTimestamp", codec::FormatTime(now)}};
}

Value IpAddress(const Owner& owner, const RecordFacts& facts, codec::Object metadata) {
  metadata.Set("labels", AddressLabels(facts.value));
  Value object = codec::Object{
      {"metadata", std::move(metadata)},
      {"spec", codec::Object{{"parentRef", codec::Object{{"resource", "services"},
                                                         {"namespace", owner.name_space},
                                                         {"name", owner.name}}}}}};
  rules::WriteNotes(object, NotesOf(owner, facts));
  return object;
}

Value NodePort(const RecordRows& rows, const Owner& owner, const RecordFacts& facts,
               codec::Object metadata) {
  codec::Object status =
      AllocatedPortStatus(owner, facts, codec::Text(metadata.Find("creationTimestamp")));
  return codec::Object{
      {"metadata", std::move(metadata)},
      {"spec", codec::Object{{"nodePortRangeRef", PortRangeReference(rows, facts.range)}}},
      {"status", std::move(status)}};
}

std::optional<PoolValue> PortValue(std::string_view name) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), port);
  if (error != std::errc() || end != name.data() + name.size() || port == 0) return std::nullopt;
  return PoolValue{.pool = PoolId::kPorts, .value = port};
}

std::optional<PoolValue> AddressValue(std::string_view name) {
  const auto address = rules::ReadAddressName(name);
  if (!address) return std::nullopt;
  return PoolValue{.pool = PoolOf(address->family()), .value = address->bits()};
}

RecordState StateOf(rules::RecordState state) {
  switch (state) {
    case rules::RecordState::kAllocated:
      return RecordState::kAllocated;
    case rules::RecordState::kPending:
      return RecordState::kPending;
    case rules::RecordState::kFree:
      return RecordState::kCooling;
    case rules::RecordState::kReserved:
      break;
  }
  return RecordState::kReserved;
}

/// Reads the state of a port. Records of the allocator are recognized by their text. Others are
/// decoded.
void ReadPort(const registry::Row& row, const state::Object& object, RecordInfo& info) {
  std::string room;
  const std::string_view text = object.TextWithoutManagedFields(room);
  if (text.find(R"("status":{"state":"Allocated")") != std::string_view::npos &&
      text.find(R"("reservedFor":{)") == std::string_view::npos) {
    return;
  }
  const auto port = registry::DecodeWithoutManagedFields(row, object);
  if (!port) return;
  info.state = StateOf(rules::StateOfText(codec::StringAt(*port, "status", "state")));
  if (const Value* service = codec::FindAt(*port, "spec", "reservedFor")) {
    info.reserved_for = fmt::format("{}/{}", codec::StringAt(*service, "namespace"),
                                    codec::StringAt(*service, "name"));
  }
}

}  // namespace

RecordRows RecordRowsOf(const registry::Kinds& kinds) {
  return {.ip_addresses = kinds.FindRow(api::kIpAddressKind),
          .node_ports = kinds.FindRow(api::kNodePortKind),
          .service_cidrs = kinds.FindRow(api::kServiceCidrKind),
          .node_port_ranges = kinds.FindRow(api::kNodePortRangeKind),
          .ip_ranges = kinds.FindRow(api::kIpRangeKind),
          .fences = kinds.FindRow(api::kRangeFenceKind),
          .replicas = kinds.FindRow(api::kReplicaKind),
          .bitmaps = kinds.FindRow(api::kRangeAllocationKind),
          .services = kinds.FindRow(api::kServiceKind)};
}

std::string RecordName(const PoolValue& value) { return alloc::TextOf(value); }

std::string RecordKey(const RecordRows& rows, const PoolValue& value) {
  const registry::Row& row = value.pool == PoolId::kPorts ? *rows.node_ports : *rows.ip_addresses;
  return row.prefix + RecordName(value);
}

std::string RangeNote(const RangeState& range) {
  if (range.pool == PoolId::kPorts || range.kind == alloc::RangeKind::kIpRange) return range.name;
  if (!IsDefaultRange(range)) return std::string(rules::kServiceCidrNote) + range.name;
  return std::string(rules::WellKnownRange(range.pool));
}

bool IsDefaultRange(const RangeState& range) {
  if (range.kind == alloc::RangeKind::kServiceCidr) return range.name == kDefaultServiceCidr;
  return range.name == rules::WellKnownRange(range.pool);
}

std::vector<PortUse> PortUses(const Value& service, std::span<const size_t> ports) {
  const codec::Array& all = codec::ArrayAt(service, "spec", "ports");
  std::vector<PortUse> uses;
  uses.reserve(ports.size());
  for (const size_t place : ports) {
    if (place >= all.size()) continue;
    uses.push_back({.name = codec::StringAt(all[place], "name"),
                    .port = codec::IntAt(all[place], "port"),
                    .protocol = codec::StringAt(all[place], "protocol")});
  }
  return uses;
}

codec::Array UsesOf(std::span<const PortUse> ports) {
  codec::Array uses;
  for (const PortUse& port : ports) {
    codec::Object use;
    if (!port.name.empty()) use.Set("name", port.name);
    use.Set("port", port.port);
    use.Set("protocol", port.protocol);
    uses.emplace_back(std::move(use));
  }
  return uses;
}

codec::Object AddressLabels(const PoolValue& value) {
  return {{std::string(rules::kIpFamilyLabel), ip::FamilyText(AddrOf(value).family())},
          {std::string(rules::kManagedByLabel), rules::kAllocatorName}};
}

rules::RecordNotes NotesOf(const Owner& owner, const RecordFacts& facts) {
  return {.state = rules::RecordState::kAllocated,
          .chosen = facts.chosen == Chosen::kStatic ? rules::ChosenBy::kOwner
                                                    : rules::ChosenBy::kAllocator,
          .range = facts.range,
          .service_uid = std::string(owner.uid)};
}

codec::Object PortRangeReference(const RecordRows& rows, std::string_view range) {
  const api::Kind& kind = *rows.node_port_ranges->kind;
  return {{"apiGroup", kind.group},
          {"kind", kind.kind},
          {"name", range.empty() ? rules::kNodePortRangeName : range}};
}

codec::Object AllocatedPortStatus(const Owner& owner, const RecordFacts& facts,
                                  std::string_view since) {
  codec::Object status{
      {"state", rules::StateText(rules::RecordState::kAllocated)},
      {"chosen", facts.chosen == Chosen::kStatic ? "Static" : "Dynamic"},
      {"service",
       codec::Object{{"namespace", owner.name_space}, {"name", owner.name}, {"uid", owner.uid}}},
      {"purpose", facts.health_check ? "HealthCheck" : "NodePort"}};
  if (!facts.ports.empty()) status.Set("ports", UsesOf(facts.ports));
  status.Set("since", since);
  return status;
}

commit::ExtraPut NewRecord(const RecordRows& rows, const Owner& owner, const RecordFacts& facts,
                           std::string uid, base::WallTime now) {
  const bool port = facts.value.pool == PoolId::kPorts;
  const registry::Row& row = port ? *rows.node_ports : *rows.ip_addresses;
  codec::Object metadata = Metadata(facts.value, std::move(uid), now);
  Value object = port ? NodePort(rows, owner, facts, std::move(metadata))
                      : IpAddress(owner, facts, std::move(metadata));
  commit::ExtraPut put{.key = RecordKey(rows, facts.value),
                       .stored = codec::EncodeStored(object, *row.kind),
                       .expected = 0};
  const std::string hidden = row.strategy.hide == nullptr ? "" : row.strategy.hide(object);
  put.wire = registry::ToWireText(row, object, hidden);
  return put;
}

Value ServiceCidrOf(std::span<const ip::Cidr> cidrs) {
  codec::Array texts;
  for (const ip::Cidr& cidr : cidrs) texts.emplace_back(cidr.ToString());
  return codec::Object{{"metadata", codec::Object{{"name", kDefaultServiceCidr}}},
                       {"spec", codec::Object{{"cidrs", std::move(texts)}}}};
}

Value NodePortRangeOf(const ip::PortRange& ports) {
  return codec::Object{{"metadata", codec::Object{{"name", rules::kNodePortRangeName}}},
                       {"spec", codec::Object{{"range", ports.ToString()}}}};
}

std::optional<RecordInfo> ReadRecord(const RecordRows& rows, const state::Object& object) {
  if (object.Resource() == rows.ip_addresses->resource) {
    const auto value = AddressValue(object.Name());
    if (!value) return std::nullopt;
    const std::string_view hidden = object.Hidden();
    return RecordInfo{.value = *value,
                      .state = StateOf(rules::StateOfHidden(hidden)),
                      .reserved_for = std::string(rules::ReservedForOfHidden(hidden))};
  }
  if (object.Resource() != rows.node_ports->resource) return std::nullopt;
  const auto value = PortValue(object.Name());
  if (!value) return std::nullopt;
  RecordInfo info{.value = *value};
  ReadPort(*rows.node_ports, object, info);
  return info;
}

std::optional<BitmapId> BitmapOf(const RecordRows& rows, const state::Object& object) {
  if (rows.bitmaps == nullptr || object.Resource() != rows.bitmaps->resource) return std::nullopt;
  const std::string key = object.Key();
  for (size_t i = 0; i < kBitmaps.size(); ++i) {
    if (key == kBitmaps[i].key) return static_cast<BitmapId>(i);
  }
  return std::nullopt;
}

bool IsCooling(const RecordRows& rows, const state::Object& object) {
  const auto info = ReadRecord(rows, object);
  return info && info->state == RecordState::kCooling;
}

RecordReader MakeRecordReader(const RecordRows& rows, const registry::Gates& gates) {
  return {.service =
              [rows](const state::Change& change, std::vector<HoldingChange>& changes) {
                if (change.Last()->Resource() != rows.services->resource) return false;
                ReadHoldings(*rows.services, change, changes);
                return true;
              },
          .record = [rows](const state::Object& object) { return ReadRecord(rows, object); },
          .facts = [rows, gates](const state::Object& object) -> std::optional<alloc::RangeFacts> {
            for (const registry::Row* row :
                 {rows.ip_ranges, rows.service_cidrs, rows.node_port_ranges}) {
              if (row == nullptr || object.Resource() != row->resource) continue;
              const auto range = registry::DecodeWithoutManagedFields(*row, object);
              return range ? RangeFactsOf(*row, *range, gates) : alloc::RangeFacts();
            }
            return std::nullopt;
          },
          .closing = [rows, gates](
                         const state::Object& object) { return ReadClosing(rows, gates, object); },
          .form = [rows](const state::Object& object) -> std::optional<AllocationForm> {
            const auto note = ReadFormNote(rows, object);
            return note ? std::optional(note->form) : std::nullopt;
          },
          .bitmap = [rows](const state::Object& object) { return BitmapOf(rows, object); }};
}

}  // namespace berth::allocation
