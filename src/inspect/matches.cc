#include "inspect/matches.h"

#include <algorithm>
#include <utility>

namespace berth::inspect {

Matches::Matches(const Census& census, const UsedValues& used, Filter filter)
    : census_(&census), used_(&used), filter_(std::move(filter)) {
  if (!filter_.MeansServices()) return;
  const auto& services = census.cluster().services;
  services_.resize(services.size());
  for (size_t i = 0; i < services.size(); ++i) services_[i] = filter_.Matches(services[i]);
}

bool Matches::Has(alloc::PoolId pool, const UsedValue& value) const {
  const alloc::PoolValue of_pool{.pool = pool, .value = value.value};
  if (filter_.MatchesValue(of_pool)) return true;
  if (value.owners == Owners::kNone) {
    return filter_.MeansServices() && filter_.Matches(*used_->RecordOf(value));
  }
  if (HasService(value.position)) return true;
  return value.owners == Owners::kSeveral &&
         std::ranges::any_of(census_->UsesOf(of_pool), [this](const Use& use) {
           return HasService(static_cast<size_t>(use.service - census_->cluster().services.data()));
         });
}

}  // namespace berth::inspect
