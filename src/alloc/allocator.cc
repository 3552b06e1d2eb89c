#include "alloc/allocator.h"

#include <utility>

namespace berth::alloc {

IndexedAllocator::IndexedAllocator(std::string range, Index index, base::Random& random)
    : range_(std::move(range)), index_(std::move(index)), random_(random) {}

Outcome IndexedAllocator::Allocate(U128 value) {
  const Outcome outcome = index_.Take(value);
  if (outcome == Outcome::kDone && given_.erase(value) == 0) taken_.insert(value);
  return outcome;
}

std::optional<U128> IndexedAllocator::AllocateNext() {
  const std::optional<U128> value = index_.TakeAny(random_);
  if (value && given_.erase(*value) == 0) taken_.insert(*value);
  return value;
}

void IndexedAllocator::Release(U128 value) {
  const bool was_taken = index_.Release(value) == Outcome::kDone;
  if (was_taken && taken_.erase(value) == 0) given_.insert(value);
}

void IndexedAllocator::ForEach(const std::function<void(U128)>& visit) const {
  index_.ForEach(State::kTaken, visit);
}

BitmapChange IndexedAllocator::Changes() const {
  return {.takes = {taken_.begin(), taken_.end()}, .gives = {given_.begin(), given_.end()}};
}

RecordAllocator::RecordAllocator(std::string range, Layout layout, std::span<const U128> stored,
                                 base::Random& random)
    : IndexedAllocator(std::move(range), Index::Load(std::move(layout), stored).index, random) {}

base::Result<BitmapAllocator> BitmapAllocator::Load(const BitmapForm& form, Layout layout,
                                                    RangeAllocation stored, base::Random& random) {
  const auto decoded = form.Decode(stored);
  if (!decoded) return tl::unexpected(decoded.error());
  return BitmapAllocator(form, std::move(stored),
                         Index::Load(std::move(layout), decoded->values).index, random);
}

BitmapAllocator::BitmapAllocator(const BitmapForm& form, RangeAllocation stored, Index index,
                                 base::Random& random)
    : IndexedAllocator(form.range(), std::move(index), random),
      form_(form),
      stored_(std::move(stored)) {}

RangeAllocation BitmapAllocator::Stored() const {
  RangeAllocation now = stored_;
  // Nothing can stand in the way: the index says what is free, and all of it has a bit.
  MakeChange(form_, Changes(), now.data);
  return now;
}

}  // namespace berth::alloc
