#include "registry/records.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>
#include <vector>

#include "base/uint128.h"
#include "codec/read.h"
#include "codec/storage.h"
#include "codec/timestamp.h"
#include "commit/bitmaps.h"
#include "registry/allocation_forms.h"
#include "registry/fences.h"
#include "registry/range_facts.h"
#include "rules/ip_address.h"
#include "rules/range_spec.h"
#include "rules/record_notes.h"

namespace berth::registry {
namespace {

using codec::Value;
using commit::PoolId;
using commit::PoolValue;

constexpr std::string_view kFamilyLabel = "ipaddress.kubernetes.io/ip-family";

std::string_view WellKnownName(PoolId pool) {
  switch (pool) {
    case PoolId::kIpv4:
      return rules::kIpv4RangeName;
    case PoolId::kIpv6:
      return rules::kIpv6RangeName;
    case PoolId::kPorts:
      break;
  }
  return rules::kNodePortRangeName;
}

ip::Addr AddrOf(const PoolValue& value) {
  return {value.pool == PoolId::kIpv4 ? ip::Family::kV4 : ip::Family::kV6, value.value};
}

codec::Object Metadata(const PoolValue& value, std::string uid, base::WallTime now) {
  return {{"name", RecordName(value)},
          {"uid", std::move(uid)},
          {"creationTimestamp", codec::FormatTime(now)}};
}

Value IpAddress(const Owner& owner, const RecordFacts& facts, codec::Object metadata) {
  const auto family = ip::FamilyText(AddrOf(facts.value).family());
  metadata.Set("labels",
               codec::Object{{std::string(kFamilyLabel), family},
                             {std::string(rules::kManagedByLabel), rules::kAllocatorName}});
  Value object = codec::Object{
      {"metadata", std::move(metadata)},
      {"spec", codec::Object{{"parentRef", codec::Object{{"resource", "services"},
                                                         {"namespace", owner.name_space},
                                                         {"name", owner.name}}}}}};
  rules::WriteNotes(object, NotesOf(facts));
  return object;
}

Value NodePort(const RecordRows& rows, const Owner& owner, const RecordFacts& facts,
               codec::Object metadata) {
  return codec::Object{
      {"metadata", std::move(metadata)},
      {"spec", codec::Object{{"nodePortRangeRef", PortRangeReference(rows, facts.range)}}},
      {"status", AllocatedPortStatus(owner, facts)}};
}

std::optional<PoolValue> PortValue(std::string_view name) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), port);
  if (error != std::errc() || end != name.data() + name.size() || port == 0) return std::nullopt;
  return PoolValue{.pool = PoolId::kPorts, .value = port};
}

/// Records are called by canonical names, so that a lenient reading, which is much faster, does.
std::optional<PoolValue> AddressValue(std::string_view name) {
  const auto address = ip::ParseAddrLoose(name);
  if (!address || address->leading_zeros || address->v4_mapped) return std::nullopt;
  return PoolValue{.pool = commit::PoolOf(address->addr.family()), .value = address->addr.bits()};
}

commit::RecordState StateOf(rules::RecordState state) {
  switch (state) {
    case rules::RecordState::kAllocated:
      return commit::RecordState::kAllocated;
    case rules::RecordState::kPending:
      return commit::RecordState::kPending;
    case rules::RecordState::kFree:
      return commit::RecordState::kCooling;
    case rules::RecordState::kReserved:
      break;
  }
  return commit::RecordState::kReserved;
}

commit::RecordState PortState(std::string_view text) {
  for (const auto state :
       {rules::RecordState::kAllocated, rules::RecordState::kPending, rules::RecordState::kFree}) {
    if (text == rules::StateText(state)) return StateOf(state);
  }
  return commit::RecordState::kReserved;
}

/// The allocator's own are told by their text; the others are decoded.
void ReadPort(const Row& row, const state::Object& object, commit::RecordInfo& info) {
  std::string room;
  const std::string_view text = object.TextWithoutManagedFields(room);
  if (text.find(R"("status":{"state":"Allocated")") != std::string_view::npos &&
      text.find(R"("reservedFor":{)") == std::string_view::npos) {
    return;
  }
  const auto port = DecodeWithoutManagedFields(row, object);
  if (!port) return;
  info.state = PortState(codec::StringAt(*port, "status", "state"));
  if (const Value* service = codec::FindAt(*port, "spec", "reservedFor")) {
    info.reserved_for = fmt::format("{}/{}", codec::StringAt(*service, "namespace"),
                                    codec::StringAt(*service, "name"));
  }
}

}  // namespace

RecordRows RecordRowsOf(const Kinds& kinds) {
  return {.ip_addresses = kinds.FindRow(api::kIpAddressKind),
          .node_ports = kinds.FindRow(api::kNodePortKind),
          .service_cidrs = kinds.FindRow(api::kServiceCidrKind),
          .node_port_ranges = kinds.FindRow(api::kNodePortRangeKind),
          .ip_ranges = kinds.FindRow(api::kIpRangeKind),
          .fences = kinds.FindRow(api::kRangeFenceKind),
          .replicas = kinds.FindRow(api::kReplicaKind),
          .bitmaps = kinds.FindRow(api::kRangeAllocationKind)};
}

std::string RecordName(const PoolValue& value) {
  if (value.pool == PoolId::kPorts) return std::to_string(static_cast<uint16_t>(value.value));
  return AddrOf(value).ToString();
}

