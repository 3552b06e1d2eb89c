#include "rules/service.h"

#include "codec/read.h"

namespace berth::rules {

std::string_view ServiceType(const codec::Value& service) {
  return StringAt(service, "spec", "type");
}

bool IsClusterIpType(const codec::Value& service) { return ServiceType(service) == "ClusterIP"; }
bool IsNodePortType(const codec::Value& service) { return ServiceType(service) == "NodePort"; }
bool IsLoadBalancer(const codec::Value& service) { return ServiceType(service) == "LoadBalancer"; }
bool IsExternalName(const codec::Value& service) { return ServiceType(service) == "ExternalName"; }

bool IsHeadless(const codec::Value& service) {
  return StringAt(service, "spec", "clusterIP") == "None";
}

bool HasSelector(const codec::Value& service) {
  return !ObjectAt(service, "spec", "selector").empty();
}

bool IsExternallyAccessible(const codec::Value& service) {
  return HasNodePorts(service) ||
         (IsClusterIpType(service) && !ArrayAt(service, "spec", "externalIPs").empty());
}

bool HasNodePorts(const codec::Value& service) { return HasNodePorts(ServiceType(service)); }

bool HasNodePorts(std::string_view type) { return type == "NodePort" || type == "LoadBalancer"; }

bool NeedsHealthCheck(const codec::Value& service) {
  return NeedsHealthCheck(ServiceType(service), StringAt(service, "spec", "externalTrafficPolicy"));
}

bool NeedsHealthCheck(std::string_view type, std::string_view external_traffic_policy) {
  return type == "LoadBalancer" && external_traffic_policy == "Local";
}

bool NeedsNodePorts(const codec::Value& service) {
  if (IsNodePortType(service)) return true;
  const codec::Value* wanted = FindAt(service, "spec", "allocateLoadBalancerNodePorts");
  return IsLoadBalancer(service) && (wanted == nullptr || wanted->AsBool().value_or(true));
}

}  // namespace berth::rules
