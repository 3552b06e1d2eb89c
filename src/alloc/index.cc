#include "alloc/index.h"

#include <algorithm>
#include <utility>

namespace berth::alloc {

Index::Index(Layout layout) : layout_(std::move(layout)) {
  if (const auto span = layout_.BandSpan(Band::kStatic)) static_.emplace(*span, layout_.excluded());
  if (const auto span = layout_.BandSpan(Band::kDynamic)) {
    dynamic_.emplace(*span, layout_.excluded());
  }
}

const BandSet* Index::SetFor(U128 value) const {
  if (!layout_.Contains(value)) return nullptr;
  const auto& set = layout_.BandOf(value) == Band::kStatic ? static_ : dynamic_;
  return &*set;
}

BandSet* Index::SetFor(U128 value) {
  return const_cast<BandSet*>(std::as_const(*this).SetFor(value));
}

LoadedIndex Index::Load(Layout layout, std::span<const U128> taken) {
  std::vector<U128> sorted;
  if (!std::is_sorted(taken.begin(), taken.end())) {
    sorted.assign(taken.begin(), taken.end());
    std::sort(sorted.begin(), sorted.end());
    taken = sorted;
  }
  LoadedIndex loaded{.index = Index(std::move(layout))};
  Index& index = loaded.index;
  std::vector<U128> lower;
  std::vector<U128> upper;
  for (size_t i = 0; i < taken.size(); ++i) {
    if (!index.layout_.Contains(taken[i])) {
      loaded.out_of_range.push_back(taken[i]);
    } else if (i > 0 && taken[i] == taken[i - 1]) {
      loaded.twice.push_back(taken[i]);
    } else {
      (index.layout_.BandOf(taken[i]) == Band::kStatic ? lower : upper).push_back(taken[i]);
    }
  }
  index.Fill(lower, upper);
  return loaded;
}

Index Index::Of(Layout layout, std::span<const U128> taken) {
  Index index(std::move(layout));
  std::vector<U128> lower;
  std::vector<U128> upper;
  for (const U128 value : taken) {
    if (!index.layout_.Contains(value)) continue;
    (index.layout_.BandOf(value) == Band::kStatic ? lower : upper).push_back(value);
  }
  index.Fill(lower, upper);
  return index;
}

void Index::Fill(std::span<const U128> lower, std::span<const U128> upper) {
  if (!lower.empty()) static_->Load(lower);
  if (!upper.empty()) dynamic_->Load(upper);
}

std::optional<State> Index::Get(U128 value) const {
  const BandSet* set = SetFor(value);
  if (set == nullptr) return std::nullopt;
  return set->Get(value);
}

Outcome Index::Take(U128 value) {
  BandSet* set = SetFor(value);
  if (set == nullptr) return Outcome::kOutOfRange;
  const State state = set->Get(value);
  switch (state) {
    case State::kFree:
    case State::kCooling:
      set->Change(value, state, State::kTaken);
      return Outcome::kDone;
    case State::kTaken:
      return Outcome::kTaken;
    case State::kReserved:
      return Outcome::kReserved;
    case State::kExcluded:
      break;
  }
  return Outcome::kExcluded;
}

void Index::Put(U128 value, State state) {
  BandSet* set = SetFor(value);
  if (set == nullptr) return;
  if (const State before = set->Get(value); before != state) set->Change(value, before, state);
}

const BandSet* Index::SetToPickFrom() const {
  if (dynamic_ && dynamic_->Free() > 0) return &*dynamic_;
  if (static_ && static_->Free() > 0 && !layout_.strict()) return &*static_;
  return nullptr;
}

std::optional<U128> Index::Pick(base::Random& random) const {
  const BandSet* set = SetToPickFrom();
  if (set == nullptr) return std::nullopt;
  return set->PickFree(random);
}

std::optional<U128> Index::TakeAny(base::Random& random) {
  const std::optional<U128> value = Pick(random);
  if (value) SetFor(*value)->Change(*value, State::kFree, State::kTaken);
  return value;
}

Outcome Index::Release(U128 value) {
  BandSet* set = SetFor(value);
  if (set == nullptr) return Outcome::kOutOfRange;
  if (set->Get(value) != State::kTaken) return Outcome::kNotHeld;
  set->Change(value, State::kTaken, State::kFree);
  return Outcome::kDone;
}

Outcome Index::Reserve(U128 value) {
  BandSet* set = SetFor(value);
  if (set == nullptr) return Outcome::kOutOfRange;
  const State state = set->Get(value);
  if (state == State::kTaken) return Outcome::kTaken;
  if (state == State::kReserved) return Outcome::kReserved;
  if (state == State::kExcluded) return Outcome::kExcluded;
  set->Change(value, state, State::kReserved);
  return Outcome::kDone;
}

U128 Index::Pickable() const {
  const U128 dynamic = dynamic_ ? dynamic_->Free() : 0;
  return static_ && !layout_.strict() ? dynamic + static_->Free() : dynamic;
}

StateCounts Index::Counts(Band band) const {
  const auto& set = band == Band::kStatic ? static_ : dynamic_;
  return set ? set->counts() : StateCounts{};
}

StateCounts Index::Counts() const {
  StateCounts counts = Counts(Band::kStatic);
  return counts += Counts(Band::kDynamic);
}

bool Index::IsBitmap(Band band) const {
  const auto& set = band == Band::kStatic ? static_ : dynamic_;
  return set && set->IsBitmap();
}

void Index::ForEach(State held, const std::function<void(U128)>& visit) const {
  if (held == State::kFree || held == State::kExcluded) return;
  if (static_) static_->ForEach(held, visit);
  if (dynamic_) dynamic_->ForEach(held, visit);
}

/// Visits runs that meet at the border of the bands as one run.
void Index::ForEachFreeRun(U128 from, const std::function<bool(Interval)>& visit) const {
  std::optional<Interval> pending;
  bool more = true;
  const auto join = [&](const Interval& run) {
    if (pending && pending->last + 1 == run.first) {
      pending->last = run.last;
      return true;
    }
    if (pending) more = visit(*pending);
    pending = run;
    return more;
  };
  for (const auto* set : {&static_, &dynamic_}) {
    if (!more || !*set || (*set)->span().last < from) continue;
    (*set)->ForEachFreeRun(std::max(from, (*set)->span().first), join);
  }
  if (more && pending) visit(*pending);
}

std::vector<Interval> Index::FreeRuns(U128 from, size_t limit) const {
  std::vector<Interval> runs;
  if (limit == 0) return runs;
  ForEachFreeRun(from, [&](const Interval& run) {
    runs.push_back(run);
    return runs.size() < limit;
  });
  return runs;
}

size_t Index::MemoryBytes() const {
  size_t bytes = sizeof *this + layout_.excluded().capacity() * sizeof(Interval);
  if (static_) bytes += static_->MemoryBytes() - sizeof *static_;
  if (dynamic_) bytes += dynamic_->MemoryBytes() - sizeof *dynamic_;
  return bytes;
}

}  // namespace berth::alloc
