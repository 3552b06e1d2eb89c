#include "alloc/sparse_set.h"

#include <algorithm>

namespace berth::alloc {

template <typename Key>
const typename SparseSet<Key>::Set& SparseSet<Key>::SetOf(State held) const {
  if (held == State::kReserved) return reserved_;
  return held == State::kCooling ? cooling_ : taken_;
}

template <typename Key>
typename SparseSet<Key>::Set& SparseSet<Key>::SetOf(State held) {
  return const_cast<Set&>(std::as_const(*this).SetOf(held));
}

template <typename Key>
State SparseSet<Key>::Get(U128 number) const {
  const auto key = static_cast<Key>(number);
  if (taken_.contains(key)) return State::kTaken;
  if (!reserved_.empty() && reserved_.contains(key)) return State::kReserved;
  if (!cooling_.empty() && cooling_.contains(key)) return State::kCooling;
  return State::kFree;
}

/// Erases a key and shrinks the set if that is worthwhile, because hash sets do not shrink by
/// themselves.
template <typename Key>
void SparseSet<Key>::Erase(Set& set, Key key) {
  constexpr size_t kWorthShrinking = 1024;
  set.erase(key);
  if (set.capacity() >= kWorthShrinking && set.size() < set.capacity() / 8) set.rehash(0);
}

template <typename Key>
void SparseSet<Key>::Put(U128 number, State state) {
  const auto key = static_cast<Key>(number);
  for (const State held : {State::kTaken, State::kReserved, State::kCooling}) {
    Set& set = SetOf(held);
    if (state == held) {
      set.insert(key);
    } else if (!set.empty()) {
      Erase(set, key);
    }
  }
}

template <typename Key>
U128 SparseSet<Key>::PickFree(base::Random& random) const {
  while (true) {
    const U128 number = base::UniformWide(random, last_ + 1);
    if (IsFree(number)) return number;
  }
}

template <typename Key>
std::vector<U128> SparseSet<Key>::Held(State held) const {
  const Set& set = SetOf(held);
  return {set.begin(), set.end()};
}

template <typename Key>
void SparseSet<Key>::ForEach(State held, const std::function<void(U128)>& visit) const {
  std::vector<U128> numbers = Held(held);
  std::sort(numbers.begin(), numbers.end());
  for (const U128 number : numbers) visit(number);
}

template <typename Key>
void SparseSet<Key>::ForEachFreeRun(U128 from, const std::function<bool(Interval)>& visit) const {
  if (from > last_) return;
  std::vector<Interval> held;
  for (const Set* set : {&taken_, &reserved_, &cooling_}) {
    for (const Key key : *set) {
      if (key >= from) held.push_back({key, key});
    }
  }
  for (const Interval& gap : MergedIntervals(std::move(held))) {
    if (gap.first > from && !visit({from, gap.first - 1})) return;
    if (gap.last == last_) return;
    from = gap.last + 1;
  }
  visit({from, last_});
}

template <typename Key>
void SparseSet<Key>::PutAll(std::span<const U128> numbers, State state) {
  Set& set = SetOf(state);
  set.reserve(set.size() + numbers.size());
  for (const U128 number : numbers) set.insert(static_cast<Key>(number));
}

template <typename Key>
size_t SparseSet<Key>::MemoryBytes() const {
  // A flat_hash_set holds a key and a control byte for each slot.
  const size_t slots = taken_.capacity() + reserved_.capacity() + cooling_.capacity();
  return sizeof *this + slots * (sizeof(Key) + 1);
}

template class SparseSet<uint64_t>;
template class SparseSet<U128>;

}  // namespace berth::alloc
