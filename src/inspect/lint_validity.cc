// What the API server checks before it allocates, with its own rules: rule invalid-value, and
// ip-family for what a cluster with these ranges cannot serve.
#include <fmt/format.h>

#include <algorithm>

#include "base/go_text.h"
#include "codec/read.h"
#include "inspect/lint_checks.h"
#include "rules/service_claims.h"
#include "rules/service_defaults.h"
#include "rules/service_validation.h"

namespace berth::inspect {
namespace {

using codec::Value;

constexpr std::string_view kNodePortField = "].nodePort";

/// Returns whether a field is about addresses, node ports or families. The API server checks all
/// others too, but they are not what this command is for.
bool IsOurs(std::string_view field) {
  return field.starts_with("spec.clusterIP") || field.starts_with("spec.ipFamil") ||
         field == "spec.healthCheckNodePort" || field.ends_with(kNodePortField);
}

LintRule RuleOf(const rules::FieldError& error) {
  if (error.field.starts_with("spec.ipFamil")) return LintRule::kFamily;
  if (error.type == rules::FieldErrorType::kDuplicate) return LintRule::kDuplicateValue;
  const auto says = [&](std::string_view words) {
    return error.detail.find(words) != std::string::npos;
  };
  const bool family = error.field.starts_with("spec.clusterIPs") &&
                      (says("not configured") || says("expected an IPv") || says("each IP family"));
  return family ? LintRule::kFamily : LintRule::kInvalidValue;
}

/// Returns the field as the file has it. The API server copies clusterIP into clusterIPs before it
/// checks them.
std::string WrittenField(const LintService& service, const std::string& field) {
  const auto& marks = service.source->marks;
  const bool copied = field == "spec.clusterIPs[0]" && !marks.contains("spec.clusterIPs") &&
                      marks.contains("spec.clusterIP");
  return copied ? "spec.clusterIP" : field;
}

void AddErrors(LintContext& context, const LintService& service, const rules::FieldErrors& errors) {
  for (const rules::FieldError& error : errors) {
    const std::string field = WrittenField(service, error.field);
    if (!IsOurs(field) || context.HasFinding(service, field)) continue;
    LintFinding& finding = context.Add(RuleOf(error), service, field);
    finding.message = fmt::format("{} of Service {}: {}", base::ToVisible(field), service.key,
                                  base::ToVisible(error.Body()));
    finding.why = "The API server refuses the Service.";
  }
}

/// Returns the families that the Service can have: those of the cluster, and those that it has
/// already. If the ranges are not known, it can have all.
std::vector<ip::Family> FamiliesFor(const LintContext& context, const LintService& service) {
  if (!context.options().addresses_known) return {ip::Family::kV4, ip::Family::kV6};
  std::vector<ip::Family> families = context.census().table().families;
  if (service.present == nullptr) return families;
  for (const Held& held : service.present->holds) {
    if (held.value.pool == alloc::PoolId::kPorts) continue;
    const ip::Family family =
        held.value.pool == alloc::PoolId::kIpv4 ? ip::Family::kV4 : ip::Family::kV6;
    if (std::ranges::find(families, family) == families.end()) families.push_back(family);
  }
  return families;
}

/// Finds numbers that the Service itself uses twice.
void CheckOwnPorts(LintContext& context, const LintService& service, const Value& object) {
  for (const rules::PortClaim& claim : rules::ClaimsOf(object, nullptr).ports) {
    if (!claim.taken || !claim.wanted) continue;
    const bool health = claim.IsHealthCheck();
    const std::string field = health ? "spec.healthCheckNodePort"
                                     : fmt::format("spec.ports[{}].nodePort", claim.ports.front());
    if (context.HasFinding(service, field)) continue;
    LintFinding& finding = context.Add(
        health ? LintRule::kHealthCheckPort : LintRule::kDuplicateValue, service, field);
    finding.value = fmt::format("{}", *claim.wanted);
    finding.message =
        fmt::format("{} {} of Service {} is also the number of another port of the same Service",
                    health ? "healthCheckNodePort" : "nodePort", *claim.wanted, service.key);
    finding.why = "The API server refuses the Service.";
    finding.advice = health ? "Leave healthCheckNodePort out, and the API server picks one."
                            : "Leave one of them out, and the API server picks one.";
  }
}

void CheckNumbers(LintContext& context, const LintService& service) {
  constexpr int64_t kMostPort = 65535;
  const auto check = [&](int64_t number, const std::string& field) {
    if (number >= 0 && number <= kMostPort) return;
    if (context.HasFinding(service, field)) return;
    LintFinding& finding = context.Add(LintRule::kInvalidValue, service, field);
    finding.value = fmt::format("{}", number);
    finding.message =
        fmt::format("port {} of Service {} does not exist; ports are between 1 and {}", number,
                    service.key, kMostPort);
    finding.why = "The API server refuses the Service.";
  };
  const Value& object = service.complete;
  check(codec::IntAt(object, "spec", "healthCheckNodePort"), "spec.healthCheckNodePort");
  const codec::Array& ports = codec::ArrayAt(object, "spec", "ports");
  for (size_t i = 0; i < ports.size(); ++i) {
    check(codec::IntAt(ports[i], "nodePort"), fmt::format("spec.ports[{}].nodePort", i));
  }
}

}  // namespace

void CheckValidity(LintContext& context, const LintService& service) {
  CheckNumbers(context, service);
  CheckOwnPorts(context, service, service.complete);
  if (!service.decoded) return;
  Value object = service.complete;
  rules::FieldErrors errors =
      rules::InitServiceFamilies(object, nullptr, FamiliesFor(context, service));
  if (errors.empty()) errors = rules::ValidateServiceCreate(object);
  AddErrors(context, service, errors);
}

}  // namespace berth::inspect
