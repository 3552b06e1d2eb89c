// The strategies of the kinds of allocation.berth.io, made of the rules in src/rules.
#include <array>
#include <string_view>

#include "codec/read.h"
#include "registry/kind_rows.h"
#include "rules/ip_range.h"
#include "rules/node_port.h"
#include "rules/node_port_range.h"
#include "rules/range_spec.h"
#include "state/wire_bitmap.h"

namespace berth::registry {
namespace {

using codec::Value;

/// Returns what both kinds of ranges share.
Strategy RangeStrategy() {
  Strategy strategy;
  strategy.prepare_create = [](Value& object, const Settings&) {
    rules::PrepareRangeCreate(object);
  };
  strategy.prepare_update = [](Value& object, const Value& old, Door door, const Settings&) {
    if (door == Door::kStatus) return rules::PrepareRangeStatusUpdate(object, old);
    rules::PrepareRangeUpdate(object, old);
  };
  return strategy;
}

/// Checks the static band, once the range itself is valid.
rules::FieldErrors WithBand(rules::FieldErrors errors, const Value& range) {
  return errors.empty() ? rules::ValidateStaticBand(range) : errors;
}

std::optional<Keeper> ServiceOf(const Value& port) {
  const auto service = rules::ServiceOfNodePort(port);
  if (!service) return std::nullopt;
  return Keeper{.kind = &api::kServiceKind,
                .name_space = std::string(service->name_space),
                .name = std::string(service->name)};
}

/// A Service that has the port objects: it would share the port with the next Service that gets it.
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
  static constexpr std::array<std::string_view, 7> kOwn = {
      "name", "uid", "creationTimestamp", "namespace", "name", "uid", "since"};
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
  strategy.decorate = [](Value& object, const Settings&) { rules::DecorateNodePort(object); };
  strategy.ends = rules::PortEnds;
  strategy.keeper = ServiceOf;
  strategy.objection = ObjectionOfService;
  strategy.own_members = kOwn;
  strategy.name_as_given = true;
  return strategy;
}

Strategy RangeAllocationStrategy() {
  Strategy strategy;
  strategy.to_wire = state::BitmapToWire;
  return strategy;
}

Strategy ReplicaStrategy() {
  Strategy strategy;
  strategy.read_only = "replicas are written by the servers themselves";
  strategy.ttl = kReplicaTtl;
  return strategy;
}

}  // namespace berth::registry
