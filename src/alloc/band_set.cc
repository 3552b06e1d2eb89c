#include "alloc/band_set.h"

#include <array>
#include <utility>
#include <vector>

namespace berth::alloc {

BandSet::BandSet(const Interval& span, const std::vector<Interval>& excluded)
    : span_(span), set_(MakeSet(span.last - span.first, Exclusions::Of(excluded, span))) {
  const U128 out = Exclusions::Of(excluded, span).Total();
  counts_[State::kExcluded] = out;
  counts_[State::kFree] = span.Size() - out;
}

BandSet::Set BandSet::MakeSet(U128 last, Exclusions exclusions) {
  if (last < kDenseFromStart) {
    return Set(std::in_place_type<DenseSet>, static_cast<uint64_t>(last) + 1,
               std::move(exclusions));
  }
  if (last <= UINT64_MAX) {
    return Set(std::in_place_type<SparseSet<uint64_t>>, last, std::move(exclusions));
  }
  return Set(std::in_place_type<SparseSet<U128>>, last, std::move(exclusions));
}

State BandSet::Get(U128 value) const {
  return std::visit([&](const auto& set) { return set.Get(value - span_.first); }, set_);
}

void BandSet::Change(U128 value, State from, State to) {
  const State now = std::visit([&](auto& set) { return set.Put(value - span_.first, to); }, set_);
  --counts_[from];
  ++counts_[now];
  if (from == State::kFree) BecomeDenseIfCheaper();
}

void BandSet::BecomeDenseIfCheaper() {
  const auto* sparse = std::get_if<SparseSet<uint64_t>>(&set_);
  if (sparse == nullptr || span_.Size() > DenseSet::kMaxSize) return;
  if (sparse->Held() < static_cast<uint64_t>(span_.Size()) / kDenseFromFill) return;
  DenseSet dense(static_cast<uint64_t>(span_.Size()), sparse->exclusions());
  std::vector<U128> taken;
  sparse->ForEach(State::kTaken, [&](U128 offset) { taken.push_back(offset); });
  dense.TakeAll(taken);
  for (const State held : {State::kReserved, State::kCooling}) {
    sparse->ForEach(held, [&](U128 offset) { dense.Put(offset, held); });
  }
  set_ = std::move(dense);
}

U128 BandSet::PickFree(base::Random& random) const {
  return span_.first + std::visit([&](const auto& set) { return set.PickFree(random); }, set_);
}

std::optional<U128> BandSet::NextFree(U128 from) const {
  const auto offset =
      std::visit([&](const auto& set) { return set.NextFree(from - span_.first); }, set_);
  if (!offset) return std::nullopt;
  return span_.first + *offset;
}

std::optional<U128> BandSet::PrevFree(U128 from) const {
  const auto offset =
      std::visit([&](const auto& set) { return set.PrevFree(from - span_.first); }, set_);
  if (!offset) return std::nullopt;
  return span_.first + *offset;
}

void BandSet::ForEach(State held, const std::function<void(U128)>& visit) const {
  const auto shifted = [&](U128 offset) { visit(span_.first + offset); };
  std::visit([&](const auto& set) { set.ForEach(held, shifted); }, set_);
}

void BandSet::ForEachFreeRun(U128 from, const std::function<bool(Interval)>& visit) const {
  const auto shifted = [&](const Interval& run) {
    return visit({span_.first + run.first, span_.first + run.last});
  };
  std::visit([&](const auto& set) { set.ForEachFreeRun(from - span_.first, shifted); }, set_);
}

void BandSet::TakeAll(std::span<const U128> values) {
  std::vector<U128> offsets;
  offsets.reserve(values.size());
  for (const U128 value : values) {
    offsets.push_back(value - span_.first);
    --counts_[Get(value)];
    ++counts_[State::kTaken];
  }
  std::visit([&](auto& set) { set.TakeAll(offsets); }, set_);
  BecomeDenseIfCheaper();
}

size_t BandSet::MemoryBytes() const {
  return sizeof *this + std::visit([](const auto& set) { return set.MemoryBytes(); }, set_);
}

}  // namespace berth::alloc
