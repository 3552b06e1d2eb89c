// What kind of Service it is: the few questions that defaults, validation, allocation and tables
// all ask. `service` is a whole object. Pure; views are valid until the object changes.
#pragma once

#include <string_view>

#include "codec/value.h"

namespace berth::rules {

std::string_view ServiceType(const codec::Value& service);
bool IsClusterIpType(const codec::Value& service);
bool IsNodePortType(const codec::Value& service);
bool IsLoadBalancer(const codec::Value& service);
bool IsExternalName(const codec::Value& service);

/// `clusterIP: None`.
bool IsHeadless(const codec::Value& service);
bool HasSelector(const codec::Value& service);

/// Type NodePort or LoadBalancer, or ClusterIP with externalIPs.
bool IsExternallyAccessible(const codec::Value& service);

/// Type NodePort or LoadBalancer: node ports in it count.
bool HasNodePorts(const codec::Value& service);

/// A load balancer with `externalTrafficPolicy: Local`: it has a health check node port.
bool NeedsHealthCheck(const codec::Value& service);

/// Type NodePort, or a load balancer that did not decline them.
bool NeedsNodePorts(const codec::Value& service);

}  // namespace berth::rules