std::string RecordKey(const RecordRows& rows, const PoolValue& value) {
  const Row& row = value.pool == PoolId::kPorts ? *rows.node_ports : *rows.ip_addresses;
  return row.prefix + RecordName(value);
}

std::string RangeNote(const commit::Allocations::RangeState& range) {
  if (range.pool == PoolId::kPorts || range.kind == alloc::RangeKind::kIpRange) return range.name;
  if (!IsDefaultRange(range)) return std::string(rules::kServiceCidrNote) + range.name;
  return std::string(WellKnownName(range.pool));
}

bool IsDefaultRange(const commit::Allocations::RangeState& range) {
  if (range.kind == alloc::RangeKind::kServiceCidr) return range.name == kDefaultServiceCidr;
  return range.name == WellKnownName(range.pool);
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

rules::RecordNotes NotesOf(const RecordFacts& facts) {
  return {.state = rules::RecordState::kAllocated,
          .chosen = facts.chosen == Chosen::kStatic ? rules::ChosenBy::kOwner
                                                    : rules::ChosenBy::kAllocator,
          .range = facts.range};
}

codec::Object PortRangeReference(const RecordRows& rows, std::string_view range) {
  const api::Kind& kind = *rows.node_port_ranges->kind;
  return {{"apiGroup", kind.group},
          {"kind", kind.kind},
          {"name", range.empty() ? rules::kNodePortRangeName : range}};
}

codec::Object AllocatedPortStatus(const Owner& owner, const RecordFacts& facts) {
  codec::Object status{
      {"state", rules::StateText(rules::RecordState::kAllocated)},
      {"chosen", facts.chosen == Chosen::kStatic ? "Static" : "Dynamic"},
      {"service",
       codec::Object{{"namespace", owner.name_space}, {"name", owner.name}, {"uid", owner.uid}}},
      {"purpose", facts.health_check ? "HealthCheck" : "NodePort"}};
  if (!facts.ports.empty()) status.Set("ports", UsesOf(facts.ports));
  return status;
}

commit::ExtraPut NewRecord(const RecordRows& rows, const Owner& owner, const RecordFacts& facts,
                           std::string uid, base::WallTime now) {
  const bool port = facts.value.pool == PoolId::kPorts;
  const Row& row = port ? *rows.node_ports : *rows.ip_addresses;
  codec::Object metadata = Metadata(facts.value, std::move(uid), now);
  Value object = port ? NodePort(rows, owner, facts, std::move(metadata))
                      : IpAddress(owner, facts, std::move(metadata));
  commit::ExtraPut put{.key = RecordKey(rows, facts.value),
                       .stored = codec::EncodeStored(object, *row.kind),
                       .expected = 0};
  const std::string hidden = row.strategy.hide == nullptr ? "" : row.strategy.hide(object);
  put.wire = ToWireText(row, object, hidden);
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

std::optional<commit::RecordInfo> ReadRecord(const RecordRows& rows, const state::Object& object) {
  if (object.Resource() == rows.ip_addresses->resource) {
    const auto value = AddressValue(object.Name());
    if (!value) return std::nullopt;
    const std::string_view hidden = object.Hidden();
    return commit::RecordInfo{.value = *value,
                              .state = StateOf(rules::StateOfHidden(hidden)),
                              .reserved_for = std::string(rules::ReservedForOfHidden(hidden))};
  }
  if (object.Resource() != rows.node_ports->resource) return std::nullopt;
  const auto value = PortValue(object.Name());
  if (!value) return std::nullopt;
  commit::RecordInfo info{.value = *value};
  ReadPort(*rows.node_ports, object, info);
  return info;
}

std::optional<alloc::BitmapId> BitmapOf(const RecordRows& rows, const state::Object& object) {
  if (rows.bitmaps == nullptr || object.Resource() != rows.bitmaps->resource) return std::nullopt;
  const std::string key = object.Key();
  for (size_t i = 0; i < commit::kBitmaps.size(); ++i) {
    if (key == commit::kBitmaps[i].key) return static_cast<alloc::BitmapId>(i);
  }
  return std::nullopt;
}

bool IsCooling(const RecordRows& rows, const state::Object& object) {
  const auto info = ReadRecord(rows, object);
  return info && info->state == commit::RecordState::kCooling;
}

commit::RecordReader MakeRecordReader(const RecordRows& rows, const Gates& gates) {
  return {.record = [rows](const state::Object& object) { return ReadRecord(rows, object); },
          .facts = [rows, gates](const state::Object& object) -> std::optional<alloc::RangeFacts> {
            for (const Row* row : {rows.ip_ranges, rows.service_cidrs, rows.node_port_ranges}) {
              if (row == nullptr || object.Resource() != row->resource) continue;
              const auto range = DecodeWithoutManagedFields(*row, object);
              return range ? RangeFactsOf(*row, *range, gates) : alloc::RangeFacts();
            }
            return std::nullopt;
          },
          .closing = [rows, gates](
                         const state::Object& object) { return ReadClosing(rows, gates, object); },
          .form = [rows](const state::Object& object) -> std::optional<commit::AllocationForm> {
            const auto note = ReadFormNote(rows, object);
            return note ? std::optional(note->form) : std::nullopt;
          },
          .bitmap = [rows](const state::Object& object) { return BitmapOf(rows, object); }};
}

}  // namespace berth::registry
