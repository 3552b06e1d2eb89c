// All values of one kind (IPv4 addresses, IPv6 addresses or ports): what is held of them and in
// which state, the ranges they may be given out from, and an index of each.
//
// - Ranges may overlap: a value is in the same state in every range that contains it. Values
//   outside of every range may be held as well; nobody is given them.
// - A pick comes from the open range of the highest priority that has something free, of several
//   from the one with the most. It leaves reserved and cooling values alone.
// - A range that is not open gives nothing, but what other ranges have too.
// - What happens to a value costs the logarithm of the number of ranges and, for each range that
//   contains it, one step in its index.
//
// Not thread-safe. Nothing here is durable, see Index.
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
    std::chrono::seconds cool_down;
    RangeKind kind;
    bool overlaps;  ///< It has values that another one has.
    Index index;
  };

  Pool() = default;
  Pool(Pool&&) = default;
  Pool& operator=(Pool&&) = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Takes the place of all ranges there were; what is held stays held. A range of the same layout
  /// as one before keeps its index. The others cost one walk over all that is held, together.
  void SetRanges(std::vector<RangeRow> rows);
  const std::vector<Range>& ranges() const { return ranges_; }
  /// Grows with everything that happens to ranges and values.
  uint64_t Changes() const { return changes_; }

  /// kFree, kTaken, kReserved or kCooling, whatever ranges it lies in, if any.
  State Get(U128 value) const;
  /// Whether that changed anything.
  bool Put(U128 value, State state);
  bool Hold(U128 value) { return Put(value, State::kTaken); }
  bool Drop(U128 value) { return Put(value, State::kFree); }
  bool IsHeld(U128 value) const { return Get(value) != State::kFree; }

  /// A given value, free or cooling, which must be a usable one of some open range: it is taken, or
  /// why not.
  Outcome Take(U128 value) { return Take(value, false); }
  /// The same for who may have it though it is reserved.
  Outcome TakeReserved(U128 value) { return Take(value, true); }

  /// What Take could come to at best, whoever asks and whoever has the value: kDone, kOutOfRange,
  /// kNotOpen or kExcluded.
  Outcome Allows(U128 value) const;

  /// Any free value. Nothing: all ranges, or that one, are full or not open.
  std::optional<U128> TakeAny(base::Random& random);
  std::optional<U128> TakeAny(base::Random& random, const Range& range);

  /// How many values TakeAny could hand out, up to 2^64 - 1 of each range. Values in several ranges
  /// count several times.
  U128 Available() const { return order_.TotalFree(); }
  U128 Available(const Range& range) const { return order_.Free(PlaceOf(range)); }

  /// The smallest range with this value; null: none has it.
  const Range* Find(U128 value) const;
  /// Null: there is none. Of several with that name the first.
  const Range* Named(std::string_view name) const;

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

  // Disjoint. What is not in them is free.
  ValueSet taken_;
  ValueSet reserved_;
  ValueSet cooling_;

  std::vector<Range> ranges_;
  // Of the ranges, by their place.
  Segments segments_;
  PickOrder order_;
  absl::flat_hash_map<std::string_view, uint32_t> names_;
  uint64_t changes_ = 0;
};

}  // namespace berth::alloc
