#include "alloc/sparse_set.h"

#include <algorithm>

namespace berth::alloc {
namespace {

// With at most one value in 128 used, this many draws fail together about once in 10^134 picks.
constexpr int kMaxDraws = 64;

}  // namespace

template <typename Key>
const typename SparseSet<Key>::Set& SparseSet<Key>::SetOf(State held) const {
  if (held == State::kReserved) return reserved_;
  return held == State::kCooling ? cooling_ : taken_;
}

template <typename Key>
bool SparseSet<Key>::IsHeld(Key key) const {
  return taken_.contains(key) || (!reserved_.empty() && reserved_.contains(key)) ||
         (!cooling_.empty() && cooling_.contains(key));
}

template <typename Key>
State SparseSet<Key>::Get(U128 offset) const {
  const auto key = static_cast<Key>(offset);
  if (taken_.contains(key)) return State::kTaken;
  if (!reserved_.empty() && reserved_.contains(key)) return State::kReserved;
  if (!cooling_.empty() && cooling_.contains(key)) return State::kCooling;
  return exclusions_.Contains(offset) ? State::kExcluded : State::kFree;
}

template <typename Key>
State SparseSet<Key>::Put(U128 offset, State state) {
  if (state != State::kTaken && exclusions_.Contains(offset)) state = State::kExcluded;
  const auto key = static_cast<Key>(offset);
  const auto update = [key](Set& set, bool member) {
    if (member) {
      set.insert(key);
    } else if (!set.empty()) {
      set.erase(key);
    }
  };
  update(taken_, state == State::kTaken);
  update(reserved_, state == State::kReserved);
  update(cooling_, state == State::kCooling);
  return state;
}

template <typename Key>
U128 SparseSet<Key>::PickFree(base::Random& random) const {
  const U128 allowed = last_ - exclusions_.Total() + 1;
  for (int draw = 0; draw < kMaxDraws; ++draw) {
    const U128 offset = exclusions_.Unrank(base::UniformWide(random, allowed));
    if (!IsHeld(static_cast<Key>(offset))) return offset;
  }
  U128 free = 0;
  ForEachFreeRun(0, [&free](const Interval& run) {
    free += run.Size();
    return true;
  });
  U128 k = base::UniformWide(random, free);
  U128 picked = 0;
  ForEachFreeRun(0, [&](const Interval& run) {
    picked = run.first + k;
    if (k < run.Size()) return false;
    k -= run.Size();
    return true;
  });
  return picked;
}

template <typename Key>
std::optional<U128> SparseSet<Key>::NextFree(U128 from) const {
  while (true) {
    const Interval* excluded = exclusions_.Find(from);
    if (excluded == nullptr && !IsHeld(static_cast<Key>(from))) return from;
    if (excluded != nullptr) from = excluded->last;
    if (from == last_) return std::nullopt;
    ++from;
  }
}

template <typename Key>
std::optional<U128> SparseSet<Key>::PrevFree(U128 from) const {
  while (true) {
    const Interval* excluded = exclusions_.Find(from);
    if (excluded == nullptr && !IsHeld(static_cast<Key>(from))) return from;
    if (excluded != nullptr) from = excluded->first;
    if (from == 0) return std::nullopt;
    --from;
  }
}

template <typename Key>
void SparseSet<Key>::ForEach(State held, const std::function<void(U128)>& visit) const {
  const Set& set = SetOf(held);
  std::vector<Key> keys(set.begin(), set.end());
  std::sort(keys.begin(), keys.end());
  for (const Key key : keys) visit(key);
}

/// Ascending, disjoint, not touching.
template <typename Key>
std::vector<Interval> SparseSet<Key>::NotFreeRuns(U128 from) const {
  std::vector<Interval> runs;
  for (const Set* set : {&taken_, &reserved_, &cooling_}) {
    for (const Key key : *set) {
      if (key >= from) runs.push_back({key, key});
    }
  }
  for (const Interval& part : exclusions_.parts()) {
    if (part.last >= from) runs.push_back(part);
  }
  return MergedIntervals(std::move(runs));
}

template <typename Key>
void SparseSet<Key>::ForEachFreeRun(U128 from, const std::function<bool(Interval)>& visit) const {
  if (from > last_) return;
  for (const Interval& gap : NotFreeRuns(from)) {
    if (gap.first > from && !visit({from, gap.first - 1})) return;
    if (gap.last == last_) return;
    from = std::max(from, gap.last + 1);
  }
  visit({from, last_});
}

template <typename Key>
void SparseSet<Key>::TakeAll(std::span<const U128> offsets) {
  taken_.reserve(taken_.size() + offsets.size());
  for (const U128 offset : offsets) taken_.insert(static_cast<Key>(offset));
}

template <typename Key>
size_t SparseSet<Key>::MemoryBytes() const {
  // A flat_hash_set holds a key and a control byte for each slot.
  const size_t slots = taken_.capacity() + reserved_.capacity() + cooling_.capacity();
  return sizeof *this + slots * (sizeof(Key) + 1) +
         exclusions_.parts().capacity() * (sizeof(Interval) + sizeof(U128));
}

template class SparseSet<uint64_t>;
template class SparseSet<U128>;

}  // namespace berth::alloc
