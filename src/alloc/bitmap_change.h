// Changing and comparing bitmaps as they are stored (RangeAllocation::data), without decoding them:
// a few bits cost a few bytes, however wide the range. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alloc/range_allocation.h"

namespace berth::alloc {

/// Values that become taken and free.
struct BitmapChange {
  std::vector<U128> takes = {};
  std::vector<U128> gives = {};
};

/// Why a change cannot be made.
struct BitmapProblem {
  enum class Kind : uint8_t { kTaken, kNoBit };

  Kind kind = Kind::kTaken;
  U128 value = 0;

  bool operator==(const BitmapProblem&) const = default;
};

/// Every value to be taken must have a bit and be free; to give back what is free, or has no bit,
/// is fine.
std::optional<BitmapProblem> CheckChange(const BitmapForm& form, const BitmapChange& change,
                                         std::string_view data);

/// Whether the bytes are long enough for what is taken.
bool FitsInto(const BitmapForm& form, const BitmapChange& change, size_t size);

/// A change that has been checked and fits. There may be zero bytes at the beginning afterwards.
void WriteChange(const BitmapForm& form, const BitmapChange& change, std::span<char> data);

/// Zero bytes at the beginning, which are not stored.
size_t LeadingZeros(std::string_view data);

/// All of it: the bytes become what Kubernetes would store, or stay as they are.
std::optional<BitmapProblem> MakeChange(const BitmapForm& form, const BitmapChange& change,
                                        std::string& data);

struct BitmapDifference {
  std::vector<U128> taken = {};  ///< ascending, as `given`
  std::vector<U128> given = {};
  uint64_t bits_beyond = 0;  ///< that differ and stand for no value

  bool operator==(const BitmapDifference&) const = default;
};

/// What leads from one to the other.
BitmapDifference CompareBitmaps(const BitmapForm& form, std::string_view before,
                                std::string_view after);

bool IsBitSet(std::string_view data, uint64_t bit);

}  // namespace berth::alloc
