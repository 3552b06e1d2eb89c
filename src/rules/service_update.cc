// The parts of service_defaults.h that look at the Service as it was before an update.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "codec/read.h"
#include "rules/service.h"
#include "rules/service_defaults.h"

namespace berth::rules {
namespace {

std::set<int64_t> NodePortsOf(const codec::Value& service) {
  std::set<int64_t> used;
  for (const codec::Value& port : ArrayAt(service, "spec", "ports")) {
    if (const int64_t node_port = IntAt(port, "nodePort"); node_port != 0) used.insert(node_port);
  }
  return used;
}

codec::Array* PortsOf(codec::Value& service) {
  codec::Value* ports = FindAt(service, "spec", "ports");
  return ports == nullptr ? nullptr : ports->AsArray();
}

void CarryNodePorts(codec::Value& service, const codec::Value& old) {
  codec::Array* ports = PortsOf(service);
  if (ports == nullptr) return;
  // A number that both name is where the client wants it; it cannot go to another port as well.
  std::set<int64_t> used;
  const std::set<int64_t> now = NodePortsOf(service);
  for (const int64_t before : NodePortsOf(old)) {
    if (now.contains(before)) used.insert(before);
  }
  std::map<std::string_view, int64_t> by_name;
  for (const codec::Value& port : ArrayAt(old, "spec", "ports")) {
    by_name[StringAt(port, "name")] = IntAt(port, "nodePort");
  }
  for (codec::Value& port : *ports) {
    if (IntAt(port, "nodePort") != 0) continue;
    const auto before = by_name.find(StringAt(port, "name"));
    if (before == by_name.end() || before->second == 0) continue;
    if (used.insert(before->second).second) SetAt(port, {"nodePort"}, before->second);
  }
}

/// Whether the client left the node ports as they were: it may add and remove ports.
bool LeftNodePorts(const codec::Value& service, const codec::Value& old) {
  const std::set<int64_t> before = NodePortsOf(old);
  for (const int64_t node_port : NodePortsOf(service)) {
    if (!before.contains(node_port)) return false;
  }
  return true;
}

bool SameField(const codec::Value& service, const codec::Value& old, std::string_view field) {
  return Same(FindAt(service, "spec", field), FindAt(old, "spec", field));
}

void EraseIfSame(codec::Value& service, const codec::Value& old, std::string_view field) {
  if (SameField(service, old, field)) EraseAt(service, {"spec", field});
}

bool HasNodePorts(const codec::Value& service) {
  return IsNodePortType(service) || IsLoadBalancer(service);
}

void DropAddresses(codec::Value& service, const codec::Value& old) {
  if (SameField(service, old, "clusterIP") && SameField(service, old, "clusterIPs")) {
    EraseAt(service, {"spec", "clusterIP"});
    EraseAt(service, {"spec", "clusterIPs"});
  }
  EraseIfSame(service, old, "ipFamilies");
  EraseIfSame(service, old, "ipFamilyPolicy");
}

void DropNodePorts(codec::Value& service, const codec::Value& old) {
  codec::Array* ports = PortsOf(service);
  if (ports == nullptr || !LeftNodePorts(service, old)) return;
  for (codec::Value& port : *ports) EraseAt(port, {"nodePort"});
}

}  // namespace

void CarryAllocated(codec::Value& service, const codec::Value& old) {
  if (!IsExternalName(service) && !IsExternalName(old)) {
    if (StringAt(service, "spec", "clusterIP").empty()) CopyAt(service, old, {"spec", "clusterIP"});
    if (ArrayAt(service, "spec", "clusterIPs").empty()) {
      CopyAt(service, old, {"spec", "clusterIPs"});
    }
  }
  if (NeedsNodePorts(service) && NeedsNodePorts(old)) CarryNodePorts(service, old);
  if (NeedsHealthCheck(service) && NeedsHealthCheck(old) &&
      IntAt(service, "spec", "healthCheckNodePort") == 0) {
    CopyAt(service, old, {"spec", "healthCheckNodePort"});
  }
}

void SyncClusterIps(codec::Value& service, const codec::Value* old) {
  const std::string ip(StringAt(service, "spec", "clusterIP"));
  const codec::Array& ips = ArrayAt(service, "spec", "clusterIPs");
  if (old == nullptr) {
    if (!ip.empty() && ips.empty()) SetAt(service, {"spec", "clusterIPs"}, codec::Array{ip});
    return;
  }
  const codec::Array& old_ips = ArrayAt(*old, "spec", "clusterIPs");
  if (ip == StringAt(*old, "spec", "clusterIP")) {
    if (ips.empty() && !old_ips.empty()) SetAt(service, {"spec", "clusterIPs"}, old_ips);
    return;
  }
  // Only the singular was changed: the plural follows. If both were, validation decides.
  if (ips != old_ips) return;
  if (ip.empty()) {
    EraseAt(service, {"spec", "clusterIPs"});
  } else {
    SetAt(service, {"spec", "clusterIPs"}, codec::Array{ip});
  }
}

void PrepareServiceUpdate(codec::Value& service, const codec::Value& old) {
  CopyAt(service, old, {"status"});
  if (!IsExternalName(old) && IsExternalName(service)) DropAddresses(service, old);
  if (HasNodePorts(old) && !HasNodePorts(service)) DropNodePorts(service, old);
  if (NeedsHealthCheck(old) && !NeedsHealthCheck(service)) {
    EraseIfSame(service, old, "healthCheckNodePort");
  }
  if (IsLoadBalancer(old) && !IsLoadBalancer(service)) {
    EraseIfSame(service, old, "allocateLoadBalancerNodePorts");
    EraseIfSame(service, old, "loadBalancerClass");
  }
  if (IsExternallyAccessible(old) && !IsExternallyAccessible(service)) {
    EraseIfSame(service, old, "externalTrafficPolicy");
  }
  if (!IsLoadBalancer(service)) EraseAt(service, {"status", "loadBalancer"});
}

}  // namespace berth::rules
