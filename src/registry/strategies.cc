// The strategies of the other kinds, made of the rules in src/rules.
#include "registry/kind_rows.h"
#include "rules/event_rules.h"
#include "rules/lease.h"
#include "rules/metadata.h"
#include "rules/namespace.h"
#include "rules/service_defaults.h"
#include "rules/service_validation.h"

namespace berth::registry {
namespace {

using codec::Value;

/// The default of Kubernetes (--event-ttl).
constexpr std::chrono::hours kEventTtl{1};

rules::EventApi EventApiOf(const View& view) {
  return view.to_stored == nullptr ? rules::EventApi::kCore : rules::EventApi::kEvents;
}

}  // namespace

Strategy NamespaceStrategy() {
  Strategy strategy;
  strategy.fill = rules::DefaultNamespace;
  strategy.prepare_create = [](Value& object, const Settings&) {
    rules::PrepareNamespaceCreate(object);
  };
  strategy.validate_create = [](const Value& object, const View&) {
    return rules::ValidateNamespaceCreate(object);
  };
  strategy.prepare_update = [](Value& object, const Value& old, Door door, const Settings&) {
    if (door == Door::kMain) rules::PrepareNamespaceUpdate(object, old);
    if (door == Door::kStatus) rules::PrepareNamespaceStatusUpdate(object, old);
    if (door == Door::kFinalize) rules::PrepareNamespaceFinalize(object, old);
  };
  strategy.validate_update = [](const Value& object, const Value& old, Door door, const View&) {
    if (door == Door::kStatus) return rules::ValidateNamespaceStatusUpdate(object, old);
    if (door == Door::kFinalize) return rules::ValidateNamespaceFinalize(object, old);
    return rules::ValidateNamespaceUpdate(object, old);
  };
  strategy.delete_returns_object = true;
  strategy.keeps_spec_finalizers = true;
  return strategy;
}

Strategy ServiceStrategy() {
  Strategy strategy;
  strategy.fill = rules::DefaultService;
  strategy.prepare_create = [](Value& object, const Settings& settings) {
    rules::DropDisabledFields(object, nullptr, settings.gates.lb_node_ports);
    rules::PrepareServiceCreate(object);
    rules::SyncClusterIps(object, nullptr);
  };
  strategy.complete = [](Value& object, const Value* old, const Settings& settings) {
    return rules::InitServiceFamilies(object, old, settings.families, settings.gates.dual_stack);
  };
  strategy.validate_create = [](const Value& object, const View&) {
    return rules::ValidateServiceCreate(object);
  };
  strategy.prepare_update = [](Value& object, const Value& old, Door door,
                               const Settings& settings) {
    if (door == Door::kStatus) return rules::PrepareServiceStatusUpdate(object, old);
    rules::DropDisabledFields(object, &old, settings.gates.lb_node_ports);
    rules::CarryAllocated(object, old);
    rules::SyncClusterIps(object, &old);
    rules::PrepareServiceUpdate(object, old);
  };
  strategy.validate_update = [](const Value& object, const Value& old, Door door, const View&) {
    if (door == Door::kStatus) return rules::ValidateServiceStatusUpdate(object, old);
    return rules::ValidateServiceUpdate(object, old);
  };
  strategy.decorate = [](Value& object, const Settings& settings) {
    rules::DecorateService(object, settings.families);
  };
  strategy.warn = [](const Value& object, Door door) {
    return door == Door::kStatus ? rules::ServiceStatusWarnings(object)
                                 : rules::ServiceWarnings(object);
  };
  strategy.put_creates = true;
  strategy.delete_returns_object = true;
  return strategy;
}

Strategy EventStrategy() {
  Strategy strategy;
  strategy.validate_create = [](const Value& object, const View& view) {
    return rules::ValidateEventCreate(object, EventApiOf(view));
  };
  strategy.validate_update = [](const Value& object, const Value& old, Door, const View& view) {
    return rules::ValidateEventUpdate(object, old, EventApiOf(view));
  };
  strategy.put_creates = true;
  strategy.owns_nothing = true;
  strategy.ttl = kEventTtl;
  return strategy;
}

Strategy LeaseStrategy() {
  Strategy strategy;
  strategy.validate_create = [](const Value& object, const View&) {
    return rules::ValidateLeaseCreate(object);
  };
  strategy.validate_update = [](const Value& object, const Value& old, Door, const View&) {
    return rules::ValidateLeaseUpdate(object, old);
  };
  strategy.put_creates = true;
  strategy.needs_version = true;
  return strategy;
}

}  // namespace berth::registry
