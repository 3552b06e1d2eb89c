#include "alloc/pool.h"

#include <algorithm>

namespace berth::alloc {
namespace {

bool IsNarrow(U128 value) { return value <= UINT32_MAX; }

U128 Pickable(const Index& index) {
  const U128 dynamic = index.Counts(Band::kDynamic)[State::kFree];
  return index.layout().strict() ? dynamic : dynamic + index.Counts(Band::kStatic)[State::kFree];
}

U128 SaturatedSum(U128 a, U128 b) { return a > base::kU128Max - b ? base::kU128Max : a + b; }

}  // namespace

bool ValueSet::Insert(U128 value) {
  if (IsNarrow(value)) return narrow_.insert(static_cast<uint32_t>(value)).second;
  return wide_.insert(value).second;
}

bool ValueSet::Erase(U128 value) {
  if (IsNarrow(value)) return narrow_.erase(static_cast<uint32_t>(value)) > 0;
  return wide_.erase(value) > 0;
}

bool ValueSet::Contains(U128 value) const {
  if (IsNarrow(value)) return narrow_.contains(static_cast<uint32_t>(value));
  return wide_.contains(value);
}

std::vector<U128> ValueSet::In(const Interval& interval) const {
  std::vector<U128> found;
  for (const uint32_t value : narrow_) {
    if (interval.Contains(value)) found.emplace_back(value);
  }
  for (const U128 value : wide_) {
    if (interval.Contains(value)) found.push_back(value);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void Pool::SetRanges(std::vector<RangeRow> rows) {
  std::vector<Range> next;
  next.reserve(rows.size());
  for (RangeRow& row : rows) {
    const auto same = std::find_if(ranges_.begin(), ranges_.end(), [&row](const Range& range) {
      return range.name == row.name && range.text == row.text && range.index.layout() == row.layout;
    });
    if (same != ranges_.end()) {
      next.push_back(std::move(*same));
      ranges_.erase(same);
      continue;
    }
    const std::optional<Interval> span = row.layout.span();
    const std::vector<U128> held = span ? held_.In(*span) : std::vector<U128>();
    next.push_back({.name = std::move(row.name),
                    .text = std::move(row.text),
                    .index = Index::Load(std::move(row.layout), held).index});
  }
  ranges_ = std::move(next);
}

bool Pool::Hold(U128 value) {
  if (!held_.Insert(value)) return false;
  for (Range& range : ranges_) range.index.Hold(value);
  return true;
}

bool Pool::Drop(U128 value) {
  if (!held_.Erase(value)) return false;
  for (Range& range : ranges_) (void)range.index.Release(value);
  return true;
}

Outcome Pool::Take(U128 value) {
  if (Find(value) == nullptr) return Outcome::kOutOfRange;
  if (IsHeld(value)) return Outcome::kTaken;
  Outcome outcome = Outcome::kOutOfRange;
  for (const Range& range : ranges_) {
    const std::optional<State> state = range.index.Get(value);
    if (state == State::kFree || state == State::kCooling) {
      Hold(value);
      return Outcome::kDone;
    }
    if (state) outcome = state == State::kExcluded ? Outcome::kExcluded : Outcome::kReserved;
  }
  return outcome;
}

std::optional<U128> Pool::TakeAny(base::Random& random) {
  const Range* best = nullptr;
  U128 most = 0;
  for (const Range& range : ranges_) {
    const U128 free = Pickable(range.index);
    if (free > most) {
      most = free;
      best = &range;
    }
  }
  if (best == nullptr) return std::nullopt;
  const std::optional<U128> value = best->index.Pick(random);
  if (value) Hold(*value);
  return value;
}

U128 Pool::Available() const {
  U128 total = 0;
  for (const Range& range : ranges_) total = SaturatedSum(total, Pickable(range.index));
  return total;
}

const Pool::Range* Pool::Find(U128 value) const {
  const auto found = std::find_if(ranges_.begin(), ranges_.end(), [value](const Range& range) {
    return range.index.layout().Contains(value);
  });
  return found == ranges_.end() ? nullptr : &*found;
}

}  // namespace berth::alloc
