#include "audit/read.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "codec/read.h"
#include "ip/addr.h"
#include "rules/ip_address.h"
#include "rules/node_port.h"
#include "rules/range_facts.h"
#include "rules/range_spec.h"
#include "rules/service_claims.h"

namespace berth::audit {
namespace {

using alloc::PoolId;
using alloc::PoolValue;
using codec::IntAt;
using codec::StringAt;
using codec::Value;

ObjectRef RefOf(std::string_view resource, const Value& object) {
  const std::string_view version = StringAt(object, "metadata", "resourceVersion");
  int64_t revision = 0;
  std::from_chars(version.data(), version.data() + version.size(), revision);
  return {.resource = std::string(resource),
          .name_space = std::string(StringAt(object, "metadata", "namespace")),
          .name = std::string(StringAt(object, "metadata", "name")),
          .uid = std::string(StringAt(object, "metadata", "uid")),
          .revision = revision};
}

PortUse UseOf(const Value& port) {
  return {.name = std::string(StringAt(port, "name")),
          .port = IntAt(port, "port"),
          .protocol = std::string(StringAt(port, "protocol"))};
}

std::optional<PoolValue> AddressOf(std::string_view text) {
  const auto address = rules::ReadAddressName(text);
  if (!address) return std::nullopt;
  return PoolValue{.pool = alloc::PoolOf(address->family()), .value = address->bits()};
}

void ReadServiceAt(const Value& reference, RecordFacts& facts) {
  facts.service_namespace = StringAt(reference, "namespace");
  facts.service_name = StringAt(reference, "name");
  facts.service_uid = StringAt(reference, "uid");
}

void ReadReservation(const Value& record, RecordFacts& facts) {
  const Value* service = codec::FindAt(record, "spec", "reservedFor");
  if (service == nullptr) return;
  facts.reserved_for =
      fmt::format("{}/{}", StringAt(*service, "namespace"), StringAt(*service, "name"));
}

std::optional<base::U128> CountAt(const Value& range, std::string_view name) {
  const Value* count = codec::FindAt(range, "status", name);
  const auto number = count == nullptr ? std::nullopt : count->AsUint();
  return number ? std::optional<base::U128>(*number) : std::nullopt;
}

}  // namespace

ServiceFacts ReadService(const Value& service) {
  ServiceFacts facts{.object = RefOf("services", service)};
  for (const ip::Addr& address : rules::HoldingsOf(service).addresses) {
    facts.holds.push_back(
        {.value = {.pool = alloc::PoolOf(address.family()), .value = address.bits()}});
  }
  const codec::Array& ports = codec::ArrayAt(service, "spec", "ports");
  for (const rules::PortPurpose& purpose : rules::PurposesOf(service)) {
    HeldValue& held = facts.holds.emplace_back(
        HeldValue{.value = {.pool = PoolId::kPorts, .value = purpose.number},
                  .health_check = purpose.IsHealthCheck()});
    for (const size_t place : purpose.ports) held.ports.push_back(UseOf(ports[place]));
  }
  return facts;
}

std::optional<RecordFacts> ReadIpAddress(const Value& address, const rules::RecordNotes& notes) {
  ObjectRef object = RefOf("ipaddresses", address);
  const auto value = AddressOf(object.name);
  if (!value) return std::nullopt;
  RecordFacts facts{
      .object = std::move(object),
      .value = *value,
      .state = notes.state,
      .reserved_for = notes.reserved_for,
      .range = notes.range,
      .family = std::string(StringAt(address, "metadata", "labels", rules::kIpFamilyLabel))};
  if (const auto service = rules::ParentService(address)) {
    facts.service_namespace = service->name_space;
    facts.service_name = service->name;
    facts.service_uid = notes.service_uid;
  }
  // An allocated address without a note is of the well-known range.
  if (facts.range.empty() && facts.state == RecordState::kAllocated) {
    facts.range = value->pool == PoolId::kIpv4 ? rules::kIpv4RangeName : rules::kIpv6RangeName;
  }
  return facts;
}

std::optional<RecordFacts> ReadPlainIpAddress(const Value& address) {
  auto facts = ReadIpAddress(address, rules::NotesOfHidden(rules::AssumedNotes(address)));
  if (facts) facts->range.clear();  // Kubernetes has no references to ranges.
  return facts;
}

std::optional<RecordFacts> ReadAllocatedAddress(const Value& address) {
  ObjectRef object = RefOf("ipaddresses", address);
  object.name = StringAt(address, "spec", "address");
  const auto value = AddressOf(object.name);
  if (!value) return std::nullopt;
  RecordFacts facts{
      .object = std::move(object),
      .value = *value,
      .state = rules::StateOfText(StringAt(address, "status", "state")),
      .range = std::string(StringAt(address, "spec", "ipRangeRef", "name")),
      .family = std::string(StringAt(address, "metadata", "labels", rules::kIpFamilyLabel))};
  if (StringAt(address, "spec", "ipRangeRef", "kind") == "ServiceCIDR") {
    facts.range.insert(0, rules::kServiceCidrNote);
  }
  ReadReservation(address, facts);
  if (const Value* service = codec::FindAt(address, "status", "service")) {
    ReadServiceAt(*service, facts);
  }
  return facts;
}

std::optional<RecordFacts> ReadNodePort(const Value& port) {
  ObjectRef object = RefOf("nodeports", port);
  const auto number = object.name.empty() ? std::nullopt : rules::ReadNodePortName(object.name);
  if (!number) return std::nullopt;
  RecordFacts facts{.object = std::move(object),
                    .value = {.pool = PoolId::kPorts, .value = *number},
                    .state = rules::StateOfText(StringAt(port, "status", "state")),
                    .range = std::string(StringAt(port, "spec", "nodePortRangeRef", "name"))};
  ReadReservation(port, facts);
  if (facts.state != RecordState::kAllocated) return facts;
  if (const Value* service = codec::FindAt(port, "status", "service")) {
    ReadServiceAt(*service, facts);
  }
  if (const std::string_view purpose = StringAt(port, "status", "purpose"); !purpose.empty()) {
    facts.health_check = purpose == "HealthCheck";
    facts.ports.emplace();
    for (const Value& use : codec::ArrayAt(port, "status", "ports")) {
      facts.ports->push_back(UseOf(use));
    }
  }
  return facts;
}

RangeObjectFacts ReadRange(alloc::RangeKind kind, const Value& range) {
  constexpr std::array<std::string_view, 3> kResources = {"ipranges", "servicecidrs",
                                                          "nodeportranges"};
  return {.object = RefOf(kResources[static_cast<size_t>(kind)], range),
          .range = rules::RangeFactsOf(kind, range),
          .counts = {.used = CountAt(range, "used"),
                     .reserved = CountAt(range, "reserved"),
                     .cooling = CountAt(range, "cooling")}};
}

}  // namespace berth::audit
