// What the ledger tells about its ranges and values: for status, messages, metrics and people. It
// only reads. A value that a stored Service holds counts as taken, with or without a record. Counts
// cost nothing; a function that copies all ranges takes time in proportion to their number.
//
// A view is a reference: make one where it is needed. Threads: any; each function takes the
// ledger's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alloc/layout.h"
#include "alloc/range_table.h"
#include "alloc/state.h"
#include "allocation/claims/claims.h"
#include "allocation/ledger/ledger.h"

namespace berth::allocation {

struct RangeState {
  PoolId pool = PoolId::kIpv4;
  std::string name = {};
  std::string text = {};
  std::optional<alloc::Interval> static_band = {};
  std::optional<alloc::Interval> dynamic_band = {};
  alloc::StateCounts in_static = {};  // Free, taken, reserved, cooling and excluded.
  alloc::StateCounts in_dynamic = {};
  U128 usable = 0;
  int64_t priority = 0;
  alloc::RangeKind kind = alloc::RangeKind::kIpRange;
  bool open = true;
  bool leaving = false;
  bool makes_way = false;  // Its ServiceCIDR is being deleted, and other ranges serve.
  bool overlaps = false;   // It has values that another range has too.
  bool closing = false;    // Its pool is closing: until that ends, counts lack what it may lose.
  bool in_force = true;    // False if bitmaps have no room for it.
  int64_t fence = 0;       // Revision of its pool's fence. 0 if there is no fence.
};

/// A value that is reserved for a Service that does not have it.
struct ValueForService {
  U128 value = 0;
  std::string service = {};  // "namespace/name".
};

/// What a range adds to totals in which each value counts once (alloc::Pool::Shares).
struct RangeShare {
  PoolId pool = PoolId::kIpv4;
  std::string text = {};
  U128 allocated = 0;
  U128 available = 0;
};

class LedgerView {
 public:
  explicit LedgerView(const Ledger& ledger) : ledger_(ledger) {}

  std::vector<RangeState> Ranges() const;
  std::vector<RangeState> Ranges(PoolId pool) const;
  /// Returns all ranges; last those that are not in force, without counts.
  std::vector<RangeState> RangesInForceOrNot() const;
  std::optional<RangeState> RangeNamed(PoolId pool, std::string_view name) const;
  /// Returns the state that a range would have if the ranges were those of `table`, with the values
  /// that are held now. Returns nullopt if the table has no such range. A range with a new layout
  /// costs a walk over all values that its pool holds; they are counted with no lock held.
  std::optional<RangeState> RangeIn(const alloc::RangeTable& table, alloc::RangeKind kind,
                                    std::string_view name) const;
  /// Returns the smallest range that contains the value.
  std::optional<RangeState> RangeWith(const PoolValue& value) const;
  /// Returns the text of that range, such as "10.96.0.0/16". Empty if no range contains the value.
  std::string RangeOf(const PoolValue& value) const;
  /// Returns the smallest range that contains the value if even the Service that the value is
  /// reserved for could not take it, because no open range that contains it gives it out.
  std::optional<RangeState> RangeThatWithholds(const PoolValue& value) const;

  /// Returns the shares of all ranges in force.
  std::vector<RangeShare> Shares() const;

  /// Returns the values that are reserved for Services that do not have them, in ascending order.
  std::vector<ValueForService> ValuesForServices(PoolId pool) const;
  /// Returns how many stored Services hold the value.
  size_t HoldersOf(const PoolValue& value) const;
  /// Returns whether the value has a record, a stored Service holds it, or a write in flight takes
  /// it.
  bool IsHeld(const PoolValue& value) const;

  /// Returns a number that grows with each change of what Ranges says.
  uint64_t Changes() const;
  /// Returns the ranges as they are stored. Those that are closing have all their values, and those
  /// that bitmaps have no room for are there too.
  alloc::RangeTable StoredTable() const;
  /// Returns how often the table of ranges was made.
  uint64_t TablesMade() const;

 private:
  std::optional<RangeState> RangeInForce(const alloc::RangeTable& table, alloc::RangeKind kind,
                                         std::string_view name) const;
  void Count(const alloc::Layout& layout, RangeState& state) const;

  const Ledger& ledger_;
};

}  // namespace berth::allocation
