#include "rules/reservation.h"

#include <fmt/format.h>

#include "codec/read.h"
#include "rules/names.h"
#include "rules/range_spec.h"
#include "rules/record_notes.h"

namespace berth::rules {
namespace {

void RequireName(FieldErrors& errors, const Path& path, std::string_view text,
                 Problems (*problems_of)(std::string_view)) {
  if (text.empty()) return errors.Required(path);
  errors.InvalidEach(path, text, problems_of(text));
}

}  // namespace

void ValidateReservation(FieldErrors& errors, const codec::Value& object) {
  const Path spec("spec");
  const codec::Value* service = FindAt(object, "spec", "reservedFor");
  if (service != nullptr) {
    const Path path = spec.Child("reservedFor");
    RequireName(errors, path.Child("namespace"), StringAt(*service, "namespace"),
                Dns1123LabelProblems);
    RequireName(errors, path.Child("name"), StringAt(*service, "name"), Dns1123LabelProblems);
  }
  const codec::Value* seconds = FindAt(object, "spec", "holdSeconds");
  if (seconds == nullptr) return;
  const Path path = spec.Child("holdSeconds");
  const int64_t number = seconds->AsInt().value_or(0);
  if (number < 1 || number > kMostSeconds) {
    errors.Invalid(path, *seconds,
                   fmt::format("must be between 1 and {}, inclusive", kMostSeconds));
  }
  if (service == nullptr) {
    errors.Required(spec.Child("reservedFor"),
                    "a hold is for a Service: name it, or leave holdSeconds out to reserve without "
                    "an end");
  }
}

std::string_view ReservedStateOf(const codec::Value& object) {
  return StateText(HasAt(object, "spec", "holdSeconds") ? RecordState::kPending
                                                        : RecordState::kReserved);
}

void FillRangeReference(codec::Value& object, std::string_view field, const RangeTarget& target) {
  const codec::Value* reference = FindAt(object, "spec", field);
  if (reference == nullptr) return;
  if (StringAt(*reference, "apiGroup").empty()) {
    SetAt(object, {"spec", field, "apiGroup"}, target.group);
  }
  if (StringAt(*FindAt(object, "spec", field), "kind").empty()) {
    SetAt(object, {"spec", field, "kind"}, target.kind);
  }
}

void ValidateRangeReference(FieldErrors& errors, const codec::Value& object, std::string_view field,
                            const RangeTarget& target) {
  const codec::Value* reference = FindAt(object, "spec", field);
  if (reference == nullptr) return;
  const Path path = Path("spec").Child(field);
  const std::string_view group = StringAt(*reference, "apiGroup");
  if (group != target.group) errors.NotSupported(path.Child("apiGroup"), group, {target.group});
  const std::string_view found = StringAt(*reference, "kind");
  if (found != target.kind) errors.NotSupported(path.Child("kind"), found, {target.kind});
  RequireName(errors, path.Child("name"), StringAt(*reference, "name"), Dns1123SubdomainProblems);
}

}  // namespace berth::rules
