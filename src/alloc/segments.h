// Which of many intervals, overlapping or not, contain a value: the line is cut where one begins or
// ends, and between two cuts the answer is the same. Immutable once made; not large unless hundreds
// of intervals have the same values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "alloc/layout.h"

namespace berth::alloc {

class Segments {
 public:
  Segments() = default;
  /// Intervals are known by their place; one that is nothing contains nothing.
  explicit Segments(std::span<const std::optional<Interval>> intervals);

  /// Those that contain it, the smallest first; of equal ones the first.
  std::span<const uint32_t> Of(U128 value) const;

  /// Whether an interval has a value in common with another one.
  bool Overlaps(uint32_t interval) const { return overlaps_[interval]; }

 private:
  struct Cut {
    U128 at = 0;  ///< From here to the next cut.
    uint32_t ids_begin = 0;
    uint32_t ids_size = 0;
  };

  std::vector<Cut> cuts_;  ///< Ascending.
  std::vector<uint32_t> ids_;
  std::vector<bool> overlaps_;
};

}  // namespace berth::alloc
