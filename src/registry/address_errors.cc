#include "registry/address_errors.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "api/kinds.h"
#include "base/uint128.h"
#include "codec/read.h"
#include "registry/errors.h"
#include "rules/field_error.h"

namespace berth::registry {
namespace {

using alloc::Outcome;
using alloc::State;
using commit::Allocations;
using commit::PoolId;

using Ranges = std::vector<Allocations::RangeState>;

constexpr std::string_view kFull = "range is full";

/// Kubernetes has no reason for it but that it is the server's fault.
base::Error Internal(std::string what) {
  base::Error error{.reason = base::Reason::kInternalError,
                    .message = "Internal error occurred: " + what};
  error.details = base::Details{};
  error.causes.push_back({.reason = "", .message = std::move(what), .field = ""});
  return error;
}

base::Error Invalid(const codec::Value& service, const rules::FieldErrors& errors) {
  return InvalidObject(errors, api::kServiceKind, codec::StringAt(service, "metadata", "name"));
}

base::Error AddressError(const codec::Value& service, const rules::AddressClaim& claim,
                         const Allocations::Denial& denial) {
  if (!claim.wanted) {
    return Internal(fmt::format("failed to allocate a serviceIP for Service \"{}\": {}",
                                codec::StringAt(service, "metadata", "name"), kFull));
  }
  const std::string_view why = denial.why == Outcome::kOutOfRange
                                   ? "the provided network does not match the current range"
                                   : "provided IP is already allocated";
  const codec::Array ips = rules::WantedClusterIps(service);
  const std::string detail =
      fmt::format("failed to allocate IP {}: {}", codec::Text(&ips[claim.position]), why);
  rules::FieldErrors errors;
  errors.Invalid(rules::Path("spec.clusterIPs"), ips, detail);
  return Invalid(service, std::move(errors));
}

std::string PortRanges(const Ranges& ranges) {
  std::string text;
  for (const auto& range : ranges) {
    if (range.pool != PoolId::kPorts) continue;
    if (!text.empty()) text += ", ";
    text += range.text;
  }
  return text;
}

std::string WhyNoPort(const Allocations::Denial& denial, const Ranges& ranges) {
  if (denial.full) return std::string(kFull);
  if (denial.why != Outcome::kOutOfRange) return "provided port is already allocated";
  return "provided port is not in the valid range. The range of valid ports is " +
         PortRanges(ranges);
}

base::Error PortError(const codec::Value& service, const rules::PortClaim& claim,
                      const Allocations::Denial& denial, const Ranges& ranges) {
  const std::string why = WhyNoPort(denial, ranges);
  if (claim.IsHealthCheck()) {
    return Internal(claim.wanted
                        ? fmt::format("failed to allocate requested HealthCheck NodePort {}: {}",
                                      *claim.wanted, why)
                        : fmt::format("failed to allocate a HealthCheck NodePort 0: {}", why));
  }
  if (!claim.wanted) return Internal("failed to allocate a nodePort: " + why);
  rules::FieldErrors errors;
  errors.Invalid(rules::Path("spec.ports").Index(claim.ports.front()).Child("nodePort"),
                 *claim.wanted, why);
  return Invalid(service, std::move(errors));
}

std::string BandText(std::string_view name, const alloc::StateCounts& counts) {
  const base::U128 total = counts.Total() - counts[State::kExcluded];
  return fmt::format("{} of {} in the {} band", base::ToDecimal(total - counts[State::kFree]),
                     base::ToDecimal(total), name);
}

}  // namespace

std::vector<std::string> FullWarnings(PoolId pool, const Ranges& ranges) {
  std::vector<std::string> warnings;
  const bool ports = pool == PoolId::kPorts;
  for (const auto& range : ranges) {
    if (range.pool != pool) continue;
    std::string taken = BandText("dynamic", range.in_dynamic);
    if (range.static_band) taken += " and " + BandText("static", range.in_static);
    warnings.push_back(fmt::format(
        "range {} ({}) is full: {} are taken; delete Services that are no longer needed{}, or make "
        "the range larger",
        range.text, range.name, taken,
        ports ? ", set allocateLoadBalancerNodePorts: false where a load balancer needs none"
              : ", or make them headless"));
  }
  return warnings;
}

commit::Refusal AddressRefusal(const codec::Value& service, const rules::ServiceClaims& claims,
                               Allocations::Denial denial, const Ranges& ranges) {
  const bool address = denial.claim < claims.addresses.size();
  base::Error error = address
                          ? AddressError(service, claims.addresses[denial.claim], denial)
                          : PortError(service, claims.ports[denial.claim - claims.addresses.size()],
                                      denial, ranges);
  if (denial.full) {
    const PoolId pool =
        address ? commit::PoolOf(claims.addresses[denial.claim].family) : PoolId::kPorts;
    error.warnings = FullWarnings(pool, ranges);
  }
  return {std::move(error), std::move(denial.wait)};
}

}  // namespace berth::registry
