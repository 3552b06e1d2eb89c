// What a write asks the ledger for, and what it gets: a grant of all its claims, or a denial. Plain
// types, without behaviour.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alloc/pool_id.h"
#include "allocation/claims/allocation_form.h"

namespace berth::allocation {

using alloc::kAllPools;
using alloc::kPools;
using alloc::PerPool;
using alloc::PoolId;
using alloc::PoolOf;
using alloc::PoolValue;
using base::U128;

struct PoolBitmaps;  // See allocation/bitmaps/bitmap_ranges.h.

/// The Service that a write is about.
struct Claimant {
  std::string_view name_space = {};
  std::string_view name = {};
};

struct Claim {
  PoolId pool = PoolId::kIpv4;
  std::optional<U128> wanted = {};  // Nullopt asks for any value.
  std::string range = {};           // Name of the range to take it from. Empty means any range.
};

/// Registers a callback for a change of what a denial depends on. Returns false if that has changed
/// already; the caller should then try again at once.
using Wait = std::function<bool(std::function<void()> retry)>;

struct Denial {
  enum class Why : uint8_t {
    kTaken,
    kReserved,      // For another Service, or for none.
    kExcluded,      // The ranges that contain it never give it out.
    kOutOfRange,    // No range contains it.
    kNotOpen,       // The ranges that contain it, or the named range, give out nothing new.
    kNotInRange,    // The named range does not contain it.
    kUnknownRange,  // No range has that name.
    kFull,          // There was no value to pick.
  };

  size_t claim = 0;  // Index of the first claim that could not be granted.
  Why why = Why::kTaken;
  std::string reserved_for = {};  // "namespace/name" if kReserved. Empty if for no Service.
  Wait wait = {};                 // Empty if the denial is final.
};

struct TakenValue {
  PoolValue value = {};
  int64_t replaces = 0;  // Revision of the record to replace. 0 means that there must be no record.
  std::string reserved_for = {};  // What the new record must go on to say.
};

struct ReleasedValue {
  /// What happens to the record.
  enum class Becomes : uint8_t { kGone, kReserved, kCooling };

  PoolValue value = {};
  Becomes becomes = Becomes::kGone;
  bool held_by_another = false;   // Another stored Service holds it too, so it stays taken.
  std::string reserved_for = {};  // If kReserved: the Service, as "namespace/name".
  int64_t revision = 0;           // If kReserved: the revision of the record.
  std::chrono::seconds cool_down{0};
};

/// What a write takes and releases. The write must end it once.
struct Grant {
  std::vector<U128> values = {};       // In the order of the claims.
  std::vector<TakenValue> takes = {};  // In the same order.
  std::vector<ReleasedValue> releases = {};
  /// Revision of each pool's fence that the ranges were read at. 0 means that there was no fence.
  PerPool<int64_t> fences = {};
  /// The form that the write must keep, and the revision of the note about it. 0 means that there
  /// was no note.
  AllocationForm form = AllocationForm::kRecords;
  int64_t form_revision = 0;
  std::shared_ptr<const PoolBitmaps> bitmaps = {};  // Null if the write changes no bitmaps.
};

/// A write's number in the queues for full pools and ranges. Null before its first denial; the
/// write keeps it until it is answered. It leaves the queues when the last pointer is released.
class Ticket;
using TicketPtr = std::shared_ptr<Ticket>;

}  // namespace berth::allocation
