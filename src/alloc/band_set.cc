#include "alloc/band_set.h"

#include <algorithm>
#include <utility>

namespace berth::alloc {

BandSet::BandSet(const Interval& span, const std::vector<Interval>& excluded)
    : span_(span),
      exclusions_(Exclusions::Of(excluded, span)),
      allowed_(span.Size() - exclusions_.Total()),
      bitmap_from_held_(allowed_ <= DenseSet::kMaxSize ? allowed_ / kBitmapFromOneIn
                                                       : base::kU128Max),
      hash_sets_below_held_(allowed_ <= kAlwaysBitmap ? 0 : bitmap_from_held_ / 4),
      set_(allowed_ <= kAlwaysBitmap ? Set(DenseSet(static_cast<uint64_t>(allowed_)))
                                     : MakeHashSets(allowed_)) {
  counts_[State::kExcluded] = exclusions_.Total();
  counts_[State::kFree] = allowed_;
}

BandSet::Set BandSet::MakeHashSets(U128 size) {
  if (size - 1 <= UINT64_MAX) return SparseSet<uint64_t>(size - 1);
  return SparseSet<U128>(size - 1);
}

void BandSet::Load(std::span<const U128> taken) {
  std::vector<U128> ranks;
  ranks.reserve(taken.size());
  for (const U128 value : taken) {
    const U128 offset = value - span_.first;
    if (exclusions_.Contains(offset)) {
      taken_though_excluded_.insert(value);
    } else {
      ranks.push_back(exclusions_.Rank(offset));
    }
  }
  if (!IsBitmap() && ranks.size() >= bitmap_from_held_) {
    set_ = DenseSet(static_cast<uint64_t>(allowed_));
  }
  std::visit([&](auto& set) { set.PutAll(ranks, State::kTaken); }, set_);
  counts_[State::kTaken] = taken.size();
  counts_[State::kFree] -= ranks.size();
  counts_[State::kExcluded] -= taken_though_excluded_.size();
}

State BandSet::Get(U128 value) const {
  const U128 offset = value - span_.first;
  if (exclusions_.Contains(offset)) {
    return taken_though_excluded_.contains(value) ? State::kTaken : State::kExcluded;
  }
  return std::visit([&](const auto& set) { return set.Get(exclusions_.Rank(offset)); }, set_);
}

void BandSet::Change(U128 value, State from, State to) {
  const U128 offset = value - span_.first;
  if (exclusions_.Contains(offset)) {
    if (to == State::kTaken) {
      taken_though_excluded_.insert(value);
    } else {
      taken_though_excluded_.erase(value);
      to = State::kExcluded;
    }
  } else {
    std::visit([&](auto& set) { set.Put(exclusions_.Rank(offset), to); }, set_);
  }
  --counts_[from];
  ++counts_[to];
  const U128 held = allowed_ - counts_[State::kFree];
  if (IsBitmap() ? held < hash_sets_below_held_ : held >= bitmap_from_held_) ChangeForm();
}

void BandSet::ChangeForm() {
  Set other = IsBitmap() ? MakeHashSets(allowed_) : DenseSet(static_cast<uint64_t>(allowed_));
  for (const State state : {State::kTaken, State::kReserved, State::kCooling}) {
    const std::vector<U128> ranks = std::visit([&](auto& set) { return set.Held(state); }, set_);
    if (!ranks.empty()) std::visit([&](auto& set) { set.PutAll(ranks, state); }, other);
  }
  set_ = std::move(other);
}

U128 BandSet::PickFree(base::Random& random) const {
  return ValueAt(std::visit([&](const auto& set) { return set.PickFree(random); }, set_));
}

void BandSet::ForEach(State held, const std::function<void(U128)>& visit) const {
  auto excluded = taken_though_excluded_.begin();
  const auto end =
      held == State::kTaken ? taken_though_excluded_.end() : taken_though_excluded_.begin();
  const auto merged = [&](U128 rank) {
    const U128 value = ValueAt(rank);
    while (excluded != end && *excluded < value) visit(*excluded++);
    visit(value);
  };
  std::visit([&](const auto& set) { set.ForEach(held, merged); }, set_);
  while (excluded != end) visit(*excluded++);
}

void BandSet::ForEachFreeRun(U128 from, const std::function<bool(Interval)>& visit) const {
  // Values with adjacent ranks may have an excluded part between them.
  const auto split = [&](const Interval& ranks) {
    Interval run{exclusions_.Unrank(ranks.first), exclusions_.Unrank(ranks.last)};
    const auto& parts = exclusions_.parts();
    auto part = std::partition_point(parts.begin(), parts.end(),
                                     [&](const Interval& p) { return p.first < run.first; });
    for (; part != parts.end() && part->first < run.last; ++part) {
      if (!visit({span_.first + run.first, span_.first + part->first - 1})) return false;
      run.first = part->last + 1;
    }
    return visit({span_.first + run.first, span_.first + run.last});
  };
  const U128 rank = exclusions_.Rank(from - span_.first);
  if (rank == allowed_) return;
  std::visit([&](const auto& set) { set.ForEachFreeRun(rank, split); }, set_);
}

size_t BandSet::MemoryBytes() const {
  const size_t excluded = exclusions_.parts().capacity() * (sizeof(Interval) + sizeof(U128));
  return sizeof *this + excluded + taken_though_excluded_.size() * 64 +
         std::visit([](const auto& set) { return set.MemoryBytes(); }, set_);
}

}  // namespace berth::alloc
