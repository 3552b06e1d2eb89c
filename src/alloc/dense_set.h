// The states of up to 2^30 numbered values, two bits each, with a tree of counters that finds the
// k-th free value in the same few steps however full the set is.
//
// Where not to use it: memory follows the size of the set (up to a third of a byte per value), so a
// wide and nearly empty range belongs in a SparseSet.
//
// How the k-th free value is found, on a toy with words of 4 values and a fan-out of 2
// (`x` is not free):
//
//     values     x..x  xxxx  ....  x..x
//     free         2     0     4     2
//     leaves     [0,    2]   [0,    4]     free values before each word, within the leaf
//     root       [0,          2]           free values before each leaf
//
//   k = 3: the last sum of the root that is at most 3 is 2, the second leaf's: go there with
//   k = 3 - 2 = 1. The last sum of that leaf that is at most 1 is 0, its first word's: the free
//   value with k = 1 of that word is its second one.
//   Here a word is 64 values and leaves and nodes have 32 running sums, which the compiler compares
//   several at a time and without a branch. Taking or releasing a value adds to one leaf and one
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

  /// `state` is anything but kExcluded, which is the owner's business.
  void Put(U128 number, State state);

  /// One free value, each equally likely; there must be one.
  U128 PickFree(base::Random& random) const;

  /// The nearest free value at or above, at or below.
  std::optional<U128> NextFree(U128 from) const;
  std::optional<U128> PrevFree(U128 from) const;

  /// Values that are kTaken, kReserved or kCooling, ascending; and as a list, in any order.
  void ForEach(State held, const std::function<void(U128)>& visit) const;
  std::vector<U128> Held(State held) const;

  /// Maximal runs of free values at or above `from`, ascending, until `visit` returns false.
  void ForEachFreeRun(U128 from, const std::function<bool(Interval)>& visit) const;

  /// Puts all of `numbers`, which must be free, in any order; far cheaper than one by one.
  void PutAll(std::span<const U128> numbers, State state);

  size_t MemoryBytes() const;

 private:
  static constexpr size_t kFanOut = 32;

  /// Running sums: free values in the children before the i-th. Signed, because that is what the
  /// baseline x86-64 can compare several at a time.
  struct alignas(64) Leaf {
    std::array<int16_t, kFanOut> free_before{};
  };
  struct alignas(64) Node {
    std::array<int32_t, kFanOut> free_before{};
  };

  struct FreeDeleter {
    void operator()(uint64_t* words) const { std::free(words); }
  };
  /// From calloc, so that pages of a large plane that nobody has touched cost nothing.
  using Plane = std::unique_ptr<uint64_t[], FreeDeleter>;

  Plane MakePlane() const;
  uint64_t FreeWord(size_t word) const;
  uint64_t HeldWord(size_t word, State held) const;
  void SetBits(uint64_t number, State state);
  void BuildCounters();
  void AddToCounters(size_t word, int delta);
  uint64_t SelectFree(uint64_t k) const;
  uint64_t RankFree(uint64_t number) const;
  uint64_t NextNotFree(uint64_t from) const;

  uint64_t size_;
  size_t words_;
  // A value's two bits: 00 free, 01 taken, 10 cooling, 11 reserved. The high plane is made when
  // first needed. Numbers beyond the size read as taken.
  Plane low_;
  Plane high_;
  uint32_t free_ = 0;
  std::vector<Leaf> leaves_;
  std::vector<Node> nodes_;     ///< level by level, the leaves' parents first, the root last
  std::vector<size_t> levels_;  ///< where each level starts in nodes_
};

}  // namespace berth::alloc
