// Bitmaps of ranges as parts of writes: what is stored goes into the picture as it is, and what a
// write takes and gives back becomes a shared put that changes just these bits. Pure; any thread.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "alloc/bitmap_change.h"
#include "alloc/range_allocation.h"
#include "base/result.h"
#include "commit/allocations.h"
#include "commit/write.h"
#include "state/object.h"
#include "state/wire_text.h"

namespace berth::commit {

/// Where bitmaps lie.
struct BitmapKey {
  std::string_view key;
  std::string_view resource;  // As Kubernetes calls it in messages.
};
inline constexpr std::array<BitmapKey, 3> kBitmaps = {
    {{"/registry/ranges/servicenodeports", "servicenodeportallocations"},
     {"/registry/ranges/secondaryserviceips", "serviceipallocations"},
     {"/registry/ranges/serviceips", "serviceipallocations"}}};
inline constexpr int kPortBitmap = 0;
inline constexpr int kSecondaryBitmap = 1;
inline constexpr int kPrimaryBitmap = 2;

/// For state::Resource::decode. The stored bytes are what is hidden with the object.
base::Result<state::WireText> BitmapToWire(std::string_view stored);

/// What an object of the picture says. The views live as long as it.
struct BitmapView {
  std::string_view range;
  std::string_view data;
};
BitmapView ViewOf(const state::Object& bitmap);

/// The change as a part of a decision; `bitmap` is one of the above. It fails when another range is
/// stored, and when something is to be taken and there is no bitmap; a write whose value another
/// server has taken is decided again. Where there is no bitmap nothing needs to be given back.
SharedPut BitmapPut(int bitmap, alloc::BitmapForm form, alloc::BitmapChange change);

/// What a grant takes and gives, in all bitmaps that are written; nothing if none are.
std::vector<SharedPut> BitmapPuts(const Allocations::Grant& grant);

/// A whole bitmap, to be put where there is none or another range's.
std::string StoredBitmap(const alloc::RangeAllocation& bitmap);

}  // namespace berth::commit
