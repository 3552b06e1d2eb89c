// The states of one band, and the count of each state. The band is a bitmap if that is affordable,
// and hash sets otherwise. Memory grows with the number of held values, never with the width of the
// band. A pick costs the same at every fill level.
//
// The underlying set numbers only values that are not excluded. So a pick cannot miss because of
// exclusions, however little of a wide band they leave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <variant>
#include <vector>

#include "alloc/dense_set.h"
#include "alloc/exclusions.h"
#include "alloc/layout.h"
#include "alloc/sparse_set.h"
#include "alloc/state.h"

namespace berth::alloc {

/// Not thread-safe. Values must lie in the band.
class BandSet {
 public:
  /// A band of up to this many values is always a bitmap. The bitmap then takes at most 10 KiB.
  static constexpr uint64_t kAlwaysBitmap = uint64_t{1} << 16;
  /// A wider band becomes a bitmap when one value in this many is held. At about that point a
  /// bitmap is no larger than the hash sets. It becomes hash sets again at a quarter of that.
  static constexpr uint64_t kBitmapFromOneIn = 128;

  BandSet(const Interval& span, const std::vector<Interval>& excluded);

  const Interval& span() const { return span_; }
  const StateCounts& counts() const { return counts_; }
  U128 Free() const { return counts_[State::kFree]; }
  bool IsBitmap() const { return std::holds_alternative<DenseSet>(set_); }

  /// Takes values in a new band. Each value must be named only once. Excluded values are taken too.
  void Load(std::span<const U128> taken);

  State Get(U128 value) const;

  /// Changes the state of a value. `from` must be its current state; `to` is kFree, kTaken,
  /// kReserved or kCooling. An excluded value can be taken, and is excluded again when it is
  /// released.
  void Change(U128 value, State from, State to);

  /// Returns one free value, each with the same probability. The band must have a free value.
  U128 PickFree(base::Random& random) const;

  /// Visits the values that are kTaken, kReserved or kCooling, in ascending order.
  void ForEach(State held, const std::function<void(U128)>& visit) const;

  /// Visits maximal runs of free values at or above `from`, ascending, until `visit` returns false.
  void ForEachFreeRun(U128 from, const std::function<bool(Interval)>& visit) const;

  size_t MemoryBytes() const;

 private:
  using Set = std::variant<DenseSet, SparseSet<uint64_t>, SparseSet<U128>>;

  static Set MakeHashSets(U128 size);
  U128 ValueAt(U128 rank) const { return span_.first + exclusions_.Unrank(rank); }
  void ChangeForm();

  Interval span_;
  Exclusions exclusions_;
  U128 allowed_;  ///< Number of values that are not excluded.
  U128 bitmap_from_held_;
  U128 hash_sets_below_held_;
  Set set_;  ///< Numbered by the rank of a value among the allowed ones.
  std::set<U128> taken_though_excluded_;
  StateCounts counts_;
};

}  // namespace berth::alloc
