// The kinds of allocation.berth.io: the rules of src/rules, put together as rows.
#include <array>
#include <string_view>

#include "codec/read.h"
#include "registry/kinds.h"
#include "registry/range_facts.h"
#include "registry/record_changes.h"
#include "rules/ip_range.h"
#include "rules/node_port.h"
#include "rules/node_port_range.h"
#include "rules/range_spec.h"

namespace berth::registry {
namespace {

using codec::Value;

/// What both kinds of ranges have.
Strategy RangeStrategy() {
  Strategy strategy;
  strategy.prepare_create = [](Value& object, const Settings&) {
    rules::PrepareRangeCreate(object);
  };
  strategy.prepare_update = [](Value& object, const Value& old, Door door, const Settings&) {
    if (door == Door::kStatus) return rules::PrepareRangeStatusUpdate(object, old);
    rules::PrepareRangeUpdate(object, old);
  };
  strategy.is_range = true;
  return strategy;
}

/// The band is looked at once the range is known to be one.
rules::FieldErrors WithBand(rules::FieldErrors errors, const Value& range) {
  return errors.empty() ? ValidateStaticBand(range) : errors;
}

std::optional<Keeper> ServiceOf(const Value& port) {
  const auto service = rules::ServiceOfNodePort(port);
  if (!service) return std::nullopt;
  return Keeper{.kind = &api::kServiceKind,
                .name_space = std::string(service->name_space),
                .name = std::string(service->name)};
}

/// A Service that has the port would share it with the next one that gets it.
std::optional<std::string> ObjectionOfService(const Value& port, const Value& service) {
  if (!rules::HasNodePort(service, codec::StringAt(port, "metadata", "name"))) return std::nullopt;
  return rules::NodePortHeldByService(service);
}

}  // namespace

Strategy IpRangeStrategy() {
  Strategy strategy = RangeStrategy();
  strategy.validate_create = [](const Value& object, const View&) {
    return WithBand(rules::ValidateIpRangeCreate(object), object);
  };
  strategy.validate_update = [](const Value& object, const Value& old, Door door, const View&) {
    if (door == Door::kStatus) return rules::ValidateRangeStatusUpdate(object, old);
    return WithBand(rules::ValidateIpRangeUpdate(object, old), object);
  };
  return strategy;
}

Strategy NodePortRangeStrategy() {
  Strategy strategy = RangeStrategy();
  strategy.validate_create = [](const Value& object, const View&) {
    return WithBand(rules::ValidateNodePortRangeCreate(object), object);
  };
  strategy.validate_update = [](const Value& object, const Value& old, Door door, const View&) {
    if (door == Door::kStatus) return rules::ValidateRangeStatusUpdate(object, old);
    return WithBand(rules::ValidateNodePortRangeUpdate(object, old), object);
  };
  return strategy;
}

Strategy NodePortStrategy() {
  static constexpr std::array<std::string_view, 6> kOwn = {"name",      "uid",  "creationTimestamp",
                                                           "namespace", "name", "uid"};
  Strategy strategy;
  strategy.fill = rules::DefaultNodePort;
  strategy.prepare_create = [](Value& object, const Settings&) {
    rules::PrepareNodePortCreate(object);
  };
  strategy.validate_create = [](const Value& object, const View&) {
    return rules::ValidateNodePortCreate(object);
  };
  strategy.prepare_update = [](Value& object, const Value& old, Door, const Settings&) {
    rules::PrepareNodePortUpdate(object, old);
  };
  strategy.validate_update = [](const Value& object, const Value& old, Door, const View&) {
    return rules::ValidateNodePortUpdate(object, old);
  };
  strategy.ends = PortEnds;
  strategy.keeper = ServiceOf;
  strategy.objection = ObjectionOfService;
  strategy.own_members = kOwn;
  strategy.name_as_given = true;
  return strategy;
}

Strategy ReplicaStrategy() {
  Strategy strategy;
  strategy.read_only = "replicas are written by the servers themselves";
  strategy.ttl = kReplicaTtl;
  return strategy;
}

}  // namespace berth::registry
