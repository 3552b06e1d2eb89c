// In which form the store keeps who has which value: a record for each value, or a bitmap for each
// range. A store is in one of the two, or on the way from one to the other: then every write keeps
// both, and the one that it comes from counts. Pure.
#pragma once

#include <cstdint>

namespace berth::commit {

enum class AllocationForm : uint8_t { kRecords, kBitmaps, kToRecords, kToBitmaps };

constexpr bool WritesRecords(AllocationForm form) { return form != AllocationForm::kBitmaps; }
constexpr bool WritesBitmaps(AllocationForm form) { return form != AllocationForm::kRecords; }

/// Whether a value is taken if its bit says so; else if it has a record.
constexpr bool BitmapsCount(AllocationForm form) {
  return form == AllocationForm::kBitmaps || form == AllocationForm::kToRecords;
}

}  // namespace berth::commit
