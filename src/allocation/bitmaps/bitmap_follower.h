// Follows the note about the form of allocations, and the bitmaps. Says which values become taken
// and free when a bitmap changes.
//
// A bitmap that a client has deleted says nothing about which values are taken. So what was known
// of it holds until there is a bitmap again; until then nothing new is taken.
//
// Threads: only the listener's thread uses it.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "allocation/bitmaps/bitmap_ranges.h"
#include "allocation/bitmaps/store_form.h"
#include "allocation/claims/allocation_form.h"
#include "state/change.h"

namespace berth::allocation {

/// Reads objects of the snapshot. Pure. Both functions are empty where there are records only.
struct FormReader {
  /// Returns the form that the note about it says, or nullopt if the object is not that note.
  std::function<std::optional<AllocationForm>(const state::Object& object)> form = {};
  /// Returns which bitmap the object is, or nullopt if it is no bitmap.
  std::function<std::optional<BitmapId>(const state::Object& object)> bitmap = {};
};

class BitmapFollower {
 public:
  explicit BitmapFollower(FormReader reader) : reader_(std::move(reader)) {}

  /// Returns the form that holds after the change, or nullopt if the change is not of the note.
  /// Without a note there are records.
  std::optional<AllocationForm> ReadForm(const state::Change& change) const;
  /// Sets the form by which bitmaps are read from now on.
  void SetForm(AllocationForm form) { form_ = form; }

  /// Appends the values that a change of a bitmap makes taken and free, if bitmaps count. Ignores
  /// changes of other objects.
  void Read(const state::Change& change, std::vector<StoredValues>& values);

  /// Returns all values whose bits are set.
  std::vector<StoredValues> All() const;

 private:
  const FormReader reader_;
  AllocationForm form_ = AllocationForm::kRecords;
  PerBitmap<state::ObjectPtr> bitmaps_;  // The last that existed.
};

}  // namespace berth::allocation
