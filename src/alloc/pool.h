// All values of one kind (IPv4 addresses, IPv6 addresses or ports): which are held and in which
// state, the ranges they may be given out from, and an index of each range.
//
// - Ranges may overlap: a value is in the same state in every range that contains it. Values
//   outside of every range may be held too, but they are never given out.
// - A pick comes from the open range of the highest priority that has a free value, and among those
//   from the range with the most free values. It never returns reserved or cooling values.
// - No value is given out from a range that is not open, unless an open range contains it too.
// - A change to a value costs the logarithm of the number of ranges and, for each range that
//   contains it, one step in its index.
//
// Not thread-safe. Nothing here is durable; see Index.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alloc/index.h"
#include "alloc/layout.h"
#include "alloc/overlap_counts.h"
#include "alloc/pick_order.h"
#include "alloc/range_table.h"
#include "alloc/segments.h"
#include "alloc/value_set.h"
#include "base/random.h"

namespace berth::alloc {

class Pool {
 public:
  /// A row and its index.
  struct Range {
    std::string name;
    std::string text;
    int64_t priority;
    bool open;
    bool leaving;
    bool makes_way;
    std::chrono::seconds cool_down;
    RangeKind kind;
    bool overlaps;  ///< Another range contains some of its values.
    Index index;
  };

  Pool() = default;
  Pool(Pool&&) = default;
  Pool& operator=(Pool&&) = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Values by the state they are held in.
  struct Held {
    std::vector<U128> taken = {};
    std::vector<U128> reserved = {};
    std::vector<U128> cooling = {};
  };

  /// Replaces all ranges. Held values stay held. A range with the same layout as a previous one
  /// keeps its index. All other ranges together cost one walk over the held values.
  void SetRanges(std::vector<RangeRow> rows);
  const std::vector<Range>& ranges() const { return ranges_; }
  /// Returns a counter that grows with every change to ranges and values.
  uint64_t Changes() const { return changes_; }

  /// Returns kFree, kTaken, kReserved or kCooling. The state does not depend on the ranges that
  /// contain the value.
  State Get(U128 value) const;
  /// Sets the state of a value. Returns whether it changed.
  bool Put(U128 value, State state);
  bool Hold(U128 value) { return Put(value, State::kTaken); }
  bool IsHeld(U128 value) const { return Get(value) != State::kFree; }

  /// Takes a given value, which must be free or cooling and a usable value of some open range.
  /// Returns kDone, or the reason why the value was not taken.
  Outcome Take(U128 value) { return Take(value, false); }
  /// Does the same for a caller that may have the value even if it is reserved.
  Outcome TakeReserved(U128 value) { return Take(value, true); }

  /// Returns the best outcome that Take could have, regardless of the caller and of the value's
  /// state: kDone, kOutOfRange, kNotOpen or kExcluded.
  Outcome Allows(U128 value) const;

  /// Takes any free value. Returns nullopt if all ranges, or `range`, are full or not open.
  std::optional<U128> TakeAny(base::Random& random);
  std::optional<U128> TakeAny(base::Random& random, const Range& range);

  /// Returns how many values TakeAny could hand out, up to 2^64 - 1 for each range. A value in
  /// several ranges counts several times.
  U128 Available() const { return order_.TotalFree(); }
  U128 Available(const Range& range) const { return order_.Free(PlaceOf(range)); }

  /// What a range adds to the totals of the pool, in which each value counts once.
  struct Share {
    U128 allocated = 0;
    U128 available = 0;
  };
  /// Returns the shares of all ranges, in their order. A value that is taken or reserved is
  /// allocated, and counts for the smallest range that contains it (Find). A value that Take could
  /// take now is available, and counts for the smallest range that would give it out. The cost is
  /// linear in the number of ranges and, where they overlap, of their exclusions.
  std::vector<Share> Shares() const;

  /// Returns the smallest range that contains this value, or null if no range does.
  const Range* Find(U128 value) const;
  /// Returns the first range with this name, or null if no range has it.
  const Range* Named(std::string_view name) const;

  /// Returns a range of exactly this layout, or null if there is no such range.
  const Range* WithLayout(const Layout& layout) const;
  /// Returns the held values of an interval, whatever ranges they lie in. Costs one walk over all
  /// held values.
  Held HeldIn(const Interval& interval) const;
  /// Returns the index of a range of this layout. Values of `held` outside the range are ignored.
  static Index IndexOf(Layout layout, const Held& held);

 private:
  uint32_t PlaceOf(const Range& range) const {
    return static_cast<uint32_t>(&range - ranges_.data());
  }
  uint64_t Pickable(const Range& range) const;
  ValueSet& SetOf(State state);
  Outcome Take(U128 value, bool reserved_too);
  std::optional<U128> PickFrom(uint32_t place, base::Random& random);
  void Change(U128 value, State from, State to);
  void FillNew(std::vector<std::optional<Interval>> spans, std::vector<RangeRow>& rows,
               std::vector<std::optional<Index>>& indexes) const;
  void Arrange();
  void CountOverlaps();

  // These sets are disjoint. A value that is in none of them is free.
  ValueSet taken_;
  ValueSet reserved_;
  ValueSet cooling_;

  std::vector<Range> ranges_;
  // Lookups of ranges by position.
  Segments segments_;
  PickOrder order_;
  OverlapCounts overlaps_;
  absl::flat_hash_map<std::string_view, uint32_t> names_;
  uint64_t changes_ = 0;
};

}  // namespace berth::alloc
