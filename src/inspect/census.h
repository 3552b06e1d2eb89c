// Counts a cluster: which Service uses which value, the state of a value, and how full each band of
// each range is. All questions about a view go through a census, so that every command counts
// alike.
//
// A census keeps pointers into the Cluster, which must outlive it and must not change. It costs
// about 24 bytes for each value that a Service holds. Immutable; safe from any thread. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "alloc/layout.h"
#include "alloc/pool_id.h"
#include "alloc/range_table.h"
#include "alloc/segments.h"
#include "alloc/state.h"
#include "base/uint128.h"
#include "inspect/cluster.h"

namespace berth::inspect {

/// One value of one Service.
struct Use {
  base::U128 value = 0;
  const Service* service = nullptr;
  const Held* held = nullptr;
};

/// One row of the range table, with the object that it comes from.
struct RangeRef {
  alloc::PoolId pool = alloc::PoolId::kIpv4;
  const alloc::RangeRow* row = nullptr;
  const Range* range = nullptr;
};

/// How full a band is. Values that several Services hold count once.
struct BandFigures {
  std::optional<alloc::Interval> span = {};  ///< Nullopt if the band is empty.
  alloc::StateCounts counts = {};            ///< All values of the band, by their state.
  uint64_t named = 0;                        ///< Of the taken values.
  uint64_t drawn = 0;

  base::U128 Usable() const { return counts.Total() - counts[alloc::State::kExcluded]; }
  /// Returns how much of the usable values is not free, in percent; 0 if no value is usable.
  double PercentUsed() const;
};

struct RangeFigures {
  BandFigures static_band = {};
  BandFigures dynamic_band = {};

  const BandFigures& Of(alloc::Band band) const {
    return band == alloc::Band::kStatic ? static_band : dynamic_band;
  }
  alloc::StateCounts Counts() const;
  base::U128 Usable() const { return static_band.Usable() + dynamic_band.Usable(); }
  base::U128 Free() const { return Counts()[alloc::State::kFree]; }
  double PercentUsed() const;
  /// Returns the values of the static band that the allocator picked, because the dynamic band had
  /// none left at that time.
  uint64_t Spill() const { return static_band.drawn; }
};

/// Returns the state that a record gives to a value that no Service has.
alloc::State StateByRecord(const Record& record);

class Census {
 public:
  explicit Census(const Cluster& cluster);
  Census(const Census&) = delete;
  Census& operator=(const Census&) = delete;

  const Cluster& cluster() const { return cluster_; }
  const alloc::RangeTable& table() const { return table_; }

  /// Returns all ranges: IPv4, IPv6, ports, each in the order of the table.
  const std::vector<RangeRef>& ranges() const { return ranges_; }
  /// Returns the ranges that contain the value, the smallest first.
  std::vector<RangeRef> RangesOf(const alloc::PoolValue& value) const;

  /// Returns the uses of a pool, of a part of it, or of one value. They are ordered by value, and
  /// those of one value by namespace and name.
  std::span<const Use> Uses(alloc::PoolId pool) const { return uses_[pool]; }
  std::span<const Use> UsesIn(alloc::PoolId pool, const alloc::Interval& values) const;
  std::span<const Use> UsesOf(const alloc::PoolValue& value) const;

  /// Return the records of a pool in ascending order, of a part of it, and of one value (or null).
  std::span<const Record* const> RecordsIn(alloc::PoolId pool, const alloc::Interval& values) const;
  const Record* RecordOf(const alloc::PoolValue& value) const;

  /// Returns the state of a value in a range. Where Services are all that is known, a record does
  /// not count. A value outside the range's span is excluded.
  alloc::State StateIn(const alloc::RangeRow& row, const alloc::PoolValue& value) const;

  /// Counts a range. Takes time in proportion to the values in use in it, not to its size.
  RangeFigures FiguresOf(const RangeRef& range) const;

 private:
  BandFigures CountBand(const RangeRef& range, const std::optional<alloc::Interval>& span) const;

  const Cluster& cluster_;
  alloc::RangeTable table_;
  std::vector<RangeRef> ranges_;
  alloc::PerPool<alloc::Segments> segments_;
  alloc::PerPool<std::vector<Use>> uses_;
  alloc::PerPool<std::vector<const Record*>> records_;
};

}  // namespace berth::inspect
