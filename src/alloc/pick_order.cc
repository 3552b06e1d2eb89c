#include "alloc/pick_order.h"

#include <utility>

namespace berth::alloc {

PickOrder::PickOrder(std::vector<Range> ranges)
    : ranges_(std::move(ranges)), heap_(ranges_.size()), places_(ranges_.size()) {
  for (uint32_t i = 0; i < ranges_.size(); ++i) {
    total_ += ranges_[i].free;
    Place(i, i);
    MoveUp(i);
  }
}

/// Returns whether range a is picked before range b. Ranges with nothing free come last. Of equal
/// ranges the one with the lower position comes first.
bool PickOrder::Before(uint32_t a, uint32_t b) const {
  const Range& left = ranges_[a];
  const Range& right = ranges_[b];
  if ((left.free == 0) != (right.free == 0)) return left.free != 0;
  if (left.priority != right.priority) return left.priority > right.priority;
  if (left.free != right.free) return left.free > right.free;
  return a < b;
}

void PickOrder::SetFree(uint32_t range, uint64_t free) {
  const uint64_t before = std::exchange(ranges_[range].free, free);
  if (before == free) return;
  total_ += free;
  total_ -= before;
  if (free > before) {
    MoveUp(places_[range]);
  } else {
    MoveDown(places_[range]);
  }
}

void PickOrder::MoveUp(size_t at) {
  const uint32_t range = heap_[at];
  while (at > 0) {
    const size_t parent = (at - 1) / 2;
    if (!Before(range, heap_[parent])) break;
    Place(at, heap_[parent]);
    at = parent;
  }
  Place(at, range);
}

void PickOrder::MoveDown(size_t at) {
  const uint32_t range = heap_[at];
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && Before(heap_[child + 1], heap_[child])) ++child;
    if (!Before(heap_[child], range)) break;
    Place(at, heap_[child]);
    at = child;
  }
  Place(at, range);
}

std::optional<uint32_t> PickOrder::First() const {
  if (heap_.empty() || ranges_[heap_.front()].free == 0) return std::nullopt;
  return heap_.front();
}

}  // namespace berth::alloc
