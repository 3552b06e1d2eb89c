// The strategies of the kinds that Services lead to, made of the rules in src/rules: Endpoints,
// EndpointSlices and Nodes.
#include "registry/kind_rows.h"
#include "rules/endpoint_slice.h"
#include "rules/endpoints.h"
#include "rules/node.h"

namespace berth::registry {

using codec::Value;

Strategy EndpointsStrategy() {
  Strategy strategy;
  strategy.fill = rules::DefaultEndpoints;
  strategy.validate_create = [](const Value& object, const View&) {
    return rules::ValidateEndpointsCreate(object);
  };
  strategy.validate_update = [](const Value& object, const Value& old, Door, const View&) {
    return rules::ValidateEndpointsUpdate(object, old);
  };
  strategy.warn = [](const Value& object, Door) { return rules::EndpointsWarnings(object); };
  strategy.put_creates = true;
  return strategy;
}

Strategy EndpointSliceStrategy() {
  Strategy strategy;
  strategy.fill = rules::DefaultEndpointSlice;
  strategy.prepare_create = [](Value& object, const Settings&) {
    rules::PrepareEndpointSliceCreate(object);
  };
  strategy.validate_create = [](const Value& object, const View&) {
    return rules::ValidateEndpointSliceCreate(object);
  };
  strategy.prepare_update = [](Value& object, const Value& old, Door, const Settings&) {
    rules::PrepareEndpointSliceUpdate(object, old);
  };
  strategy.validate_update = [](const Value& object, const Value& old, Door, const View&) {
    return rules::ValidateEndpointSliceUpdate(object, old);
  };
  strategy.warn = [](const Value& object, Door) { return rules::EndpointSliceWarnings(object); };
  strategy.warn_create = rules::NewEndpointSliceWarnings;
  return strategy;
}

Strategy NodeStrategy() {
  Strategy strategy;
  strategy.fill = rules::DefaultNode;
  strategy.prepare_create = [](Value& object, const Settings&) {
    rules::PrepareNodeCreate(object);
  };
  strategy.validate_create = [](const Value& object, const View&) {
    return rules::ValidateNodeCreate(object);
  };
  strategy.prepare_update = [](Value& object, const Value& old, Door door, const Settings&) {
    if (door == Door::kStatus) return rules::PrepareNodeStatusUpdate(object, old);
    rules::PrepareNodeUpdate(object, old);
  };
  strategy.validate_update = [](const Value& object, const Value& old, Door door, const View&) {
    if (door == Door::kStatus) return rules::ValidateNodeStatusUpdate(object, old);
    return rules::ValidateNodeUpdate(object, old);
  };
  strategy.warn = [](const Value& object, Door door) {
    return door == Door::kStatus ? std::vector<std::string>() : rules::NodeWarnings(object);
  };
  return strategy;
}

}  // namespace berth::registry
