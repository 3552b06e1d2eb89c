// Bitmaps as they lie in the store, and as parts of writes. The snapshot keeps a bitmap as it is
// stored. What a write takes and releases becomes a shared put that changes only these bits. Pure;
// any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "allocation/bitmaps/bitmap_change.h"
#include "allocation/bitmaps/bitmap_layout.h"
#include "allocation/bitmaps/bitmap_ranges.h"
#include "allocation/claims/claims.h"
#include "base/result.h"
#include "commit/write.h"
#include "state/object.h"

namespace berth::allocation {

/// Where a bitmap lies.
struct BitmapKey {
  std::string_view key;
  std::string_view resource;  // As Kubernetes calls it in messages.
};
inline constexpr PerBitmap<BitmapKey> kBitmaps = {
    {{{"/registry/ranges/servicenodeports", "servicenodeportallocations"},
      {"/registry/ranges/secondaryserviceips", "serviceipallocations"},
      {"/registry/ranges/serviceips", "serviceipallocations"}}}};

inline std::string KeyOf(BitmapId bitmap) { return std::string(kBitmaps[bitmap].key); }

/// What a bitmap of the snapshot says. The views live as long as the object.
struct BitmapView {
  std::string_view range;
  std::string_view data;
};
BitmapView ViewOf(const state::Object& bitmap);

/// Returns a change of a bitmap as a part of a decision. The put fails if another range is stored,
/// and if there is no bitmap and a value is to be taken. If another server has taken a value, the
/// write is decided again. Without a bitmap, releasing a value does nothing.
commit::SharedPut BitmapPut(BitmapId bitmap, BitmapLayout layout, BitmapChange change);

/// Returns a put for each bitmap that a grant changes. The bit of a released value that another
/// Service holds too stays set. Empty if the grant has no bitmaps.
std::vector<commit::SharedPut> BitmapPuts(const Grant& grant);

/// Returns the stored bytes of a whole bitmap, to be put where there is no bitmap of that range.
std::string StoredBitmap(const RangeAllocation& bitmap);

}  // namespace berth::allocation
