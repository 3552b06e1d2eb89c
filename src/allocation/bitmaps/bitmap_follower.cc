#include "allocation/bitmaps/bitmap_follower.h"

#include <string_view>
#include <utility>

#include "allocation/bitmaps/bitmap_change.h"
#include "allocation/bitmaps/stored_bitmaps.h"
#include "ip/cidr.h"

namespace berth::allocation {
namespace {

/// A bitmap of the snapshot. It has no layout if there is no bitmap or if its range is unreadable.
struct ReadBits {
  std::optional<BitmapLayout> layout = {};
  PoolId pool = PoolId::kIpv4;
  std::string_view data = {};
};

ReadBits BitsOf(const state::ObjectPtr& object) {
  if (object == nullptr) return {};
  const BitmapView view = ViewOf(*object);
  const auto cidr = ip::ParseCidr(view.range);
  return {.layout = ParseBitmapLayout(view.range),
          .pool = cidr ? PoolOf(cidr->family()) : PoolId::kPorts,
          .data = view.data};
}

}  // namespace

std::optional<AllocationForm> BitmapFollower::ReadForm(const state::Change& change) const {
  auto form = reader_.form ? reader_.form(*change.Last()) : std::nullopt;
  if (form && !change.object) form = AllocationForm::kRecords;
  return form;
}

void BitmapFollower::Read(const state::Change& change, std::vector<StoredValues>& values) {
  const auto id = reader_.bitmap ? reader_.bitmap(*change.Last()) : std::nullopt;
  if (!id) return;
  state::ObjectPtr& known = bitmaps_[*id];
  if (!change.object) {
    if (!WritesBitmaps(form_)) known = nullptr;
    return;
  }
  const state::ObjectPtr last = std::exchange(known, change.object);
  if (!BitmapsCount(form_)) return;
  const ReadBits before = BitsOf(last);
  const ReadBits now = BitsOf(known);
  const bool same = before.layout && now.layout && before.layout->range() == now.layout->range();
  if (before.layout && !same) {
    values.push_back({.pool = before.pool,
                      .released = CompareBitmaps(*before.layout, before.data, {}).released});
  }
  if (!now.layout) return;
  BitmapDifference step =
      CompareBitmaps(*now.layout, same ? before.data : std::string_view(), now.data);
  values.push_back(
      {.pool = now.pool, .taken = std::move(step.taken), .released = std::move(step.released)});
}

std::vector<StoredValues> BitmapFollower::All() const {
  std::vector<StoredValues> all;
  for (const state::ObjectPtr& object : bitmaps_) {
    const ReadBits bits = BitsOf(object);
    if (!bits.layout) continue;
    all.push_back({.pool = bits.pool, .taken = CompareBitmaps(*bits.layout, {}, bits.data).taken});
  }
  return all;
}

}  // namespace berth::allocation
