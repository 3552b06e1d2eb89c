// Chooses the range that the next pick comes from: the one with the highest priority that has a
// free value, and among those the one with the most free values. The order is maintained as counts
// change. A change costs the logarithm of the number of ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/uint128.h"

namespace berth::alloc {

/// Not thread-safe. A range is identified by its position.
class PickOrder {
 public:
  struct Range {
    int64_t priority = 0;
    uint64_t free = 0;  ///< Number of pickable values; 0 also if the range is closed.
  };

  PickOrder() = default;
  explicit PickOrder(std::vector<Range> ranges);

  void SetFree(uint32_t range, uint64_t free);
  uint64_t Free(uint32_t range) const { return ranges_[range].free; }

  /// Returns the range to pick from, or nullopt if no range has a free value.
  std::optional<uint32_t> First() const;

  /// Returns the sum over all ranges.
  base::U128 TotalFree() const { return total_; }

 private:
  bool Before(uint32_t a, uint32_t b) const;
  void MoveUp(size_t at);
  void MoveDown(size_t at);
  void Place(size_t at, uint32_t range) {
    heap_[at] = range;
    places_[range] = at;
  }

  std::vector<Range> ranges_;
  std::vector<uint32_t> heap_;  ///< Each entry comes before its two children.
  std::vector<size_t> places_;  ///< Position of each range in the heap.
  base::U128 total_ = 0;        ///< Cannot overflow: there are fewer than 2^64 ranges.
};

}  // namespace berth::alloc
