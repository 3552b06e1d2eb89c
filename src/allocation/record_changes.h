// Changes of existing records: a Service takes a reserved record; a record that a Service releases
// becomes reserved again or cools down; a port is used for another port of its Service; a record is
// repaired. The object stays the same: its uid, labels and annotations are kept. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "allocation/records.h"
#include "base/clock.h"
#include "commit/write.h"
#include "state/object.h"

namespace berth::allocation {

/// A record of the snapshot. Puts of it expect that it is unchanged.
struct KnownRecord {
  const RecordRows& rows;
  const state::Object& object;
  base::WallTime now;
};

/// Returns the put for a reserved record that its Service takes. With `stays_reserved`, the record
/// becomes reserved again when the Service releases it. Otherwise the reservation ends.
commit::ExtraPut TakenRecord(const KnownRecord& record, const Owner& owner,
                             const RecordFacts& facts, bool stays_reserved);

/// Returns the put for a record that says something else than that its Service has the value. A
/// reservation for a Service stays, and so do the other labels and the range.
commit::ExtraPut RewrittenRecord(const KnownRecord& record, const Owner& owner,
                                 const RecordFacts& facts);

/// Returns the put for a record that is released by the Service that it is reserved for.
commit::ExtraPut ReservedAgain(const KnownRecord& record);

/// Returns the put for a released record that is removed when it has cooled down. `range` is as
/// RecordFacts::range.
commit::ExtraPut CoolingRecord(const KnownRecord& record, std::string_view range,
                               std::chrono::seconds cool_down);

/// Returns the put for a port whose Service now uses it for other purposes. Returns nullopt if the
/// record says so already, or does not belong to that Service.
std::optional<commit::ExtraPut> PortForOthers(const KnownRecord& record, const Owner& owner,
                                              const RecordFacts& facts);

/// Returns whether the record says that it belongs to this Service: it names the Service and, if it
/// is the record of a port that shows a uid, the same uid. Only such a record may be changed or
/// deleted when the Service releases the value. A record that the allocator created is read without
/// decoding it.
bool BelongsTo(const RecordRows& rows, const state::Object& record, const Owner& owner);

}  // namespace berth::allocation
