// The states of one band: a bitmap where that is affordable, hash sets where it is not, and the
// count of each state. Memory follows what is held, never the width of the band, and a pick costs
// the same at every fill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <variant>

#include "alloc/dense_set.h"
#include "alloc/layout.h"
#include "alloc/sparse_set.h"
#include "alloc/state.h"

namespace berth::alloc {

/// Not thread-safe. Values, not offsets; they must lie in the band.
class BandSet {
 public:
  /// Up to this many values a band is a bitmap from the start (2 MiB, untouched until used).
  static constexpr uint64_t kDenseFromStart = uint64_t{1} << 24;
  /// A wider band becomes a bitmap once this fraction of it is held: then the bitmap (an eighth of
  /// a byte per value) is no larger than the hash set (about 16 bytes per value held).
  static constexpr uint64_t kDenseFromFill = 128;

  BandSet(const Interval& span, const std::vector<Interval>& excluded);

  const Interval& span() const { return span_; }
  const StateCounts& counts() const { return counts_; }
  U128 Free() const { return counts_[State::kFree]; }

  State Get(U128 value) const;

  /// `from` must be the value's state; `to` is kFree, kTaken, kReserved or kCooling.
  void Change(U128 value, State from, State to);

  /// One free value, each equally likely; there must be one.
  U128 PickFree(base::Random& random) const;

  std::optional<U128> NextFree(U128 from) const;
  std::optional<U128> PrevFree(U128 from) const;
  void ForEach(State held, const std::function<void(U128)>& visit) const;
  void ForEachFreeRun(U128 from, const std::function<bool(Interval)>& visit) const;

  /// Takes values that are free or excluded, each named once.
  void TakeAll(std::span<const U128> values);

  size_t MemoryBytes() const;

 private:
  using Set = std::variant<DenseSet, SparseSet<uint64_t>, SparseSet<U128>>;

  static Set MakeSet(U128 last, Exclusions exclusions);
  void BecomeDenseIfCheaper();

  Interval span_;
  Set set_;
  StateCounts counts_;
};

}  // namespace berth::alloc
