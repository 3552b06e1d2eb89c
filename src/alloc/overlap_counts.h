// Counts of held values where ranges overlap, so that each of these values can be counted once.
//
// All that overlapping ranges contain is cut where one of these ranges, or one of their exclusions,
// begins or ends. The values between two cuts are a *cell*: the same ranges contain all of them,
// and the same ranges exclude all of them. Where no ranges overlap there are no cells, and nothing
// is counted.
//
// Not thread-safe. A change of a value costs the logarithm of the number of cells.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alloc/layout.h"
#include "alloc/segments.h"
#include "alloc/state.h"

namespace berth::alloc {

class OverlapCounts {
 public:
  /// A part of the pool, and how many of its values are held.
  struct Cell {
    Interval values = {};
    uint64_t taken = 0;
    uint64_t reserved = 0;
  };

  OverlapCounts() = default;
  /// Makes the cells of all layouts that overlap with another one, without held values. `segments`
  /// is made of the spans of the layouts.
  OverlapCounts(std::span<const Layout* const> layouts, const Segments& segments);

  const std::vector<Cell>& cells() const { return cells_; }

  /// Counts a value that changes its state. Values outside the cells are ignored.
  void Change(U128 value, State from, State to);

 private:
  std::vector<Cell> cells_;  ///< Ascending, disjoint.
};

}  // namespace berth::alloc
