// Questions about a Service that defaults, validation, allocation and tables share. `service` is a
// whole object. Pure. Returned views are valid until the object changes.
#pragma once

#include <string_view>

#include "codec/value.h"

namespace berth::rules {

std::string_view ServiceType(const codec::Value& service);
bool IsClusterIpType(const codec::Value& service);
bool IsNodePortType(const codec::Value& service);
bool IsLoadBalancer(const codec::Value& service);
bool IsExternalName(const codec::Value& service);

/// Returns whether `clusterIP` is `None`.
bool IsHeadless(const codec::Value& service);
bool HasSelector(const codec::Value& service);

/// Returns whether the type is NodePort or LoadBalancer, or ClusterIP with externalIPs.
bool IsExternallyAccessible(const codec::Value& service);

/// Returns whether the type is NodePort or LoadBalancer, so that its node ports count.
bool HasNodePorts(const codec::Value& service);
bool HasNodePorts(std::string_view type);

/// Returns whether it is a load balancer with `externalTrafficPolicy: Local`, which has a health
/// check node port.
bool NeedsHealthCheck(const codec::Value& service);
bool NeedsHealthCheck(std::string_view type, std::string_view external_traffic_policy);

/// Returns whether the type is NodePort, or a load balancer that did not decline node ports.
bool NeedsNodePorts(const codec::Value& service);

}  // namespace berth::rules
