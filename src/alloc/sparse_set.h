// The states of a band too wide for a bitmap: hash sets of what is not free, so that memory follows
// what is held and the width costs nothing (an IPv6 /64, a /48).
//
// A free value is found by drawing at random until one is free. That takes one draw nearly always,
// because the owner goes over to a DenseSet before more than one value in 128 is held. Only a band
// of more than 2^30 values never does; to hold a good part of one would take gigabytes.
//
// Growing a hash set moves what it holds: a put is cheap on average, not each time. Ordered walks
// sort.
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

#include "alloc/layout.h"
#include "alloc/state.h"
#include "base/random.h"

namespace berth::alloc {

/// Not thread-safe. `Key` holds any value of the band: uint64_t for up to 2^64, else U128.
/// The operations are those of DenseSet.
template <typename Key>
class SparseSet {
 public:
  /// Values are numbered from 0 to `last`.
  explicit SparseSet(U128 last) : last_(last) {}

  State Get(U128 number) const;
  void Put(U128 number, State state);
  U128 PickFree(base::Random& random) const;
  std::optional<U128> NextFree(U128 from) const;
  std::optional<U128> PrevFree(U128 from) const;
  void ForEach(State held, const std::function<void(U128)>& visit) const;
  std::vector<U128> Held(State held) const;
  void ForEachFreeRun(U128 from, const std::function<bool(Interval)>& visit) const;
  void PutAll(std::span<const U128> numbers, State state);
  size_t MemoryBytes() const;

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
