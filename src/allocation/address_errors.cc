#include "allocation/address_errors.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "allocation/ledger/ledger_view.h"
#include "allocation/records.h"
#include "api/kinds.h"
#include "base/uint128.h"
#include "codec/read.h"
#include "registry/object_errors.h"
#include "rules/field_error.h"

namespace berth::allocation {
namespace {

using alloc::State;
using Why = Denial::Why;

using Ranges = std::vector<RangeState>;

constexpr std::string_view kFull = "range is full";
/// Each warning is a header of the answer.
constexpr size_t kMostWarnings = 5;

/// Kubernetes reports these denials as errors of the server.
base::Error Internal(std::string what) {
  base::Error error{.reason = base::Reason::kInternalError,
                    .message = "Internal error occurred: " + what};
  error.details = base::Details{};
  error.causes.push_back({.reason = "", .message = std::move(what), .field = ""});
  return error;
}

base::Error Invalid(const codec::Value& service, const rules::FieldErrors& errors) {
  return registry::InvalidObject(errors, api::kServiceKind,
                                 codec::StringAt(service, "metadata", "name"));
}

/// `range "blue" (10.7.0.0/24)`.
std::string NamedText(const RangeState& range) {
  return fmt::format("range \"{}\" ({})", range.name, range.text);
}

/// Returns why there was no value to pick, in Kubernetes' words. It has none for a store that has
/// lost its ranges.
std::string WhyNone(const DenialFacts& facts) {
  if (!facts.ranges_lost) return std::string(kFull);
  return fmt::format("the store has no range of {}",
                     facts.claim.pool == PoolId::kPorts ? "node ports" : "addresses");
}

/// Returns why this value cannot be taken, in Kubernetes' words where it has some. `what` is "IP"
/// or "port".
std::string WhyNotThis(std::string_view what, const Denial& denial, const DenialFacts& facts) {
  if (denial.why == Why::kReserved && !facts.by_hand) {
    return denial.reserved_for.empty() ? fmt::format("provided {} is reserved", what)
                                       : fmt::format("provided {} is reserved for the Service {}",
                                                     what, denial.reserved_for);
  }
  if (denial.why == Why::kExcluded && facts.range) {
    return fmt::format("provided {} is excluded from the {}", what, NamedText(*facts.range));
  }
  if (denial.why == Why::kNotOpen && facts.range) {
    return fmt::format("provided {} is in the {}, which {}", what, NamedText(*facts.range),
                       WhyNotOpen(*facts.range));
  }
  return fmt::format("provided {} is already allocated", what);
}

/// Kubernetes has no disabled ranges: a ServiceCIDR is ready or does not count.
bool IsOutOfRange(const Denial& denial, const DenialFacts& facts) {
  if (denial.why == Why::kOutOfRange) return true;
  return denial.why == Why::kNotOpen && facts.range &&
         facts.range->kind == alloc::RangeKind::kServiceCidr;
}

base::Error AddressError(const codec::Value& service, const rules::AddressClaim& claim,
                         const Denial& denial, const DenialFacts& facts) {
  if (!claim.wanted) {
    return Internal(fmt::format("failed to allocate a serviceIP for Service \"{}\": {}",
                                codec::StringAt(service, "metadata", "name"), WhyNone(facts)));
  }
  const std::string why = IsOutOfRange(denial, facts)
                              ? "the provided network does not match the current range"
                              : WhyNotThis("IP", denial, facts);
  const codec::Array ips = rules::WantedClusterIps(service);
  const std::string detail =
      fmt::format("failed to allocate IP {}: {}", codec::Text(&ips[claim.position]), why);
  rules::FieldErrors errors;
  errors.Invalid(rules::Path("spec.clusterIPs"), ips, detail);
  return Invalid(service, errors);
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

std::string WhyNoPort(const Denial& denial, const DenialFacts& facts) {
  if (denial.why == Why::kFull) return WhyNone(facts);
  if (denial.why != Why::kOutOfRange) return WhyNotThis("port", denial, facts);
  return "provided port is not in the valid range. The range of valid ports is " +
         PortRanges(facts.ranges);
}

base::Error PortError(const codec::Value& service, const rules::PortClaim& claim,
                      const Denial& denial, const DenialFacts& facts) {
  const std::string why = WhyNoPort(denial, facts);
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
  return Invalid(service, errors);
}

std::string BandText(std::string_view name, const alloc::StateCounts& counts) {
  const base::U128 total = counts.Total() - counts[State::kExcluded];
  return fmt::format("{} of {} in the {} band", base::ToDecimal(total - counts[State::kFree]),
                     base::ToDecimal(total), name);
}

/// Says how full a range is and what can be done about it.
std::string FullText(const RangeState& range) {
  const bool ports = range.pool == PoolId::kPorts;
  std::string taken = BandText("dynamic", range.in_dynamic);
  if (range.static_band) taken += " and " + BandText("static", range.in_static);
  const base::U128 cooling = range.in_dynamic[State::kCooling] + range.in_static[State::kCooling];
  taken += cooling > 0 ? fmt::format(" are taken, or were until a moment ago ({} cool down)",
                                     base::ToDecimal(cooling))
                       : " are taken";
  // A free value of a strict static band is only given to a Service that names it.
  const bool strict = range.static_band && range.in_static[State::kFree] > 0;
  return fmt::format(
      "range {} ({}) is full: {}; {}delete Services that are no longer needed{}, or make "
      "the range larger",
      range.text, range.name, taken,
      strict ? fmt::format("name {} of the static band, or unset spec.strict, or ",
                           ports ? "a port" : "an address")
             : "",
      ports ? ", set allocateLoadBalancerNodePorts: false where a load balancer needs none"
            : ", or make them headless");
}

/// Returns what is wrong with the range that the claim names, or an empty string if nothing is.
std::string WhyNotFromNamed(const Denial& denial, const DenialFacts& facts) {
  const bool ports = facts.claim.pool == PoolId::kPorts;
  if (!facts.range) {
    if (denial.why != Why::kUnknownRange) return {};
    const std::string_view wanted = ports ? "ports" : "addresses";
    if (!facts.other_kind) {
      return fmt::format("there is no range \"{}\" of {}", facts.claim.range, wanted);
    }
    return fmt::format("\"{}\" is no range of {} but of {}", facts.claim.range, wanted,
                       ports ? "addresses" : "ports");
  }
  const std::string range = NamedText(*facts.range);
  switch (denial.why) {
    case Why::kNotOpen:
      return fmt::format("the {} {}", range, WhyNotOpen(*facts.range));
    case Why::kNotInRange:
      return fmt::format("the {} does not have the {} {}", range, ports ? "port" : "address",
                         RecordName({.pool = facts.claim.pool, .value = *facts.claim.wanted}));
    case Why::kFull:
      return fmt::format("the {} is full", range);
    default:
      return {};
  }
}

}  // namespace

std::string_view WhyNotOpen(const RangeState& range) {
  if (range.leaving) return "is being deleted";
  if (range.makes_way) return "makes way for another range";
  return range.kind == alloc::RangeKind::kServiceCidr ? "is not ready" : "is disabled";
}

base::Error AnnotationError(const codec::Value& service, std::string_view annotation,
                            std::string_view why) {
  rules::FieldErrors errors;
  errors.Invalid(rules::Path("metadata.annotations").Key(annotation),
                 codec::StringAt(service, "metadata", "annotations", annotation), why);
  return Invalid(service, errors);
}

std::vector<std::string> FullWarnings(PoolId pool, const Ranges& ranges) {
  std::vector<std::string> full;
  std::vector<std::string> closed;
  for (const auto& range : ranges) {
    if (range.pool != pool) continue;
    if (range.open) {
      full.push_back(FullText(range));
    } else {
      closed.push_back(fmt::format("nothing is taken from the range {} ({}), which {}", range.text,
                                   range.name, WhyNotOpen(range)));
    }
  }
  std::vector<std::string>& warnings = full.empty() ? closed : full;
  if (warnings.size() > kMostWarnings) {
    const size_t more = warnings.size() - kMostWarnings;
    warnings.resize(kMostWarnings);
    warnings.push_back(fmt::format("and the same is true of {} more ranges", more));
  }
  return std::move(warnings);
}

commit::Refusal AddressRefusal(const codec::Value& service, const rules::ServiceClaims& claims,
                               Denial denial, const DenialFacts& facts) {
  const bool address = denial.claim < claims.addresses.size();
  const std::string not_from_named =
      facts.claim.range.empty() ? std::string() : WhyNotFromNamed(denial, facts);
  base::Error error =
      !not_from_named.empty()
          ? AnnotationError(service,
                            address ? rules::kIpRangeAnnotation : rules::kNodePortRangeAnnotation,
                            not_from_named)
      : address
          ? AddressError(service, claims.addresses[denial.claim], denial, facts)
          : PortError(service, claims.ports[denial.claim - claims.addresses.size()], denial, facts);
  if (denial.why == Why::kFull) {
    error.warnings =
        FullWarnings(facts.claim.pool, facts.range ? Ranges{*facts.range} : facts.ranges);
  }
  if (facts.holder) error.hints.push_back(*facts.holder);
  return {std::move(error), std::move(denial.wait)};
}

}  // namespace berth::allocation
