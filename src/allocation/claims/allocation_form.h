// The form in which the store keeps allocations: a record for each value, or a bitmap for each
// range. While a store changes from one form to the other, every write keeps both forms, and the
// old one counts until the change is complete. Pure.
#pragma once

#include <cstdint>

namespace berth::allocation {

enum class AllocationForm : uint8_t { kRecords, kBitmaps, kToRecords, kToBitmaps };

constexpr bool WritesRecords(AllocationForm form) { return form != AllocationForm::kBitmaps; }
constexpr bool WritesBitmaps(AllocationForm form) { return form != AllocationForm::kRecords; }

/// Returns whether a value is taken if its bit is set. Otherwise it is taken if it has a record.
constexpr bool BitmapsCount(AllocationForm form) {
  return form == AllocationForm::kBitmaps || form == AllocationForm::kToRecords;
}

}  // namespace berth::allocation
