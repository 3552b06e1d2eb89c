// The note in the store that says in which form allocations are kept (commit/allocation_form.h). It
// lies among the fences: whoever changes the form puts it, and every write that takes or gives a
// value compares it, so a server with an old idea of it decides again. A store without one keeps
// records. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/kinds.h"
#include "base/clock.h"
#include "base/error.h"
#include "codec/value.h"
#include "commit/allocation_form.h"
#include "registry/records.h"
#include "state/object.h"
#include "state/snapshot.h"

namespace berth::registry {

inline constexpr const char* kFormKey = "/registry/berth.io/fence/allocations";

struct FormNote {
  commit::AllocationForm form = commit::AllocationForm::kRecords;
  bool removing = false;  // What is left of the other form is still being removed.
  bool force = false;     // A switch goes on though the new form has no room for some values.

  bool operator==(const FormNote&) const = default;
};

/// "records", "switching-to-bitmaps".
std::string_view FormText(commit::AllocationForm form);

/// Nothing: the object is not the note.
std::optional<FormNote> ReadFormNote(const RecordRows& rows, const state::Object& object);
/// What the picture says.
FormNote FormIn(const RecordRows& rows, const state::Snapshot& picture);
/// When the note was written.
base::WallTime SinceOf(const RecordRows& rows, const state::Object& note);

codec::Value FormObject(const FormNote& note, base::WallTime now);

/// Why an object of the kind cannot be written by clients; nothing: it can, because there are
/// records and nothing else.
std::optional<base::Error> NeedsRecords(const api::Kind& kind, std::string_view name,
                                        commit::AllocationForm form);

}  // namespace berth::registry
