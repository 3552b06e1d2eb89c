// The index of one range: which values are free, taken, reserved or cooling, band by band.
//
// Not thread-safe. After a value is taken it is not proposed again until it is released. Nothing
// here is durable: the store is, and an index can be rebuilt from the store at any moment. On
// average a pick costs the same whether the range is full or empty. Now and then a pick in a wide
// range pays for a hash set that grows or becomes a bitmap. Memory grows with the number of held
// values, never with the width of the range.
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

/// Outcome of a request for a given value.
enum class [[nodiscard]] Outcome : uint8_t {
  kDone,
  kOutOfRange,  ///< The value is not a usable value of this range.
  kTaken,
  kReserved,
  kExcluded,
  kNotHeld,  ///< The value is not in the state that the request starts from.
  kNotOpen,  ///< Pools only: the ranges that contain the value accept no new allocations.
};

struct LoadedIndex;

class Index {
 public:
  explicit Index(Layout layout);

  const Layout& layout() const { return layout_; }

  /// Returns an index in which the values of `taken` are taken, to build an index from what is
  /// stored. Fastest if `taken` is in ascending order.
  static LoadedIndex Load(Layout layout, std::span<const U128> taken);

  /// Does the same for distinct values in any order. Values outside the range are ignored.
  static Index Of(Layout layout, std::span<const U128> taken);

  /// Returns the state of a value, or nullopt if it is not a usable value of the range.
  std::optional<State> Get(U128 value) const;
  bool Has(U128 value) const { return Get(value) == State::kTaken; }

  /// Takes a given value, which must be free or cooling.
  Outcome Take(U128 value);

  /// Sets the state of a value to kFree, kTaken, kReserved or kCooling, whatever it was before.
  /// Values outside the range are ignored. For an excluded value only kTaken is recorded.
  void Put(U128 value, State state);
  /// Marks a value as taken.
  void Hold(U128 value) { Put(value, State::kTaken); }

  /// Pick returns any free value and only proposes it; TakeAny also takes it. Values come from the
  /// dynamic band, or from the static band if the dynamic one is exhausted and the range is not
  /// strict. Each free value of the band has the same probability. Cooling values are never picked.
  /// Both return nullopt if there is no value to pick.
  std::optional<U128> Pick(base::Random& random) const;
  std::optional<U128> TakeAny(base::Random& random);

  /// Releases a taken value.
  Outcome Release(U128 value);

  /// Reserves a free or cooling value.
  Outcome Reserve(U128 value);

  /// Returns how many values Pick could propose.
  U128 Pickable() const;

  StateCounts Counts(Band band) const;
  StateCounts Counts() const;

  /// Returns whether the band is a bitmap now. Otherwise it is hash sets, or empty.
  bool IsBitmap(Band band) const;

  // The walks below sort the held values if the band is not a bitmap. Their time is then
  // proportional to the number of held values: a tenth of a second for a million.

  /// Visits every value that is kTaken, kReserved or kCooling, ascending. Free and excluded values
  /// are not visited one by one: see FreeRuns and Layout::excluded.
  void ForEach(State held, const std::function<void(U128)>& visit) const;

  /// Returns at most `limit` maximal runs of free values, ascending, that start at or above `from`.
  /// A run that contains `from` is cut off there.
  std::vector<Interval> FreeRuns(U128 from, size_t limit) const;

  size_t MemoryBytes() const;

 private:
  BandSet* SetFor(U128 value);
  const BandSet* SetFor(U128 value) const;
  const BandSet* SetToPickFrom() const;
  void Fill(std::span<const U128> lower, std::span<const U128> upper);
  void ForEachFreeRun(U128 from, const std::function<bool(Interval)>& visit) const;

  Layout layout_;
  std::optional<BandSet> static_;
  std::optional<BandSet> dynamic_;
};

struct LoadedIndex {
  Index index;
  std::vector<U128> out_of_range = {};  ///< Values that are not in the range.
  std::vector<U128> twice = {};         ///< Values that were named again, once for each repetition.
};

}  // namespace berth::alloc
