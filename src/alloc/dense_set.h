// The states of up to 2^30 numbered values, two bits each, with a tree of counters. The tree finds
// the k-th free value in the same few steps however full the set is.
//
// Memory grows with the size of the set (up to a third of a byte per value), so a wide and nearly
// empty range belongs in a SparseSet.
//
// How the k-th free value is found, in a small example with words of 4 values and a fan-out of 2
// (`x` is not free):
//
//     values     x..x  xxxx  ....  x..x
//     free         2     0     4     2
//     leaves     [0,    2]   [0,    4]     free values before each word, within the leaf
//     root       [0,          2]           free values before each leaf
//
//   k = 3: the last sum of the root that is at most 3 is 2, which is the second leaf's. Descend
//   there with k = 3 - 2 = 1. The last sum of that leaf that is at most 1 is 0, which is its first
//   word's. The free value with k = 1 in that word is its second one.
//   The real set has 64 values a word, and 32 running sums a leaf and a node. The compiler compares
//   several sums at a time, without a branch. Taking or releasing a value adds to one leaf and one
//   node per level.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "alloc/layout.h"
#include "alloc/state.h"
#include "base/random.h"

namespace berth::alloc {

/// Not thread-safe. Values are numbered from 0; each must be below the size.
class DenseSet {
 public:
  static constexpr uint64_t kMaxSize = uint64_t{1} << 30;

  explicit DenseSet(uint64_t size);

  State Get(U128 number) const;

  /// Sets the state of a value. `state` is anything but kExcluded, which the owner of the set
  /// handles.
  void Put(U128 number, State state);

  /// Returns one free value, each with the same probability. The set must have a free value.
  U128 PickFree(base::Random& random) const;

  /// ForEach visits the values that are kTaken, kReserved or kCooling, ascending. Held returns them
  /// as a list, in any order.
  void ForEach(State held, const std::function<void(U128)>& visit) const;
  std::vector<U128> Held(State held) const;

  /// Visits maximal runs of free values at or above `from`, ascending, until `visit` returns false.
  void ForEachFreeRun(U128 from, const std::function<bool(Interval)>& visit) const;

  /// Puts all of `numbers`, which must be free, in any order. This is far cheaper than one by one.
  void PutAll(std::span<const U128> numbers, State state);

  size_t MemoryBytes() const;

 private:
  static constexpr size_t kFanOut = 32;

  /// Running sums: entry i counts the free values in the children before the i-th. The sums are
  /// signed because the baseline x86-64 can compare only signed integers several at a time.
  struct alignas(64) Leaf {
    std::array<int16_t, kFanOut> free_before{};
  };
  struct alignas(64) Node {
    std::array<int32_t, kFanOut> free_before{};
  };

  struct FreeDeleter {
    void operator()(uint64_t* words) const { std::free(words); }
  };
  /// Allocated by calloc, so that untouched pages of a large plane cost nothing.
  using Plane = std::unique_ptr<uint64_t[], FreeDeleter>;

  Plane MakePlane() const;
  uint64_t FreeWord(size_t word) const;
  uint64_t HeldWord(size_t word, State held) const;
  void SetBits(uint64_t number, State state);
  void BuildCounters();
  void AddToCounters(size_t word, int delta);
  uint64_t SelectFree(uint64_t k) const;
  uint64_t RankFree(uint64_t number) const;
  /// Returns the lowest free value at or above `from`, or nullopt if all those values are taken.
  std::optional<uint64_t> NextFree(uint64_t from) const;
  uint64_t NextNotFree(uint64_t from) const;

  uint64_t size_;
  size_t words_;
  // A value's two bits: 00 free, 01 taken, 10 cooling, 11 reserved. The high plane is allocated
  // when it is first needed. Numbers beyond the size read as taken.
  Plane low_;
  Plane high_;
  uint32_t free_ = 0;
  std::vector<Leaf> leaves_;
  std::vector<Node> nodes_;     ///< Level by level: the leaves' parents first, the root last.
  std::vector<size_t> levels_;  ///< Where each level starts in nodes_.
};

}  // namespace berth::alloc
