#include "allocation/allocation_forms.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "codec/read.h"
#include "codec/timestamp.h"
#include "registry/object_errors.h"

namespace berth::allocation {
namespace {

using codec::Value;

constexpr std::string_view kFormName = "allocations";

constexpr std::array<std::pair<AllocationForm, std::string_view>, 4> kTexts = {
    {{AllocationForm::kRecords, "records"},
     {AllocationForm::kBitmaps, "bitmaps"},
     {AllocationForm::kToRecords, "switching-to-records"},
     {AllocationForm::kToBitmaps, "switching-to-bitmaps"}}};

}  // namespace

std::string_view FormText(AllocationForm form) {
  for (const auto& [each, text] : kTexts) {
    if (each == form) return text;
  }
  return {};
}

std::optional<FormNote> ReadFormNote(const RecordRows& rows, const state::Object& object) {
  if (rows.fences == nullptr || object.Resource() != rows.fences->resource ||
      object.Name() != kFormName) {
    return std::nullopt;
  }
  FormNote note;
  const auto value = registry::DecodeWithoutManagedFields(*rows.fences, object);
  if (!value) return note;
  const std::string_view form = codec::StringAt(*value, "spec", "allocations", "form");
  for (const auto& [each, text] : kTexts) {
    if (text == form) note.form = each;
  }
  note.removing = codec::BoolAt(*value, "spec", "allocations", "removing");
  note.force = codec::BoolAt(*value, "spec", "allocations", "force");
  return note;
}

FormNote FormIn(const RecordRows& rows, const state::Snapshot& snapshot) {
  const state::ObjectPtr found = snapshot.Find(kFormKey);
  if (found == nullptr) return {};
  return ReadFormNote(rows, *found).value_or(FormNote());
}

base::WallTime SinceOf(const RecordRows& rows, const state::Object& note) {
  const auto value = registry::DecodeWithoutManagedFields(*rows.fences, note);
  if (!value) return {};
  const auto since = codec::ParseTime(codec::StringAt(*value, "spec", "allocations", "since"));
  return since ? *since : base::WallTime();
}

Value FormObject(const FormNote& note, base::WallTime now) {
  codec::Object spec{{"form", FormText(note.form)}};
  if (note.removing) spec.Set("removing", true);
  if (note.force) spec.Set("force", true);
  spec.Set("since", codec::FormatTime(now));
  return codec::Object{{"metadata", codec::Object{{"name", kFormName},
                                                  {"creationTimestamp", codec::FormatTime(now)}}},
                       {"spec", codec::Object{{"allocations", std::move(spec)}}}};
}

std::optional<base::Error> NeedsRecords(const api::Kind& kind, std::string_view name,
                                        AllocationForm form) {
  switch (form) {
    case AllocationForm::kRecords:
      return std::nullopt;
    case AllocationForm::kBitmaps:
      return registry::Conflict(
          kind, name,
          "allocations are kept in bitmaps (ClusterIPAllocatorAPI=false), which have "
          "no room for this; berth migrate-allocations --to=records changes that");
    case AllocationForm::kToRecords:
    case AllocationForm::kToBitmaps:
      break;
  }
  return registry::Conflict(
      kind, name,
      fmt::format("allocations are being moved to {}; try again when that is done",
                  form == AllocationForm::kToRecords ? "records" : "bitmaps"));
}

}  // namespace berth::allocation
