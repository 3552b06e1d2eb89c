#include "inspect/free_near.h"

#include <algorithm>
#include <optional>

namespace berth::inspect {
namespace {

using alloc::Interval;
using base::U128;

/// Walks over the free values of a part in one direction.
class FreeWalk {
 public:
  /// `up` walks from `start` to the end of the part, otherwise the walk goes down to its beginning.
  FreeWalk(const Census& census, const RangeRef& range, const Interval& part,
           std::optional<U128> start, bool up)
      : census_(census), range_(range), part_(part), up_(up), next_(start) {
    Settle();
  }

  const std::optional<U128>& value() const { return next_; }
  void Advance() {
    Step(*next_);
    Settle();
  }

 private:
  /// Goes on to the next free value, if the current one is not free.
  void Settle() {
    while (next_) {
      if (const Interval* excluded = ExcludedAt(*next_)) {
        Step(up_ ? excluded->last : excluded->first);
        continue;
      }
      if (census_.StateIn(*range_.row, {.pool = range_.pool, .value = *next_}) ==
          alloc::State::kFree) {
        return;
      }
      Step(*next_);
    }
  }

  void Step(U128 from) {
    const U128 end = up_ ? part_.last : part_.first;
    const bool ends = up_ ? from >= end : from <= end;
    next_ = ends ? std::nullopt : std::optional<U128>(up_ ? from + 1 : from - 1);
  }

  const Interval* ExcludedAt(U128 value) const {
    const auto& all = range_.row->layout.excluded();
    const auto at = std::ranges::lower_bound(all, value, {}, &Interval::last);
    return at != all.end() && at->Contains(value) ? &*at : nullptr;
  }

  const Census& census_;
  const RangeRef& range_;
  const Interval& part_;
  bool up_;
  std::optional<U128> next_;
};

}  // namespace

std::vector<U128> FreeNear(const Census& census, const RangeRef& range, const Interval& part,
                           U128 value, size_t most) {
  const U128 start = std::clamp(value, part.first, part.last);
  const auto below = start > part.first ? std::optional<U128>(start - 1) : std::nullopt;
  FreeWalk up(census, range, part, start, true);
  FreeWalk down(census, range, part, below, false);
  const auto distance = [value](U128 other) {
    return other > value ? other - value : value - other;
  };
  std::vector<U128> found;
  while (found.size() < most && (up.value() || down.value())) {
    const bool take_up =
        up.value() && (!down.value() || distance(*up.value()) <= distance(*down.value()));
    FreeWalk& walk = take_up ? up : down;
    found.push_back(*walk.value());
    walk.Advance();
  }
  return found;
}

}  // namespace berth::inspect
