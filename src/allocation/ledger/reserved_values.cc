#include "allocation/ledger/reserved_values.h"

#include <utility>

namespace berth::allocation {

/// Compares without building the "namespace/name" of the claimant.
bool IsFor(const std::string& service, const Claimant& claimant) {
  const size_t slash = claimant.name_space.size();
  return service.size() == slash + 1 + claimant.name.size() && service[slash] == '/' &&
         service.starts_with(claimant.name_space) && service.ends_with(claimant.name);
}

void ReservedValues::Note(const RecordInfo& info, int64_t revision) {
  const PoolId pool = info.value.pool;
  if (revision != 0 && !info.reserved_for.empty()) {
    Reserve(info.value, {.service = info.reserved_for, .state = info.state, .revision = revision});
  } else if (!reserved_[pool].empty()) {
    Forget(info.value);
  }
  if (revision != 0 && info.state == RecordState::kCooling) {
    cooling_[pool][info.value.value] = revision;
  } else if (!cooling_[pool].empty()) {
    cooling_[pool].erase(info.value.value);
  }
}

void ReservedValues::Clear() {
  by_service_.clear();
  for (auto& values : reserved_) values.clear();
  for (auto& values : cooling_) values.clear();
}

const ReservedValue* ReservedValues::Find(const PoolValue& value) const {
  const auto found = reserved_[value.pool].find(value.value);
  return found == reserved_[value.pool].end() ? nullptr : &found->second;
}

std::span<const PoolValue> ReservedValues::For(const Claimant& claimant) const {
  if (by_service_.empty()) return {};
  std::string service(claimant.name_space);
  service.append("/").append(claimant.name);
  const auto found = by_service_.find(service);
  if (found == by_service_.end()) return {};
  return found->second;
}

int64_t ReservedValues::CoolingRevision(const PoolValue& value) const {
  const auto found = cooling_[value.pool].find(value.value);
  return found == cooling_[value.pool].end() ? 0 : found->second;
}

void ReservedValues::Reserve(const PoolValue& value, ReservedValue reserved) {
  const auto [place, fresh] = reserved_[value.pool].try_emplace(value.value);
  if (!fresh && place->second.service != reserved.service) {
    Forget(value);
    return Reserve(value, std::move(reserved));
  }
  if (fresh) by_service_[reserved.service].push_back(value);
  place->second = std::move(reserved);
}

void ReservedValues::Forget(const PoolValue& value) {
  const auto place = reserved_[value.pool].find(value.value);
  if (place == reserved_[value.pool].end()) return;
  const auto all = by_service_.find(place->second.service);
  std::erase(all->second, value);
  if (all->second.empty()) by_service_.erase(all);
  reserved_[value.pool].erase(place);
}

}  // namespace berth::allocation
