// The states of a band that is too wide for a bitmap (an IPv6 /64, a /48). Hash sets hold what is
// not free, so memory grows with the number of held values and the width costs nothing.
//
// A free value is found by drawing at random until a draw is free. One draw is nearly always
// enough, because the owner switches to a DenseSet before more than one value in 128 is held. Only
// a band of more than 2^30 values never switches; holding a good part of such a band would take
// gigabytes.
//
// Growing a hash set moves its contents, so a put is cheap on average but not every time. Ordered
// walks sort.
#pragma once

#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "alloc/layout.h"
#include "alloc/state.h"
#include "base/random.h"

namespace berth::alloc {

/// Not thread-safe. `Key` holds any value of the band: uint64_t for up to 2^64 values, otherwise
/// U128. The operations are those of DenseSet.
template <typename Key>
class SparseSet {
 public:
  /// Values are numbered from 0 to `last`.
  explicit SparseSet(U128 last) : last_(last) {}

  State Get(U128 number) const;
  void Put(U128 number, State state);
  U128 PickFree(base::Random& random) const;
  void ForEach(State held, const std::function<void(U128)>& visit) const;
  std::vector<U128> Held(State held) const;
  void ForEachFreeRun(U128 from, const std::function<bool(Interval)>& visit) const;
  void PutAll(std::span<const U128> numbers, State state);
  size_t MemoryBytes() const;

 private:
  /// Abseil's hash is seeded per process, so that a client cannot choose addresses that collide. It
  /// does not support 128-bit integers.
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

  Set& SetOf(State held);
  const Set& SetOf(State held) const;
  bool IsFree(U128 number) const { return Get(number) == State::kFree; }
  static void Erase(Set& set, Key key);

  U128 last_;
  Set taken_;
  Set reserved_;
  Set cooling_;
};

extern template class SparseSet<uint64_t>;
extern template class SparseSet<U128>;

}  // namespace berth::alloc
