// What the ledger must know about the form in which the store keeps allocations. As long as the
// store keeps records only, every function answers as if there were no bitmaps.
//
// - Where bitmaps count, a value is taken if its bit is set, and records are only noted. When
//   records begin to count, the noted ones are what is taken.
// - Where bitmaps are written, ranges are cut to what bitmaps have room for, and a value is either
//   taken or free: bitmaps have no reservations and no cooling values.
//
// Not thread-safe; guarded by Ledger's mutex.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "alloc/range_table.h"
#include "alloc/value_set.h"
#include "allocation/bitmaps/bitmap_ranges.h"
#include "allocation/claims/allocation_form.h"
#include "allocation/claims/claims.h"

namespace berth::allocation {

/// The form, the revision of the note about it (0 if there is no note), and the bitmaps that are
/// written (null if none are).
struct FormState {
  AllocationForm form = AllocationForm::kRecords;
  int64_t revision = 0;
  std::shared_ptr<const PoolBitmaps> bitmaps = {};
};

/// Values of one pool that the store says are taken and free now.
struct StoredValues {
  PoolId pool = PoolId::kIpv4;
  std::vector<U128> taken = {};
  std::vector<U128> released = {};
};

class StoreForm {
 public:
  /// What a change of the form means for the ledger. In both cases it must make its ranges again.
  enum class Change : uint8_t {
    kNone,
    kRanges,  // Other ranges fit.
    kSource,  // The other form counts now: what is held must be read from that one.
  };
  Change Set(AllocationForm form, int64_t revision);

  const FormState& state() const { return state_; }
  /// Writes the form into a grant, with the bitmaps that its write must change.
  void AddTo(Grant& grant) const;

  bool RecordsCount() const { return !BitmapsCount(state_.form); }
  /// Returns whether the store can say more of a value than that it is taken or free.
  bool HasReservations() const { return !WritesBitmaps(state_.form); }
  /// Returns whether the store can say that the value is taken. True where only records are
  /// written.
  bool HasRoomFor(const PoolValue& value) const;

  /// Notes whether a record exists that does not count.
  void NoteRecord(const PoolValue& value, bool exists);
  /// Returns the values of the noted records, and forgets them.
  std::vector<StoredValues> TakeNotedRecords();

  /// Removes from a table what bitmaps have no room for. Returns the rows that were removed.
  std::vector<alloc::RangeFacts::Part> Fit(alloc::RangeTable& table);

 private:
  FormState state_;
  PerPool<absl::flat_hash_set<U128, alloc::ValueHash>> noted_records_;
};

}  // namespace berth::allocation
