// The range that a record refers to (`ipRangeRef`, `nodePortRangeRef`). A record stores the name of
// a range only as a hint, because ranges grow, shrink, move and are deleted without a write of
// their records. The reference is derived when the record is shown: it is the noted range while a
// range of that name contains the value, otherwise the smallest range that contains it, and there
// is no reference if no range does.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "alloc/range_table.h"
#include "alloc/segments.h"
#include "allocation/claims/claims.h"
#include "allocation/ledger/ledger.h"
#include "base/mutex.h"

namespace berth::allocation {

/// All ranges by their values. Immutable.
class RangeDirectory {
 public:
  explicit RangeDirectory(const alloc::RangeTable& table);

  /// Returns the range of a value as the record notes it (rules::RecordNotes::range; for a port,
  /// the name). `noted` is the note that is stored. Returns an empty text if no range contains the
  /// value. Valid as long as the directory and `noted`.
  std::string_view ReferenceFor(const PoolValue& value, std::string_view noted) const;

 private:
  struct Pool {
    alloc::Segments segments = {};
    std::vector<std::string> notes = {};  // By position in `segments`.
  };
  PerPool<Pool> pools_ = {};
};

/// The directory of the ranges that are stored now. Threads: any.
class RangeReferences {
 public:
  /// The ledger must outlive it.
  explicit RangeReferences(const Ledger& ledger) : ledger_(ledger) {}

  std::shared_ptr<const RangeDirectory> Current() const EXCLUDES(mutex_);

 private:
  const Ledger& ledger_;
  mutable base::Mutex mutex_;
  mutable std::shared_ptr<const RangeDirectory> directory_ GUARDED_BY(mutex_);
  mutable uint64_t made_of_ GUARDED_BY(mutex_) = 0;  // LedgerView::TablesMade of the directory.
};

}  // namespace berth::allocation
