// The parts of service_defaults.h that use the Service as it was before an update.
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

bool IsSamePort(const codec::Value& port, const codec::Value& old) {
  return IntAt(port, "port") == IntAt(old, "port") &&
         StringAt(port, "protocol") == StringAt(old, "protocol");
}

void CarryNodePorts(codec::Value& service, const codec::Value& old) {
  codec::Array* ports = PortsOf(service);
  if (ports == nullptr) return;
  std::map<std::string_view, const codec::Value*> by_name;
  for (const codec::Value& port : ArrayAt(old, "spec", "ports")) {
    by_name[StringAt(port, "name")] = &port;
  }
  // A number that the client gave stays where it is, and cannot be carried to another port.
  const std::set<int64_t> given = NodePortsOf(service);
  std::set<int64_t> used;
  // Unchanged ports come first: they keep even a number that they share. A changed port keeps its
  // number if no other port has it.
  for (const bool same : {true, false}) {
    for (codec::Value& port : *ports) {
      const auto before = by_name.find(StringAt(port, "name"));
      if (IntAt(port, "nodePort") != 0 || before == by_name.end()) continue;
      const int64_t number = IntAt(*before->second, "nodePort");
      if (number == 0 || given.contains(number)) continue;
      if (same ? !IsSamePort(port, *before->second) : used.contains(number)) continue;
      used.insert(number);
      SetAt(port, {"nodePort"}, number);
    }
  }
}

/// Returns whether the client left the node ports unchanged. It may still add and remove ports.
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

void DropDisabledFields(codec::Value& service, const codec::Value* old, bool lb_node_ports) {
  constexpr std::string_view kChoice = "allocateLoadBalancerNodePorts";
  if (lb_node_ports || (old != nullptr && HasAt(*old, "spec", kChoice))) return;
  EraseAt(service, {"spec", kChoice});
}

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
  // If only the singular was changed, the plural follows. If both were, validation decides.
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
