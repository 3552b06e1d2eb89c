// Changes and compares bitmaps as they are stored (RangeAllocation::data), without decoding them. A
// change of a few bits touches a few bytes, however wide the range. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/bitmaps/bitmap_layout.h"

namespace berth::allocation {

/// Values that become taken and free.
struct BitmapChange {
  std::vector<U128> takes = {};
  std::vector<U128> releases = {};
};

/// Why a change cannot be made.
struct BitmapProblem {
  enum class Kind : uint8_t { kTaken, kNoBit };

  Kind kind = Kind::kTaken;
  U128 value = 0;

  bool operator==(const BitmapProblem&) const = default;
};

/// Returns why a change cannot be made, or nullopt if it can. Every value to take must have a bit
/// and be free. Releasing a value that is free or has no bit is allowed and does nothing.
std::optional<BitmapProblem> CheckChange(const BitmapLayout& layout, const BitmapChange& change,
                                         std::string_view data);

/// Returns whether a bitmap of this size has room for the bits of the values to take.
bool FitsInto(const BitmapLayout& layout, const BitmapChange& change, size_t size);

/// Makes a change that has been checked and fits. Afterwards there may be zero bytes at the start.
void WriteChange(const BitmapLayout& layout, const BitmapChange& change, std::span<char> data);

/// Returns the number of zero bytes at the start, which are not stored.
size_t LeadingZeros(std::string_view data);

/// Checks and makes a change: the bytes become what Kubernetes would store. Leaves them alone and
/// returns the problem if the change cannot be made.
std::optional<BitmapProblem> MakeChange(const BitmapLayout& layout, const BitmapChange& change,
                                        std::string& data);

struct BitmapDifference {
  std::vector<U128> taken = {};  ///< Ascending, as `released`.
  std::vector<U128> released = {};
  uint64_t bits_beyond = 0;  ///< Bits that differ and stand for no value.

  bool operator==(const BitmapDifference&) const = default;
};

/// Returns the change that leads from one bitmap to the other.
BitmapDifference CompareBitmaps(const BitmapLayout& layout, std::string_view before,
                                std::string_view after);

bool IsBitSet(std::string_view data, uint64_t bit);

}  // namespace berth::allocation
