#include "rules/service_defaults.h"

#include <string_view>
#include <utility>

#include "codec/read.h"
#include "rules/service.h"

namespace berth::rules {
namespace {

constexpr int kAffinitySeconds = 10800;

void DefaultText(codec::Value& object, std::initializer_list<std::string_view> path,
                 std::string_view current, std::string_view text) {
  if (current.empty()) SetAt(object, path, text);
}

void DefaultAffinity(codec::Value& service) {
  DefaultText(service, {"spec", "sessionAffinity"}, StringAt(service, "spec", "sessionAffinity"),
              "None");
  const std::string_view affinity = StringAt(service, "spec", "sessionAffinity");
  if (affinity == "None") EraseAt(service, {"spec", "sessionAffinityConfig"});
  if (affinity == "ClientIP" &&
      !HasAt(service, "spec", "sessionAffinityConfig", "clientIP", "timeoutSeconds")) {
    EraseAt(service, {"spec", "sessionAffinityConfig"});
    SetAt(service, {"spec", "sessionAffinityConfig", "clientIP", "timeoutSeconds"},
          kAffinitySeconds);
  }
}

void DefaultPorts(codec::Value& service) {
  codec::Value* list = FindAt(service, "spec", "ports");
  codec::Array* ports = list == nullptr ? nullptr : list->AsArray();
  if (ports == nullptr) return;
  for (codec::Value& port : *ports) {
    DefaultText(port, {"protocol"}, StringAt(port, "protocol"), "TCP");
    const codec::Value* target = FindAt(port, "targetPort");
    const bool named = target != nullptr && !Text(target).empty();
    if (named || IntAt(port, "targetPort") != 0) continue;
    // A target of 0 counts as unset.
    EraseAt(port, {"targetPort"});
    if (const int64_t number = IntAt(port, "port"); number != 0) {
      SetAt(port, {"targetPort"}, number);
    }
  }
}

void DefaultIngress(codec::Value& service) {
  codec::Value* list = FindAt(service, "status", "loadBalancer", "ingress");
  codec::Array* ingress = list == nullptr ? nullptr : list->AsArray();
  if (ingress == nullptr) return;
  for (codec::Value& entry : *ingress) {
    if (!StringAt(entry, "ip").empty() && !HasAt(entry, "ipMode")) {
      SetAt(entry, {"ipMode"}, "VIP");
    }
  }
}

codec::Array FamiliesOf(const codec::Array& cluster_ips) {
  codec::Array families;
  for (const codec::Value& ip : cluster_ips) {
    const auto parsed = ip::ParseAddrLoose(Text(&ip));
    const bool v6 = parsed.has_value() && parsed->addr.family() == ip::Family::kV6;
    families.emplace_back(ip::FamilyText(v6 ? ip::Family::kV6 : ip::Family::kV4));
  }
  return families;
}

void SetFamilies(codec::Value& service, codec::Array families, std::string_view policy) {
  SetAt(service, {"spec", "ipFamilies"}, std::move(families));
  SetAt(service, {"spec", "ipFamilyPolicy"}, policy);
}

}  // namespace

void DefaultService(codec::Value& service) {
  DefaultAffinity(service);
  DefaultText(service, {"spec", "type"}, ServiceType(service), "ClusterIP");
  DefaultPorts(service);
  if (IsExternallyAccessible(service)) {
    DefaultText(service, {"spec", "externalTrafficPolicy"},
                StringAt(service, "spec", "externalTrafficPolicy"), "Cluster");
  }
  const bool has_addresses =
      IsClusterIpType(service) || IsNodePortType(service) || IsLoadBalancer(service);
  if (has_addresses && !HasAt(service, "spec", "internalTrafficPolicy")) {
    SetAt(service, {"spec", "internalTrafficPolicy"}, "Cluster");
  }
  if (!IsLoadBalancer(service)) return;
  if (!HasAt(service, "spec", "allocateLoadBalancerNodePorts")) {
    SetAt(service, {"spec", "allocateLoadBalancerNodePorts"}, true);
  }
  DefaultIngress(service);
}

void DecorateService(codec::Value& service, std::span<const ip::Family> configured) {
  const std::string cluster_ip(StringAt(service, "spec", "clusterIP"));
  if (!cluster_ip.empty() && ArrayAt(service, "spec", "clusterIPs").empty()) {
    SetAt(service, {"spec", "clusterIPs"}, codec::Array{cluster_ip});
  }
  if (IsExternalName(service)) {
    EraseAt(service, {"spec", "internalTrafficPolicy"});
    return;
  }
  const codec::Array& ips = ArrayAt(service, "spec", "clusterIPs");
  if (!ArrayAt(service, "spec", "ipFamilies").empty() || ips.empty()) return;
  if (!IsHeadless(service)) {
    SetFamilies(service, FamiliesOf(ips), ips.size() > 1 ? "RequireDualStack" : "SingleStack");
    return;
  }
  const ip::Family first = configured.empty() ? ip::Family::kV4 : configured.front();
  const ip::Family second = first == ip::Family::kV4 ? ip::Family::kV6 : ip::Family::kV4;
  if (HasSelector(service)) {
    SetFamilies(service, {ip::FamilyText(first)}, "SingleStack");
  } else {
    SetFamilies(service, {ip::FamilyText(first), ip::FamilyText(second)}, "RequireDualStack");
  }
}

void PrepareServiceCreate(codec::Value& service) { EraseAt(service, {"status"}); }

void PrepareServiceStatusUpdate(codec::Value& service, const codec::Value& old) {
  CopyAt(service, old, {"spec"});
}

}  // namespace berth::rules
