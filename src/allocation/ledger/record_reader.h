// Turns changes of the snapshot into what the ledger must know. Pure; called from the listener's
// thread with no lock held, because reading objects takes longer than applying what they say.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "alloc/range_table.h"
#include "allocation/bitmaps/bitmap_follower.h"
#include "allocation/claims/claims.h"
#include "allocation/claims/record_info.h"
#include "allocation/ledger/range_book.h"
#include "state/change.h"

namespace berth::allocation {

/// A value that a Service begins or ceases to hold.
struct HoldingChange {
  PoolValue value = {};
  bool held = false;
};

/// Reads objects of the snapshot, by their resource. The wiring makes it, because it knows the
/// kinds.
struct RecordReader {
  /// Appends the values that a Service begins or ceases to hold with a change. Returns false if
  /// the object is not a Service. Empty where there are no Services.
  std::function<bool(const state::Change& change, std::vector<HoldingChange>& changes)> service =
      {};
  /// Returns nullopt if the object is not a record.
  std::function<std::optional<RecordInfo>(const state::Object& object)> record = {};
  /// Returns nullopt if the object does not define a range.
  std::function<std::optional<alloc::RangeFacts>(const state::Object& object)> facts = {};
  /// Returns the pool of a fence and what is closing. Returns nullopt if it is not a fence.
  std::function<std::optional<std::pair<PoolId, std::optional<alloc::Closing>>>(
      const state::Object& object)>
      closing = {};
  /// See FormReader. Both are empty where there are records only.
  std::function<std::optional<AllocationForm>(const state::Object& object)> form = {};
  std::function<std::optional<BitmapId>(const state::Object& object)> bitmap = {};
};

struct RecordChange {
  RecordInfo info = {};
  int64_t revision = 0;  // 0 if the record was deleted.
};

/// What a batch of changes says. Values are applied before ranges.
struct LedgerChanges {
  std::vector<HoldingChange> holdings = {};  // In the order of the changes, as the records.
  std::vector<RecordChange> records = {};
  std::vector<StoredValues> stored = {};  // What bitmaps say.
  std::vector<RangeUpdate> ranges = {};
  std::vector<FenceChange> fences = {};
};

/// Adds what a change of a Service, a record, a range or a fence says. Returns false for other
/// objects.
bool ReadChange(const RecordReader& reader, const state::Change& change, LedgerChanges& changes);

}  // namespace berth::allocation
