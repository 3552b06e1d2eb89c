#include "codec/decode_walk.h"

#include <fmt/format.h>

#include "base/go_text.h"
#include "codec/quantity.h"
#include "codec/timestamp.h"

namespace berth::codec {

std::vector<const WalkNotes::Step*> WalkNotes::Steps() const {
  std::vector<const Step*> steps;
  for (const Step* step = innermost_; step != nullptr; step = step->outer_) steps.push_back(step);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::string WalkNotes::Path() const {
  std::string path;
  for (const Step* step : Steps()) {
    if (step->index_ != kNoIndex) {
      path += '[';
      AppendInteger(path, step->index_);
      path += ']';
      continue;
    }
    if (!path.empty()) path += '.';
    path += step->name_;
  }
  return path;
}

void WalkNotes::Report(Problem::Kind kind) {
  if (!report_ || problems_.size() == kMostProblems) return;
  Problem problem{.kind = kind, .path = Path(), .text = {}};
  problem.text =
      fmt::format("{} field {}", kind == Problem::Kind::kUnknown ? "unknown" : "duplicate",
                  base::GoQuoted(problem.path));
  // Each problem is reported once: a field may be given a thousand times.
  for (const Problem& known : problems_) {
    if (known == problem) return;
  }
  problems_.push_back(std::move(problem));
}

// Go names the struct that has the innermost field and the fields on the way, but
// neither list indexes nor map keys.
void WalkNotes::TypeError(std::string_view found, std::string_view type) {
  std::string fields;
  std::string_view owner;
  for (const Step* step : Steps()) {
    if (step->owner_ == nullptr) continue;
    owner = step->owner_->Name();
    if (!fields.empty()) fields += '.';
    fields += step->name_;
  }
  Fault(fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}", found, owner,
                    fields, type));
}

void WalkNotes::Fault(std::string message) {
  if (!fault_) fault_ = std::move(message);
}

std::string_view NameOfKind(Kind kind) {
  switch (kind) {
    case Kind::kBool:
      return "bool";
    case Kind::kString:
      return "string";
    case Kind::kArray:
      return "array";
    case Kind::kObject:
      return "object";
    default:
      return "number";
  }
}

std::string_view GoTypeOf(const api::Field& field) {
  switch (field.type) {
    case api::Type::kString:
      return field.go_type.empty() ? "string" : field.go_type;
    case api::Type::kBool:
      return "bool";
    case api::Type::kInt32:
    case api::Type::kIntOrString:
      return "int32";
    case api::Type::kInt64:
      return "int64";
    case api::Type::kTime:
    case api::Type::kMicroTime:
      return "string";
    case api::Type::kQuantity:
      return "resource.Quantity";
    case api::Type::kMessage:
      return field.message->GoType();
    case api::Type::kFieldsV1:
      break;
  }
  return "v1.FieldsV1";
}

std::string CanonicalTime(std::string_view text, bool micros, WalkNotes& notes) {
  const auto instant = ParseInstant(text);
  if (!instant) {
    notes.Fault(instant.error().message);
    return {};
  }
  if (IsZeroTime(*instant, micros)) return {};
  std::string canonical;
  AppendInstant(canonical, *instant, micros);
  return canonical;
}

std::string CanonicalQuantity(std::string_view text, WalkNotes& notes) {
  auto quantity = ParseQuantity(text);
  if (quantity) return std::move(quantity->text);
  notes.Fault(std::move(quantity.error().message));
  return {};
}

}  // namespace berth::codec
