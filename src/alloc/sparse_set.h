// The states of the values of a band too wide for a bitmap: hash sets of what is not free, so that
// memory follows allocations and the width of the band costs nothing (an IPv6 /64, a /48).
//
// Free values are found by drawing at random until one is free. That takes one draw nearly always,
// because the owner replaces this set by a DenseSet before more than one value in 128 is used.
// Only exclusions that leave almost nothing free make it sort what it holds; ordered walks always
// do.
#pragma once

#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "alloc/exclusions.h"
#include "alloc/state.h"
#include "base/random.h"

namespace berth::alloc {

/// Not thread-safe. `Key` holds any offset of the band: uint64_t for up to 2^64 values, else U128.
/// The operations are those of DenseSet.
template <typename Key>
class SparseSet {
 public:
  /// The offsets 0 to `last`, all free but the excluded ones.
  SparseSet(U128 last, Exclusions exclusions) : last_(last), exclusions_(std::move(exclusions)) {}

  State Get(U128 offset) const;
  State Put(U128 offset, State state);
  U128 PickFree(base::Random& random) const;
  std::optional<U128> NextFree(U128 from) const;
  std::optional<U128> PrevFree(U128 from) const;
  void ForEach(State held, const std::function<void(U128)>& visit) const;
  void ForEachFreeRun(U128 from, const std::function<bool(Interval)>& visit) const;
  void TakeAll(std::span<const U128> offsets);
  size_t MemoryBytes() const;

  /// How many values are taken, reserved or cooling.
  size_t Held() const { return taken_.size() + reserved_.size() + cooling_.size(); }
  const Exclusions& exclusions() const { return exclusions_; }

 private:
  /// Abseil's hash, which differs from process to process, so that nobody can choose addresses
  /// that collide; it knows no 128-bit integers.
  struct Hash {
    size_t operator()(Key key) const {
      if constexpr (sizeof(Key) == sizeof(uint64_t)) {
        return absl::Hash<uint64_t>()(key);
      } else {
        return absl::Hash<std::pair<uint64_t, uint64_t>>()({base::High64(key), base::Low64(key)});
      }
    }
  };
  using Set = absl::flat_hash_set<Key, Hash>;

  const Set& SetOf(State held) const;
  bool IsHeld(Key key) const;
  std::vector<Interval> NotFreeRuns(U128 from) const;

  U128 last_;
  Exclusions exclusions_;
  Set taken_;
  Set reserved_;
  Set cooling_;
};

extern template class SparseSet<uint64_t>;
extern template class SparseSet<U128>;

}  // namespace berth::alloc
