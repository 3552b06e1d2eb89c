// What a value of a range can be, and how the bands count it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/uint128.h"

namespace berth::alloc {

/// Every value of a range is in exactly one of these. An excluded value that a Service held before
/// it was excluded counts as taken until it is released.
enum class State : uint8_t { kFree, kTaken, kReserved, kCooling, kExcluded };

inline constexpr size_t kStates = 5;

/// How many values of a band are in each state.
class StateCounts {
 public:
  base::U128& operator[](State state) { return counts_[static_cast<size_t>(state)]; }
  base::U128 operator[](State state) const { return counts_[static_cast<size_t>(state)]; }

  base::U128 Total() const {
    base::U128 total = 0;
    for (const base::U128 count : counts_) total += count;
    return total;
  }

  StateCounts& operator+=(const StateCounts& other) {
    for (size_t i = 0; i < kStates; ++i) counts_[i] += other.counts_[i];
    return *this;
  }

  bool operator==(const StateCounts&) const = default;

 private:
  std::array<base::U128, kStates> counts_{};
};

}  // namespace berth::alloc
