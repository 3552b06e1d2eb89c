// The note in the store that says in which form allocations are kept
// (allocation/claims/allocation_form.h). It lies among the fences. A change of the form puts the
// note, and every write that takes or releases a value compares it. So a server that has not seen
// the change decides its writes again. A store without a note keeps records. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "allocation/claims/allocation_form.h"
#include "allocation/records.h"
#include "api/kinds.h"
#include "base/clock.h"
#include "base/error.h"
#include "codec/value.h"
#include "state/object.h"
#include "state/snapshot.h"

namespace berth::allocation {

inline constexpr const char* kFormKey = "/registry/berth.io/fence/allocations";

struct FormNote {
  AllocationForm form = AllocationForm::kRecords;
  bool removing = false;  // Remains of the other form are still being removed.
  bool force = false;     // The switch goes on although the new form has no room for some values.

  bool operator==(const FormNote&) const = default;
};

/// Returns "records", "switching-to-bitmaps" and so on.
std::string_view FormText(AllocationForm form);

/// Returns nullopt if the object is not the note.
std::optional<FormNote> ReadFormNote(const RecordRows& rows, const state::Object& object);
/// Returns the note of the snapshot, or the default if it has none.
FormNote FormIn(const RecordRows& rows, const state::Snapshot& snapshot);
/// Returns the time when the note was written.
base::WallTime SinceOf(const RecordRows& rows, const state::Object& note);

codec::Value FormObject(const FormNote& note, base::WallTime now);

/// Returns why clients cannot write an object of the kind, or nullopt if they can. They can if the
/// store keeps records and nothing else.
std::optional<base::Error> NeedsRecords(const api::Kind& kind, std::string_view name,
                                        AllocationForm form);

}  // namespace berth::allocation
