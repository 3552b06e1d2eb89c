// What becomes of records that are there: one that was kept for a Service is taken, one that a
// Service gives back is reserved again or cools down, one is for another port of its Service.
// Whoever made the object keeps it: its uid, labels and annotations stay. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "commit/write.h"
#include "registry/records.h"
#include "state/object.h"

namespace berth::registry {

/// A record of the picture. What is put expects to find it as it is there.
struct KnownRecord {
  const RecordRows& rows;
  const state::Object& object;
  base::WallTime now;
};

/// It was kept for the Service that takes it now. `stays_reserved`: it is so again when it comes
/// back; else that it was kept is over.
commit::ExtraPut TakenRecord(const KnownRecord& record, const Owner& owner,
                             const RecordFacts& facts, bool stays_reserved);

/// It is given back by the one it is reserved for.
commit::ExtraPut ReservedAgain(const KnownRecord& record);

/// It is given back, and gone after a while. `range`: as RecordFacts::range.
commit::ExtraPut CoolingRecord(const KnownRecord& record, std::string range,
                               std::chrono::seconds cool_down);

/// Of a port: the Service has it for these from now on. Nothing: it says so already, or does not
/// belong to that Service.
std::optional<commit::ExtraPut> PortForOthers(const KnownRecord& record, const Owner& owner,
                                              const RecordFacts& facts);

/// Whether a Service that gives its value back may do away with it: the allocator made it, or it
/// says that it belongs to that Service.
bool MayGoWith(const RecordRows& rows, const state::Object& record, const Owner& owner);

/// When it ends by itself: of one that is held or cools down. `hidden` is as Strategy::hide.
std::optional<base::WallTime> AddressEnds(const codec::Value& address, std::string_view hidden);
std::optional<base::WallTime> PortEnds(const codec::Value& port, std::string_view hidden);

}  // namespace berth::registry
