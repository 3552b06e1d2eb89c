#include "allocation/bitmaps/store_form.h"

#include <utility>

namespace berth::allocation {

StoreForm::Change StoreForm::Set(AllocationForm form, int64_t revision) {
  const AllocationForm before = std::exchange(state_.form, form);
  state_.revision = revision;
  if (before == form) return Change::kNone;
  return BitmapsCount(before) == BitmapsCount(form) ? Change::kRanges : Change::kSource;
}

void StoreForm::AddTo(Grant& grant) const {
  grant.form = state_.form;
  grant.form_revision = state_.revision;
  grant.bitmaps = state_.bitmaps;
}

bool StoreForm::HasRoomFor(const PoolValue& value) const {
  if (state_.bitmaps == nullptr) return true;
  const std::optional<PoolBitmap>& bitmap = (*state_.bitmaps)[value.pool];
  return bitmap && bitmap->layout.BitOf(value.value);
}

void StoreForm::NoteRecord(const PoolValue& value, bool exists) {
  if (exists) {
    noted_records_[value.pool].insert(value.value);
  } else {
    noted_records_[value.pool].erase(value.value);
  }
}

std::vector<StoredValues> StoreForm::TakeNotedRecords() {
  std::vector<StoredValues> all;
  for (const PoolId pool : kAllPools) {
    const auto values = std::exchange(noted_records_[pool], {});
    all.push_back({.pool = pool, .taken = {values.begin(), values.end()}});
  }
  return all;
}

std::vector<alloc::RangeFacts::Part> StoreForm::Fit(alloc::RangeTable& table) {
  state_.bitmaps = nullptr;
  if (!WritesBitmaps(state_.form)) return {};
  const alloc::RangeTable all = table;
  state_.bitmaps = std::make_shared<const PoolBitmaps>(FitIntoBitmaps(table));
  return RowsLeftOut(all, table);
}

}  // namespace berth::allocation
