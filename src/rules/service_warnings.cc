#include <string>
#include <string_view>
#include <vector>

#include "codec/read.h"
#include "rules/address_text.h"
#include "rules/field_error.h"
#include "rules/service.h"
#include "rules/service_validation.h"

namespace berth::rules {
namespace {

using Warnings = std::vector<std::string>;

void WarnOfAddresses(Warnings& warnings, const Path& path, const codec::Array& texts) {
  for (size_t i = 0; i < texts.size(); ++i) WarnOfAddress(warnings, path.Index(i), Text(&texts[i]));
}

void WarnOfHeadless(Warnings& warnings, const codec::Value& service) {
  if (!StringAt(service, "spec", "loadBalancerIP").empty()) {
    warnings.emplace_back("spec.loadBalancerIP is ignored for headless services");
  }
  if (!ArrayAt(service, "spec", "externalIPs").empty()) {
    warnings.emplace_back("spec.externalIPs is ignored for headless services");
  }
  const std::string_view affinity = StringAt(service, "spec", "sessionAffinity");
  if (!affinity.empty() && affinity != "None") {
    warnings.emplace_back("spec.SessionAffinity is ignored for headless services");
  }
}

}  // namespace

Warnings ServiceWarnings(const codec::Value& service) {
  Warnings warnings;
  const Path spec("spec");
  if (HasAt(service, "metadata", "annotations", "service.kubernetes.io/topology-aware-hints")) {
    warnings.emplace_back(
        "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
        "service.kubernetes.io/topology-mode instead");
  }
  const bool headless = IsHeadless(service);
  const codec::Array& external_ips = ArrayAt(service, "spec", "externalIPs");
  if (!headless) {
    WarnOfAddresses(warnings, spec.Child("clusterIPs"), ArrayAt(service, "spec", "clusterIPs"));
  }
  if (headless) WarnOfHeadless(warnings, service);
  WarnOfAddresses(warnings, spec.Child("externalIPs"), external_ips);
  if (!headless && !IsExternalName(service) && !external_ips.empty()) {
    warnings.emplace_back(
        "spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  }
  WarnOfAddress(warnings, spec.Child("loadBalancerIP"),
                StringAt(service, "spec", "loadBalancerIP"));
  const codec::Array& ranges = ArrayAt(service, "spec", "loadBalancerSourceRanges");
  for (size_t i = 0; i < ranges.size(); ++i) {
    WarnOfBlock(warnings, spec.Child("loadBalancerSourceRanges").Index(i), Text(&ranges[i]));
  }
  if (IsExternalName(service) && !external_ips.empty()) {
    warnings.emplace_back("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
  }
  if (!IsExternalName(service) && !StringAt(service, "spec", "externalName").empty()) {
    warnings.emplace_back("spec.externalName is ignored when spec.type is not \"ExternalName\"");
  }
  if (StringAt(service, "spec", "trafficDistribution") == "PreferClose") {
    warnings.emplace_back(
        "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
  }
  return warnings;
}

Warnings ServiceStatusWarnings(const codec::Value& service) {
  Warnings warnings;
  const codec::Array& ingress = ArrayAt(service, "status", "loadBalancer", "ingress");
  for (size_t i = 0; i < ingress.size(); ++i) {
    WarnOfAddress(warnings, Path("status.loadBalancer.ingress").Index(i),
                  StringAt(ingress[i], "ip"));
  }
  return warnings;
}

}  // namespace berth::rules
