// Finds which of many intervals contain a value. The intervals may overlap. The line is cut where
// an interval begins or ends, and between two cuts the answer is the same. Immutable. It is small
// unless hundreds of intervals share the same values.
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
  /// An interval is identified by its position. Nullopt stands for an interval without values.
  explicit Segments(std::span<const std::optional<Interval>> intervals);

  /// Returns the intervals that contain the value, the smallest first. Equal ones are in order of
  /// position.
  std::span<const uint32_t> Of(U128 value) const;

  /// Visits the parts between two cuts in ascending order, each with the intervals that contain it,
  /// as Of returns them. Parts that no interval contains may be visited too.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (size_t i = 0; i < cuts_.size(); ++i) {
      const U128 last = i + 1 < cuts_.size() ? cuts_[i + 1].at - 1 : base::kU128Max;
      visit(Interval{.first = cuts_[i].at, .last = last}, IdsOf(cuts_[i]));
    }
  }

  /// Returns whether an interval has a value in common with another one.
  bool Overlaps(uint32_t interval) const { return overlaps_[interval]; }

 private:
  struct Cut {
    U128 at = 0;  ///< Start of the segment, which ends at the next cut.
    uint32_t ids_begin = 0;
    uint32_t ids_size = 0;
  };

  std::span<const uint32_t> IdsOf(const Cut& cut) const {
    return std::span(ids_).subspan(cut.ids_begin, cut.ids_size);
  }

  std::vector<Cut> cuts_;  ///< Ascending.
  std::vector<uint32_t> ids_;
  std::vector<bool> overlaps_;
};

}  // namespace berth::alloc
