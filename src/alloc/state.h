// The states of a value in a range, and counts per state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/uint128.h"

namespace berth::alloc {

/// Every value of a range is in exactly one of these states. An excluded value that a Service held
/// before it was excluded counts as taken until it is released.
enum class State : uint8_t { kFree, kTaken, kReserved, kCooling, kExcluded };

inline constexpr size_t kStates = 5;

/// The number of values of a band in each state.
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
