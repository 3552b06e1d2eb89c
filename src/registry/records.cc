#include "registry/records.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>
#include <vector>

#include "alloc/layout.h"
#include "base/uint128.h"
#include "codec/read.h"
#include "codec/storage.h"
#include "codec/timestamp.h"
#include "rules/ip_address.h"

namespace berth::registry {
namespace {

using codec::Value;
using commit::PoolId;
using commit::PoolValue;

constexpr std::string_view kFamilyLabel = "ipaddress.kubernetes.io/ip-family";
constexpr std::string_view kManagedByLabel = "ipaddress.kubernetes.io/managed-by";
constexpr std::string_view kManager = "ipallocator.k8s.io";

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
  metadata.Set("labels", codec::Object{{std::string(kFamilyLabel), family},
                                       {std::string(kManagedByLabel), kManager}});
  metadata.Set("annotations",
               codec::Object{{std::string(rules::kChosenAnnotation),
                              facts.chosen == Chosen::kStatic ? "static" : "dynamic"}});
  return codec::Object{{"metadata", std::move(metadata)},
                       {"spec", codec::Object{{"parentRef", codec::Object{
                                                                {"resource", "services"},
                                                                {"namespace", owner.name_space},
                                                                {"name", owner.name},
                                                            }}}}};
}

Value NodePort(const RecordRows& rows, const Owner& owner, const RecordFacts& facts,
               codec::Object metadata) {
  const api::Kind& range = *rows.node_port_ranges->kind;
  return codec::Object{
      {"metadata", std::move(metadata)},
      {"spec", codec::Object{{"nodePortRangeRef", codec::Object{{"apiGroup", range.group},
                                                                {"kind", range.kind},
                                                                {"name", kDefaultNodePortRange}}}}},
      {"status", codec::Object{{"state", "Allocated"},
                               {"chosen", facts.chosen == Chosen::kStatic ? "Static" : "Dynamic"},
                               {"service", codec::Object{{"namespace", owner.name_space},
                                                         {"name", owner.name},
                                                         {"uid", owner.uid}}},
                               {"purpose", facts.health_check ? "HealthCheck" : "NodePort"}}}};
}

std::optional<PoolValue> PortValue(std::string_view name) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), port);
  if (error != std::errc() || end != name.data() + name.size() || port == 0) return std::nullopt;
  return PoolValue{.pool = PoolId::kPorts, .value = port};
}

std::optional<PoolValue> AddressValue(std::string_view name) {
  const auto address = ip::ParseAddr(name);
  if (!address) return std::nullopt;
  return PoolValue{.pool = commit::PoolOf(address->family()), .value = address->bits()};
}

using Rows = std::vector<std::pair<PoolId, alloc::RangeRow>>;

void AddRow(Rows& rows, PoolId pool, std::string_view name, std::string_view text,
            base::Result<alloc::Layout> layout) {
  if (!layout) return;  // Only an override of the band can fail.
  rows.emplace_back(pool, alloc::RangeRow{.name = std::string(name),
                                          .text = std::string(text),
                                          .layout = *std::move(layout)});
}

alloc::RangeOptions BandOptions(bool has_static_band) {
  if (has_static_band) return {};
  return {.static_band = 0};
}

Rows CidrRows(const Row& row, const state::Object& object, bool has_static_band) {
  Rows rows;
  const auto cidrs = DecodeWithoutManagedFields(row, object);
  if (!cidrs) return rows;
  for (const Value& entry : codec::ArrayAt(*cidrs, "spec", "cidrs")) {
    const std::string_view text = codec::Text(&entry);
    if (const auto cidr = ip::ParseCidr(text)) {
      AddRow(rows, commit::PoolOf(cidr->family()), object.Name(), text,
             alloc::LayoutOf(*cidr, BandOptions(has_static_band)));
    }
  }
  return rows;
}

Rows PortRows(const Row& row, const state::Object& object, bool has_static_band) {
  Rows rows;
  const auto range = DecodeWithoutManagedFields(row, object);
  if (!range) return rows;
  const std::string_view text = codec::StringAt(*range, "spec", "range");
  if (const auto ports = ip::ParsePortRange(text)) {
    AddRow(rows, PoolId::kPorts, object.Name(), text,
           alloc::LayoutOf(*ports, BandOptions(has_static_band)));
  }
  return rows;
}

}  // namespace

RecordRows RecordRowsOf(const Kinds& kinds) {
  return {.ip_addresses = kinds.FindRow(api::kIpAddressKind),
          .node_ports = kinds.FindRow(api::kNodePortKind),
          .service_cidrs = kinds.FindRow(api::kServiceCidrKind),
          .node_port_ranges = kinds.FindRow(api::kNodePortRangeKind)};
}

std::string RecordName(const PoolValue& value) {
  if (value.pool == PoolId::kPorts) return std::to_string(static_cast<uint16_t>(value.value));
  return AddrOf(value).ToString();
}

std::string RecordKey(const RecordRows& rows, const PoolValue& value) {
  const Row& row = value.pool == PoolId::kPorts ? *rows.node_ports : *rows.ip_addresses;
  return row.prefix + RecordName(value);
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
  return codec::Object{{"metadata", codec::Object{{"name", kDefaultNodePortRange}}},
                       {"spec", codec::Object{{"range", ports.ToString()}}}};
}

std::string_view RangeFence(PoolId pool) {
  switch (pool) {
    case PoolId::kIpv4:
      return "/registry/berth.io/fence/ipv4";
    case PoolId::kIpv6:
      return "/registry/berth.io/fence/ipv6";
    case PoolId::kPorts:
      break;
  }
  return "/registry/berth.io/fence/nodeports";
}

commit::RecordReader MakeRecordReader(const RecordRows& rows, const Gates& gates) {
  return {.value = [rows](const state::Object& object) -> std::optional<PoolValue> {
            if (object.Resource() == rows.ip_addresses->resource) {
              return AddressValue(object.Name());
            }
            if (object.Resource() == rows.node_ports->resource) return PortValue(object.Name());
            return std::nullopt;
          },
          .is_range =
              [rows](const state::Object& object) {
                return object.Resource() == rows.service_cidrs->resource ||
                       object.Resource() == rows.node_port_ranges->resource;
              },
          .rows =
              [rows, gates](const state::Object& object) {
                return object.Resource() == rows.service_cidrs->resource
                           ? CidrRows(*rows.service_cidrs, object, gates.static_ips)
                           : PortRows(*rows.node_port_ranges, object, gates.static_ports);
              }};
}

}  // namespace berth::registry
