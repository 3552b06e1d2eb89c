#include "rules/lease.h"

#include <string_view>

#include "codec/read.h"
#include "rules/metadata.h"

namespace berth::rules {
namespace {

void ValidateStrategy(FieldErrors& errors, std::string_view strategy) {
  // The field's name comes twice, as in Kubernetes.
  const Path path("spec.strategy.strategy");
  if (strategy.find('/') != std::string_view::npos) {
    errors.InvalidEach(path, strategy, QualifiedNameProblems(strategy));
  } else if (strategy != "OldestEmulationVersion") {
    errors.NotSupported(path, strategy, {"OldestEmulationVersion"});
  }
}

void ValidateLeaseSpec(FieldErrors& errors, const codec::Value& lease) {
  const Path path("spec");
  const codec::Value* duration = FindAt(lease, "spec", "leaseDurationSeconds");
  if (duration != nullptr && duration->AsInt().value_or(0) <= 0) {
    errors.Invalid(path.Child("leaseDurationSeconds"), *duration, "must be greater than 0");
  }
  const codec::Value* transitions = FindAt(lease, "spec", "leaseTransitions");
  if (transitions != nullptr && transitions->AsInt().value_or(0) < 0) {
    errors.Invalid(path.Child("leaseTransitions"), *transitions,
                   "must be greater than or equal to 0");
  }
  const codec::Value* strategy = FindAt(lease, "spec", "strategy");
  if (strategy != nullptr) ValidateStrategy(errors, Text(strategy));
  if (!StringAt(lease, "spec", "preferredHolder").empty() && Text(strategy).empty()) {
    errors.Forbidden(path.Child("preferredHolder"),
                     "may only be specified if `strategy` is defined");
  }
}

}  // namespace

FieldErrors ValidateLeaseCreate(const codec::Value& lease) {
  FieldErrors errors =
      ValidateMetadata(lease, Scope::kNamespaced, NameIsDnsSubdomain, FinalizerRule::kAny);
  ValidateLeaseSpec(errors, lease);
  return errors;
}

FieldErrors ValidateLeaseUpdate(const codec::Value& lease, const codec::Value& old) {
  FieldErrors errors = ValidateMetadataUpdate(lease, old, FinalizerRule::kAny);
  ValidateLeaseSpec(errors, lease);
  return errors;
}

}  // namespace berth::rules
