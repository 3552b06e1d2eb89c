#include <set>
#include <string_view>

#include "codec/read.h"
#include "ip/addr.h"
#include "rules/metadata.h"
#include "rules/service.h"
#include "rules/service_checks.h"
#include "rules/service_validation.h"

namespace berth::rules {
namespace {

void CheckIpMode(FieldErrors& errors, const codec::Value& entry, const Path& path) {
  const codec::Value* mode = FindAt(entry, "ipMode");
  const bool has_ip = !StringAt(entry, "ip").empty();
  if (mode == nullptr) {
    if (has_ip) errors.Required(path, "must be specified when `ip` is set");
  } else if (!has_ip) {
    errors.Forbidden(path, "may not be specified when `ip` is not set");
  } else if (Text(mode) != "VIP" && Text(mode) != "Proxy") {
    errors.NotSupported(path, *mode, {"Proxy", "VIP"});
  }
}

void CheckHostname(FieldErrors& errors, const codec::Value& entry, const Path& path) {
  const std::string_view hostname = StringAt(entry, "hostname");
  if (hostname.empty()) return;
  errors.InvalidEach(path, hostname, Dns1123SubdomainProblems(hostname));
  if (ip::ParseAddrLoose(hostname).has_value()) {
    errors.Invalid(path, hostname, "must be a DNS name, not an IP address");
  }
}

std::set<std::string_view> IngressIps(const codec::Value& service) {
  std::set<std::string_view> ips;
  for (const codec::Value& entry : ArrayAt(service, "status", "loadBalancer", "ingress")) {
    ips.insert(StringAt(entry, "ip"));
  }
  return ips;
}

}  // namespace

FieldErrors ValidateServiceStatusUpdate(const codec::Value& service, const codec::Value& old) {
  FieldErrors errors = ValidateMetadataUpdate(service, old, FinalizerRule::kCore);
  const codec::Array& ingress = ArrayAt(service, "status", "loadBalancer", "ingress");
  const Path path("status.loadBalancer.ingress");
  if (!ingress.empty() && !IsLoadBalancer(service)) {
    errors.Forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'");
    return errors;
  }
  const std::set<std::string_view> old_ips = IngressIps(old);
  for (size_t i = 0; i < ingress.size(); ++i) {
    const Path at = path.Index(i);
    if (const std::string_view ip = StringAt(ingress[i], "ip"); !ip.empty()) {
      CheckAddress(errors, at.Child("ip"), ip, old_ips);
    }
    CheckIpMode(errors, ingress[i], at.Child("ipMode"));
    CheckHostname(errors, ingress[i], at.Child("hostname"));
  }
  return errors;
}

}  // namespace berth::rules
