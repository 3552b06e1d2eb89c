#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "codec/read.h"
#include "rules/event_rules.h"
#include "rules/metadata.h"

namespace berth::rules {
namespace {

constexpr size_t kMaxShortText = 128;
constexpr size_t kMaxNote = 1024;

void RequireAtMost(FieldErrors& errors, const codec::Value& event, std::string_view field,
                   size_t most) {
  if (StringAt(event, field).size() <= most) return;
  errors.Invalid(Path(field), "", fmt::format("can have at most {} characters", most));
}

void RequireText(FieldErrors& errors, const codec::Value& event, std::string_view field) {
  if (StringAt(event, field).empty()) errors.Required(Path(field));
  RequireAtMost(errors, event, field, kMaxShortText);
}

/// Validates an Event without eventTime. It is of the old form, which only requires a matching
/// namespace.
void ValidateOldForm(FieldErrors& errors, const codec::Value& event) {
  const std::string_view own = StringAt(event, "metadata", "namespace");
  const std::string_view of_object = StringAt(event, "involvedObject", "namespace");
  const bool agrees = of_object.empty() ? own.empty() || own == "default" : own == of_object;
  if (!agrees) {
    errors.Invalid(Path("involvedObject.namespace"), of_object, "does not match event.namespace");
  }
}

void ValidateNewForm(FieldErrors& errors, const codec::Value& event, EventApi api) {
  const std::string_view own = StringAt(event, "metadata", "namespace");
  const std::string_view of_object = StringAt(event, "involvedObject", "namespace");
  if (of_object.empty() && own != "default" && own != "kube-system") {
    errors.Invalid(Path("involvedObject.namespace"), of_object, "does not match event.namespace");
  }
  const Path controller(api == EventApi::kCore ? "reportingComponent" : "reportingController");
  const std::string_view name = StringAt(event, "reportingComponent");
  if (name.empty()) errors.Required(controller);
  errors.InvalidEach(controller, name, QualifiedNameProblems(name));
  RequireText(errors, event, "reportingInstance");
  RequireText(errors, event, "action");
  RequireText(errors, event, "reason");
  RequireAtMost(errors, event, "message", kMaxNote);
}

FieldErrors ValidateForBoth(const codec::Value& event, EventApi api) {
  FieldErrors errors;
  if (FindAt(event, "eventTime") == nullptr) {
    ValidateOldForm(errors, event);
  } else {
    ValidateNewForm(errors, event, api);
  }
  return errors;
}

void ValidateSeries(FieldErrors& errors, const codec::Value& event) {
  if (FindAt(event, "series") == nullptr) return;
  if (IntAt(event, "series", "count") < 2) {
    errors.Invalid(Path("series.count"), "", "should be at least 2");
  }
  if (FindAt(event, "series", "lastObservedTime") == nullptr) {
    errors.Required(Path("series.lastObservedTime"));
  }
}

void RequireUnset(FieldErrors& errors, bool set, std::string_view field) {
  if (set) errors.Invalid(Path(field), "", "needs to be unset");
}

}  // namespace

FieldErrors ValidateEventCreate(const codec::Value& event, EventApi api) {
  FieldErrors errors = ValidateForBoth(event, api);
  if (api == EventApi::kCore) return errors;
  errors.Append(
      ValidateMetadata(event, Scope::kNamespaced, NameIsDnsSubdomain, FinalizerRule::kCore));
  ValidateSeries(errors, event);
  if (FindAt(event, "eventTime") == nullptr) errors.Required(Path("eventTime"));
  if (const std::string_view type = StringAt(event, "type");
      type != "Normal" && type != "Warning") {
    errors.Invalid(Path("type"), "", fmt::format("has invalid value: {}", type));
  }
  RequireUnset(errors, FindAt(event, "firstTimestamp") != nullptr, "firstTimestamp");
  RequireUnset(errors, FindAt(event, "lastTimestamp") != nullptr, "lastTimestamp");
  RequireUnset(errors, IntAt(event, "count") != 0, "count");
  RequireUnset(
      errors,
      !StringAt(event, "source", "component").empty() || !StringAt(event, "source", "host").empty(),
      "source");
  return errors;
}

FieldErrors ValidateEventUpdate(const codec::Value& event, const codec::Value& old, EventApi api) {
  FieldErrors errors = ValidateForBoth(event, api);
  if (api == EventApi::kCore) return errors;
  errors.Append(ValidateMetadataUpdate(event, old, FinalizerRule::kCore));
  if (!Same(FindAt(event, "series"), FindAt(old, "series"))) ValidateSeries(errors, event);
  // `reason` is listed twice, as in Kubernetes.
  for (const std::string_view field :
       {"involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count",
        "reason", "type", "eventTime", "action", "related"}) {
    RequireUnchanged(errors, Path(field), FindAt(event, field), FindAt(old, field));
  }
  RequireUnchanged(errors, Path("reportingController"), FindAt(event, "reportingComponent"),
                   FindAt(old, "reportingComponent"));
  RequireUnchanged(errors, Path("reportingInstance"), FindAt(event, "reportingInstance"),
                   FindAt(old, "reportingInstance"));
  return errors;
}

}  // namespace berth::rules
