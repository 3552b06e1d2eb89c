// The allocator's reference model. It is slow and obviously correct: it keeps a map of the held
// values and answers every question by looking at all of it.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "alloc/index.h"
#include "alloc/layout.h"

namespace berth::alloc {

class IndexModel {
 public:
  explicit IndexModel(Layout layout) : layout_(std::move(layout)) {}

  std::optional<State> Get(U128 value) const {
    if (!layout_.Contains(value)) return std::nullopt;
    if (const auto held = held_.find(value); held != held_.end()) return held->second;
    for (const Interval& part : layout_.excluded()) {
      if (part.Contains(value)) return State::kExcluded;
    }
    return State::kFree;
  }

  Outcome Take(U128 value) {
    const auto state = Get(value);
    if (!state) return Outcome::kOutOfRange;
    if (*state == State::kTaken) return Outcome::kTaken;
    if (*state == State::kReserved) return Outcome::kReserved;
    if (*state == State::kExcluded) return Outcome::kExcluded;
    held_[value] = State::kTaken;
    return Outcome::kDone;
  }

  Outcome Release(U128 value) {
    const auto state = Get(value);
    if (!state) return Outcome::kOutOfRange;
    if (*state != State::kTaken) return Outcome::kNotHeld;
    held_.erase(value);
    return Outcome::kDone;
  }

  void Put(U128 value, State state) {
    if (!layout_.Contains(value)) return;
    held_.erase(value);
    if (state == State::kFree) return;
    if (state == State::kTaken || !InExclusion(value)) held_[value] = state;
  }

  Outcome Reserve(U128 value) {
    const auto state = Get(value);
    if (!state) return Outcome::kOutOfRange;
    if (*state == State::kTaken) return Outcome::kTaken;
    if (*state == State::kReserved) return Outcome::kReserved;
    if (*state == State::kExcluded) return Outcome::kExcluded;
    held_[value] = State::kReserved;
    return Outcome::kDone;
  }

  /// Returns whether `value` is a valid result of a pick.
  bool MayPick(std::optional<U128> value) const {
    const bool dynamic = Counts(Band::kDynamic)[State::kFree] > 0;
    const bool spill = !layout_.strict() && Counts(Band::kStatic)[State::kFree] > 0;
    if (!value) return !dynamic && !spill;
    if (Get(*value) != State::kFree) return false;
    return layout_.BandOf(*value) == (dynamic ? Band::kDynamic : Band::kStatic);
  }

  StateCounts Counts(Band band) const {
    StateCounts counts;
    const auto span = layout_.BandSpan(band);
    if (!span) return counts;
    for (const Interval& part : layout_.excluded()) {
      const U128 first = std::max(part.first, span->first);
      const U128 last = std::min(part.last, span->last);
      if (first <= last) counts[State::kExcluded] += last - first + 1;
    }
    for (const auto& [value, state] : held_) {
      if (!span->Contains(value)) continue;
      ++counts[state];
      if (InExclusion(value)) --counts[State::kExcluded];
    }
    counts[State::kFree] = span->Size() - counts.Total();
    return counts;
  }

  std::vector<U128> Held(State state) const {
    std::vector<U128> values;
    for (const auto& [value, held] : held_) {
      if (held == state) values.push_back(value);
    }
    return values;
  }

  /// Returns all free runs at or above `from` inside `bounds`.
  std::vector<Interval> FreeRuns(U128 from, const std::optional<Interval>& bounds) const {
    std::vector<Interval> runs;
    if (!bounds || from > bounds->last) return runs;
    std::vector<Interval> blocked = layout_.excluded();
    for (const auto& [value, state] : held_) blocked.push_back({value, value});
    std::sort(blocked.begin(), blocked.end(),
              [](const Interval& a, const Interval& b) { return a.first < b.first; });
    U128 next = std::max(from, bounds->first);
    for (const Interval& block : blocked) {
      if (block.first > next) runs.push_back({next, std::min(block.first - 1, bounds->last)});
      if (block.last >= bounds->last) return runs;
      next = std::max(next, block.last + 1);
    }
    runs.push_back({next, bounds->last});
    return runs;
  }

  size_t size() const { return held_.size(); }

 private:
  bool InExclusion(U128 value) const {
    return std::any_of(layout_.excluded().begin(), layout_.excluded().end(),
                       [value](const Interval& part) { return part.Contains(value); });
  }

  Layout layout_;
  std::map<U128, State> held_;
};

}  // namespace berth::alloc
