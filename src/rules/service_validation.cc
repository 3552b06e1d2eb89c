#include "rules/service_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "base/go_text.h"
#include "codec/read.h"
#include "ip/cidr.h"
#include "rules/address_text.h"
#include "rules/metadata.h"
#include "rules/service.h"
#include "rules/service_checks.h"

namespace berth::rules {
namespace {

constexpr std::string_view kOnlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'";
constexpr std::string_view kTopologyMode = "service.kubernetes.io/topology-mode";
constexpr std::string_view kTopologyHints = "service.kubernetes.io/topology-aware-hints";
constexpr std::string_view kSourceRanges = "service.beta.kubernetes.io/load-balancer-source-ranges";
constexpr int64_t kMostAffinitySeconds = 86400;

Path Spec(std::string_view field) { return Path("spec").Child(field); }

void CheckAnnotations(FieldErrors& errors, const codec::Value& service) {
  const codec::Value* mode = FindAt(service, "metadata", "annotations", kTopologyMode);
  const codec::Value* hints = FindAt(service, "metadata", "annotations", kTopologyHints);
  if (mode == nullptr || hints == nullptr || *mode == *hints) return;
  errors.Invalid(Path("metadata.annotations").Key(kTopologyMode), *mode,
                 fmt::format("must match annotations[{}] when both are specified", kTopologyHints));
}

void CheckHeadless(FieldErrors& errors, const codec::Value& service) {
  if (IsHeadless(service) && (IsLoadBalancer(service) || IsNodePortType(service))) {
    errors.Invalid(Spec("clusterIPs").Index(0), "None",
                   fmt::format("may not be set to 'None' for {} services", ServiceType(service)));
  }
}

void CheckExternalName(FieldErrors& errors, const codec::Value& service) {
  if (!IsExternalName(service)) return;
  constexpr std::string_view kDetail = "may not be set for ExternalName services";
  // The singular field alone counts too: it would be an address that was never reserved.
  if (!ArrayAt(service, "spec", "clusterIPs").empty() ||
      !StringAt(service, "spec", "clusterIP").empty()) {
    errors.Forbidden(Spec("clusterIPs"), kDetail);
  }
  if (!ArrayAt(service, "spec", "ipFamilies").empty()) {
    errors.Forbidden(Spec("ipFamilies"), kDetail);
  }
  if (HasAt(service, "spec", "ipFamilyPolicy")) errors.Forbidden(Spec("ipFamilyPolicy"), kDetail);
  std::string_view name = StringAt(service, "spec", "externalName");
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty()) {
    errors.Required(Spec("externalName"));
  } else {
    errors.InvalidEach(Spec("externalName"), name, Dns1123SubdomainProblems(name));
  }
}

void CheckAffinityConfig(FieldErrors& errors, const codec::Value& service) {
  constexpr std::string_view kDetail = "when session affinity type is ClientIP";
  const Path path = Spec("sessionAffinityConfig");
  if (!HasAt(service, "spec", "sessionAffinityConfig")) return errors.Required(path, kDetail);
  if (!HasAt(service, "spec", "sessionAffinityConfig", "clientIP")) {
    return errors.Required(path.Child("clientIP"), kDetail);
  }
  const Path timeout = path.Child("clientIP").Child("timeoutSeconds");
  const codec::Value* value =
      FindAt(service, "spec", "sessionAffinityConfig", "clientIP", "timeoutSeconds");
  if (value == nullptr) return errors.Required(timeout, kDetail);
  const int64_t seconds = value->AsInt().value_or(0);
  if (seconds <= 0 || seconds > kMostAffinitySeconds) {
    errors.Invalid(timeout, *value, "must be greater than 0 and less than 86400");
  }
}

void CheckAffinity(FieldErrors& errors, const codec::Value& service) {
  const std::string_view affinity = StringAt(service, "spec", "sessionAffinity");
  const Path path = Spec("sessionAffinity");
  if (affinity.empty()) {
    errors.Required(path);
  } else if (affinity == "ClientIP") {
    CheckAffinityConfig(errors, service);
  } else if (affinity != "None") {
    errors.NotSupported(path, affinity, {"ClientIP", "None"});
  } else if (HasAt(service, "spec", "sessionAffinityConfig")) {
    errors.Forbidden(Spec("sessionAffinityConfig"),
                     "must not be set when session affinity is None");
  }
}

void CheckExternalIps(FieldErrors& errors, const codec::Value& service, const codec::Value* old) {
  std::set<std::string_view> before;
  if (old != nullptr) before = TextSet(ArrayAt(*old, "spec", "externalIPs"));
  const codec::Array& ips = ArrayAt(service, "spec", "externalIPs");
  for (size_t i = 0; i < ips.size(); ++i) {
    const std::string_view text = Text(&ips[i]);
    const size_t count = errors.size();
    CheckAddress(errors, Spec("externalIPs").Index(i), text, before);
    if (errors.size() != count) continue;
    if (const std::string problem = SpecialAddressProblem(text); !problem.empty()) {
      errors.Invalid(Spec("externalIPs").Index(i), text, problem);
    }
  }
}

void CheckType(FieldErrors& errors, const codec::Value& service) {
  const std::string_view type = ServiceType(service);
  if (type.empty()) {
    errors.Required(Spec("type"));
  } else if (!IsClusterIpType(service) && !IsNodePortType(service) && !IsLoadBalancer(service) &&
             !IsExternalName(service)) {
    errors.NotSupported(Spec("type"), type,
                        {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"});
  }
}

void CheckBlock(FieldErrors& errors, const Path& path, std::string_view text) {
  errors.InvalidEach(path, text, ip::CidrProblems(text, ip::Strictness::kLegacyField));
}

/// Checks the annotation that preceded the field. It is a list in one text.
void CheckRangesAnnotation(FieldErrors& errors, const codec::Value& service,
                           const codec::Value* old) {
  const codec::Value* annotation = FindAt(service, "metadata", "annotations", kSourceRanges);
  if (annotation == nullptr) return;
  const Path path = Path("metadata.annotations").Key(kSourceRanges);
  if (!IsLoadBalancer(service)) errors.Forbidden(path, kOnlyLoadBalancer);
  if (old != nullptr &&
      StringAt(*old, "metadata", "annotations", kSourceRanges) == Text(annotation)) {
    return;
  }
  const std::string_view blocks = base::GoTrimSpace(Text(annotation));
  if (blocks.empty()) return;
  // Each comma starts another block, so the last one may be empty.
  for (size_t start = 0; start <= blocks.size();) {
    const size_t comma = std::min(blocks.find(',', start), blocks.size());
    CheckBlock(errors, path, base::GoTrimSpace(blocks.substr(start, comma - start)));
    start = comma + 1;
  }
}

void CheckSourceRanges(FieldErrors& errors, const codec::Value& service, const codec::Value* old) {
  const codec::Array& ranges = ArrayAt(service, "spec", "loadBalancerSourceRanges");
  if (ranges.empty()) return CheckRangesAnnotation(errors, service, old);
  const Path path = Spec("LoadBalancerSourceRanges");
  if (!IsLoadBalancer(service)) errors.Forbidden(path, kOnlyLoadBalancer);
  std::set<std::string_view> before;
  if (old != nullptr) {
    for (const codec::Value& range : ArrayAt(*old, "spec", "loadBalancerSourceRanges")) {
      before.insert(base::GoTrimSpace(Text(&range)));
    }
  }
  for (size_t i = 0; i < ranges.size(); ++i) {
    const std::string_view block = base::GoTrimSpace(Text(&ranges[i]));
    if (!before.contains(block)) CheckBlock(errors, path.Index(i), block);
  }
}

/// Checks that only load balancers set the field. A load balancer may lack it: if the feature is
/// off, every load balancer has node ports.
void CheckNodePortChoice(FieldErrors& errors, const codec::Value& service) {
  if (!IsLoadBalancer(service) && HasAt(service, "spec", "allocateLoadBalancerNodePorts")) {
    errors.Forbidden(Spec("allocateLoadBalancerNodePorts"), kOnlyLoadBalancer);
  }
}

/// `old` is null where Kubernetes checks only the new object.
void CheckLoadBalancerClass(FieldErrors& errors, const codec::Value& service,
                            const codec::Value* old) {
  const codec::Value* now = FindAt(service, "spec", "loadBalancerClass");
  if (old != nullptr && IsLoadBalancer(*old) && IsLoadBalancer(service) &&
      !Same(now, FindAt(*old, "spec", "loadBalancerClass"))) {
    errors.Invalid(Spec("loadBalancerClass"), now == nullptr ? codec::Value() : *now,
                   "may not change once set");
  }
  if (now == nullptr) return;
  if (IsLoadBalancer(service)) {
    errors.InvalidEach(Spec("loadBalancerClass"), Text(now), QualifiedNameProblems(Text(now)));
  } else {
    errors.Forbidden(Spec("loadBalancerClass"), kOnlyLoadBalancer);
  }
}

void CheckExternalTraffic(FieldErrors& errors, const codec::Value& service) {
  const std::string_view policy = StringAt(service, "spec", "externalTrafficPolicy");
  const Path path = Spec("externalTrafficPolicy");
  if (!IsExternallyAccessible(service)) {
    if (!policy.empty()) {
      errors.Invalid(path, policy, "may only be set for externally-accessible services");
    }
  } else if (policy.empty()) {
    errors.Required(path);
  } else if (policy != "Cluster" && policy != "Local") {
    errors.NotSupported(path, policy, {"Cluster", "Local"});
  }
  const int64_t port = IntAt(service, "spec", "healthCheckNodePort");
  if (port == 0) return;  // If one is needed, allocation will choose it.
  if (!NeedsHealthCheck(service)) {
    errors.Invalid(Spec("healthCheckNodePort"), port,
                   "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is "
                   "'Local'");
    return;
  }
  for (const std::string& problem : PortNumberProblems(port)) {
    errors.Invalid(Spec("healthCheckNodePort"), port, problem);
  }
}

void CheckInternalTraffic(FieldErrors& errors, const codec::Value& service) {
  const codec::Value* policy = FindAt(service, "spec", "internalTrafficPolicy");
  const Path path = Spec("internalTrafficPolicy");
  if (policy == nullptr) {
    if (IsClusterIpType(service) || IsNodePortType(service) || IsLoadBalancer(service)) {
      errors.Required(path);
    }
  } else if (Text(policy) != "Cluster" && Text(policy) != "Local") {
    errors.NotSupported(path, Text(policy), {"Cluster", "Local"});
  }
}

void CheckDistribution(FieldErrors& errors, const codec::Value& service) {
  const codec::Value* value = FindAt(service, "spec", "trafficDistribution");
  if (value == nullptr) return;
  const std::string_view text = Text(value);
  if (text != "PreferClose" && text != "PreferSameZone" && text != "PreferSameNode") {
    errors.NotSupported(Spec("trafficDistribution"), text,
                        {"PreferClose", "PreferSameZone", "PreferSameNode"});
  }
}

/// Checks everything except the metadata rules that all kinds share. `old` is null on create.
void CheckService(FieldErrors& errors, const codec::Value& service, const codec::Value* old) {
  CheckAnnotations(errors, service);
  if (ArrayAt(service, "spec", "ports").empty() && !IsHeadless(service) &&
      !IsExternalName(service)) {
    errors.Required(Spec("ports"));
  }
  CheckHeadless(errors, service);
  CheckExternalName(errors, service);
  CheckPorts(errors, service);
  errors.Append(ValidateLabels(ObjectAt(service, "spec", "selector"), Spec("selector")));
  CheckAffinity(errors, service);
  errors.Append(ValidateClusterIps(service, old));
  CheckExternalIps(errors, service, old);
  CheckType(errors, service);
  CheckPortsTogether(errors, service);
  CheckSourceRanges(errors, service, old);
  CheckNodePortChoice(errors, service);
  CheckLoadBalancerClass(errors, service, nullptr);
  CheckExternalTraffic(errors, service);
  CheckInternalTraffic(errors, service);
  CheckDistribution(errors, service);
}

}  // namespace

FieldErrors ValidateServiceCreate(const codec::Value& service, const ServiceOptions& options) {
  FieldErrors errors = ValidateMetadata(service, Scope::kNamespaced,
                                        options.relaxed_names ? NameIsDnsLabel : NameIsDns1035Label,
                                        FinalizerRule::kCore);
  CheckService(errors, service, nullptr);
  return errors;
}

FieldErrors ValidateServiceUpdate(const codec::Value& service, const codec::Value& old) {
  FieldErrors errors = ValidateMetadataUpdate(service, old, FinalizerRule::kCore);
  CheckAddressesKept(errors, service, old);
  CheckLoadBalancerClass(errors, service, &old);
  if (NeedsHealthCheck(service) && NeedsHealthCheck(old) &&
      !Same(FindAt(service, "spec", "healthCheckNodePort"),
            FindAt(old, "spec", "healthCheckNodePort"))) {
    errors.Forbidden(Spec("healthCheckNodePort"), "field is immutable");
  }
  CheckService(errors, service, &old);
  return errors;
}

}  // namespace berth::rules
