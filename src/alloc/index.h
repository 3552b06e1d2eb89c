// The index of one range: which values are free, taken, reserved or cooling, band by band.
//
// Not thread-safe. A value taken is never proposed again until it is given back. Nothing here is
// durable: the store is, and an index can be rebuilt from it at any moment. Picks cost the same
// full or empty, on average: now and then one of a wide range pays for a hash set that grows or
// becomes a bitmap. Memory follows what is held, never the width of the range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "alloc/band_set.h"
#include "alloc/layout.h"
#include "alloc/state.h"
#include "base/random.h"

namespace berth::alloc {

/// How a request for a given value ended.
enum class [[nodiscard]] Outcome : uint8_t {
  kDone,
  kOutOfRange,  ///< not a usable value of this range
  kTaken,
  kReserved,
  kExcluded,
  kNotHeld,  ///< nothing to give back: the value is not in the state the request starts from
  kNotOpen,  ///< of a pool: nothing new is taken from the ranges that have it
};

struct LoadedIndex;

class Index {
 public:
  explicit Index(Layout layout);

  const Layout& layout() const { return layout_; }

  /// An index in which `taken` are taken, for building one from what is stored; fastest in
  /// ascending order.
  static LoadedIndex Load(Layout layout, std::span<const U128> taken);

  /// The same of distinct values in any order; those that lie outside the range are left out.
  static Index Of(Layout layout, std::span<const U128> taken);

  /// What a value is; nothing for a value that is not a usable one of the range.
  std::optional<State> Get(U128 value) const;
  bool Has(U128 value) const { return Get(value) == State::kTaken; }

  /// A given value: free or cooling.
  Outcome Take(U128 value);

  /// Whatever it was before, it is that now: kFree, kTaken, kReserved or kCooling. Values outside
  /// the range are ignored; of excluded ones only kTaken is noted.
  void Put(U128 value, State state);
  /// It is taken: somebody has it.
  void Hold(U128 value) { Put(value, State::kTaken); }

  /// Any free value: from the dynamic band, and from the static one if that is exhausted and the
  /// range is not strict. Each free value of the band is equally likely. Cooling values are left
  /// alone. Pick only proposes.
  std::optional<U128> Pick(base::Random& random) const;
  std::optional<U128> TakeAny(base::Random& random);

  /// Gives a taken value back, at once or to cool down until EndCooling.
  Outcome Release(U128 value);
  Outcome ReleaseToCool(U128 value);
  Outcome EndCooling(U128 value);

  /// Sets a free or cooling value aside, and back.
  Outcome Reserve(U128 value);
  Outcome Unreserve(U128 value);

  /// How many values Pick could propose.
  U128 Pickable() const;

  StateCounts Counts(Band band) const;
  StateCounts Counts() const;

  /// Whether the band is a bitmap now; it may be hash sets instead, or empty.
  bool IsBitmap(Band band) const;

  // The walks below sort what is held if the band is not a bitmap: then they take time in
  // proportion to that, a tenth of a second for a million values.

  /// Every value that is kTaken, kReserved or kCooling, ascending. Free and excluded values are
  /// not walked one by one: see FreeRuns and Layout::excluded.
  void ForEach(State held, const std::function<void(U128)>& visit) const;

  /// The gaps: maximal runs of free values, ascending, that start at or above `from`, or contain
  /// it (then cut off there); at most `limit` of them.
  std::vector<Interval> FreeRuns(U128 from, size_t limit) const;

  /// The free value closest to `value`, the lower one of two.
  std::optional<U128> NearestFree(U128 value) const;

  /// The lowest `count` consecutive free values of the dynamic band, else, unless the range is
  /// strict, of the whole range. Walks the gaps in order.
  std::optional<Interval> FindBlock(U128 count) const;

  size_t MemoryBytes() const;

 private:
  BandSet* SetFor(U128 value);
  const BandSet* SetFor(U128 value) const;
  const BandSet* SetToPickFrom() const;
  void Fill(std::span<const U128> lower, std::span<const U128> upper);
  Outcome GiveBack(U128 value, State from, State to);
  void ForEachFreeRun(U128 from, const std::function<bool(Interval)>& visit) const;

  Layout layout_;
  std::optional<BandSet> static_;
  std::optional<BandSet> dynamic_;
};

struct LoadedIndex {
  Index index;
  std::vector<U128> out_of_range = {};  ///< what could not be taken
  std::vector<U128> twice = {};         ///< what was named again, once for each time
};

}  // namespace berth::alloc
