// The form that the store keeps allocations in, and what bitmaps say.
#include <string_view>
#include <utility>

#include "alloc/bitmap_change.h"
#include "commit/allocations.h"
#include "commit/bitmaps.h"

namespace berth::commit {

using alloc::BitmapId;
using alloc::State;

namespace {

/// A bitmap as it lies in the picture.
struct Bits {
  std::optional<alloc::BitmapForm> form = {};
  PoolId pool = PoolId::kIpv4;
  std::string_view data = {};
};

Bits BitsOf(const state::ObjectPtr& object) {
  if (object == nullptr) return {};
  const BitmapView view = ViewOf(*object);
  Bits bits{.form = alloc::ParseBitmapForm(view.range), .data = view.data};
  if (const auto cidr = ip::ParseCidr(view.range)) {
    bits.pool = PoolOf(cidr->family());
  } else {
    bits.pool = PoolId::kPorts;
  }
  return bits;
}

}  // namespace

Allocations::FormState Allocations::Form() const {
  base::MutexLock lock(mutex_);
  return form_;
}

std::optional<AllocationForm> Allocations::ReadForm(const state::Change& change) const {
  auto form = reader_.form ? reader_.form(*change.Last()) : std::nullopt;
  if (form && !change.object) form = AllocationForm::kRecords;  // As before there was a note.
  return form;
}

/// When the other form begins to count, what is held is read from that one.
void Allocations::SetForm(AllocationForm form, int64_t revision, Calls& calls) {
  form_read_ = form;
  base::MutexLock lock(mutex_);
  const AllocationForm before = std::exchange(form_.form, form);
  form_.revision = revision;
  if (before == form) return;
  const bool anew = BitmapsCount(before) != BitmapsCount(form);
  if (anew) BeginAnew();
  MakeTable(calls);
  if (anew) HoldWhatCounts(calls);
}

/// Nothing is held but what writes in flight take.
void Allocations::BeginAnew() {
  kept_for_.clear();
  for (PoolState& state : pools_) {
    earlier_changes_ += state.pool.Changes() + 1;
    state.pool = alloc::Pool();
    state.kept.clear();
    state.cooling.clear();
    for (auto& [value, flight] : state.flights) {
      flight.stored = State::kFree;
      if (flight.taken) state.pool.Hold(value);
    }
  }
}

void Allocations::HoldWhatCounts(Calls& calls) {
  if (!BitmapsCount(form_.form)) {
    for (size_t i = 0; i < kPools; ++i) {
      for (const U128 value : std::exchange(other_records_[i], {})) {
        PutStored({.pool = static_cast<PoolId>(i), .value = value}, State::kTaken, calls);
      }
    }
    return;
  }
  for (const state::ObjectPtr& object : bitmap_objects_) {
    const Bits bits = BitsOf(object);
    if (!bits.form) continue;
    const auto all = alloc::CompareBitmaps(*bits.form, {}, bits.data);
    ApplyBits({.pool = bits.pool, .taken = all.taken}, calls);
  }
}

/// A bitmap that somebody has deleted says nothing about who has what: what was known of it holds
/// until there is one again, and until then nothing is taken.
void Allocations::ReadBitmap(const state::Change& change, BitmapId id, Reading& reading) {
  state::ObjectPtr& known = bitmap_objects_[static_cast<size_t>(id)];
  if (!change.object) {
    if (!WritesBitmaps(form_read_)) known = nullptr;
    return;
  }
  const state::ObjectPtr last = std::exchange(known, change.object);
  if (!BitmapsCount(form_read_)) return;
  const Bits before = BitsOf(last);
  const Bits now = BitsOf(known);
  const bool same = before.form && now.form && before.form->range() == now.form->range();
  if (before.form && !same) {
    reading.bits.push_back(
        {.pool = before.pool, .given = alloc::CompareBitmaps(*before.form, before.data, {}).given});
  }
  if (!now.form) return;
  alloc::BitmapDifference step =
      alloc::CompareBitmaps(*now.form, same ? before.data : std::string_view(), now.data);
  reading.bits.push_back(
      {.pool = now.pool, .taken = std::move(step.taken), .given = std::move(step.given)});
}

void Allocations::ApplyBits(const BitmapStep& step, Calls& calls) {
  for (const U128 value : step.given) {
    PutStored({.pool = step.pool, .value = value}, State::kFree, calls);
  }
  for (const U128 value : step.taken) {
    PutStored({.pool = step.pool, .value = value}, State::kTaken, calls);
  }
}

}  // namespace berth::commit
