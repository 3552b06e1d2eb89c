#include "inspect/used_values.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "inspect/names.h"
#include "inspect/safe_values.h"

namespace berth::inspect {
namespace {

using alloc::PoolId;

constexpr size_t kMostTypes = 256;

uint32_t SecondsOf(const std::optional<base::WallTime>& time) {
  if (!time) return 0;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time->time_since_epoch()).count();
  return static_cast<uint32_t>(std::clamp<int64_t>(seconds, 0, UINT32_MAX));
}

/// Returns the Service that a record is about, "namespace/name".
std::string PathOfRecord(const Record& record) {
  if (record.facts.state == rules::RecordState::kFree) return {};
  if (!record.facts.reserved_for.empty()) return record.facts.reserved_for;
  if (record.facts.service_name.empty()) return {};
  return record.facts.service_namespace + "/" + record.facts.service_name;
}

std::string_view NamespaceOfRecord(const Record& record) {
  if (record.facts.state == rules::RecordState::kFree) return {};
  const std::string_view whom = record.facts.reserved_for;
  if (!whom.empty()) return whom.substr(0, whom.find('/'));
  return record.facts.service_namespace;
}

uint32_t Folded(uint64_t hash) { return static_cast<uint32_t>(hash ^ (hash >> 32)); }

}  // namespace

/// Walks over the uses and the records of all pools.
class UsedValues::Filler {
 public:
  Filler(const Census& census, UsedValues& into) : census_(census), into_(into) {
    const Cluster& cluster = census.cluster();
    of_service_.reserve(cluster.services.size());
    for (const Service& service : cluster.services) {
      of_service_.push_back({.name_space = NamespaceNumber(service.object.name_space),
                             .created = SecondsOf(service.created),
                             .hash = Folded(StableHash(service.object.name_space) * 31 +
                                            StableHash(service.object.name)),
                             .type = TypeNumber(service.type)});
    }
  }

  void Fill(PoolId pool) {
    const auto uses = census_.Uses(pool);
    const auto records = census_.RecordsIn(pool, {.first = 0, .last = base::kU128Max});
    into_.pools_[pool].values.reserve(uses.size());
    into_.pools_[pool].owners.reserve(uses.size());
    size_t record = 0;
    for (size_t i = 0; i < uses.size();) {
      const base::U128 value = uses[i].value;
      AddRecordsBelow(pool, records, record, value);
      while (record < records.size() && records[record]->facts.value.value == value) ++record;
      i = AddUses(pool, uses, i);
    }
    for (; record < records.size(); ++record) AddRecord(pool, *records[record]);
  }

 private:
  struct OfService {
    uint32_t name_space = 0;
    uint32_t created = 0;
    uint32_t hash = 0;
    uint8_t type = 0;
  };

  uint32_t NamespaceNumber(std::string_view name) {
    if (name.empty()) return 0;
    const auto [at, added] =
        namespaces_.try_emplace(name, static_cast<uint32_t>(into_.namespaces_.size()));
    if (added) into_.namespaces_.push_back(name);
    return at->second;
  }

  /// Types beyond the most are told as the last one: there are four in Kubernetes.
  uint8_t TypeNumber(std::string_view name) {
    // The API's default, for objects that no server has completed.
    if (name.empty()) name = "ClusterIP";
    auto& types = into_.types_;
    const auto at = std::ranges::find(types, name);
    if (at != types.end()) return static_cast<uint8_t>(at - types.begin());
    if (types.size() < kMostTypes) types.push_back(name);
    return static_cast<uint8_t>(types.size() - 1);
  }

  uint32_t PositionOf(const Use& use) const {
    return static_cast<uint32_t>(use.service - census_.cluster().services.data());
  }

  size_t AddUses(PoolId pool, std::span<const Use> uses, size_t first) {
    const uint32_t position = PositionOf(uses[first]);
    const OfService& service = of_service_[position];
    uint32_t hash = service.hash;
    size_t next = first + 1;
    for (; next < uses.size() && uses[next].value == uses[first].value; ++next) {
      hash = hash * 31 + of_service_[PositionOf(uses[next])].hash;
    }
    into_.pools_[pool].values.push_back(
        {.value = uses[first].value,
         .position = position,
         .name_space = service.name_space,
         .created = service.created,
         .type = service.type,
         .owners = next - first > 1 ? Owners::kSeveral : Owners::kOne,
         .origin = uses[first].held->origin,
         .state = alloc::State::kTaken});
    into_.pools_[pool].owners.push_back(hash);
    return next;
  }

  void AddRecordsBelow(PoolId pool, std::span<const Record* const> records, size_t& next,
                       base::U128 value) {
    for (; next < records.size() && records[next]->facts.value.value < value; ++next) {
      AddRecord(pool, *records[next]);
    }
  }

  void AddRecord(PoolId pool, const Record& record) {
    auto& values = into_.pools_[pool].values;
    // Of several records of a value the first one counts, as in the census.
    if (!values.empty() && values.back().value == record.facts.value.value) return;
    values.push_back({.value = record.facts.value.value,
                      .position = static_cast<uint32_t>(&record - census_.cluster().records.data()),
                      .name_space = NamespaceNumber(NamespaceOfRecord(record)),
                      .created = SecondsOf(record.since),
                      .state = StateByRecord(record)});
    into_.pools_[pool].owners.push_back(Folded(StableHash(PathOfRecord(record))));
  }

  const Census& census_;
  UsedValues& into_;
  std::vector<OfService> of_service_;
  std::unordered_map<std::string_view, uint32_t> namespaces_;
};

UsedValues::UsedValues(const Census& census) : cluster_(census.cluster()) {
  Filler filler(census, *this);
  for (const PoolId pool : alloc::kAllPools) filler.Fill(pool);
}

std::span<const UsedValue> UsedValues::In(PoolId pool, const alloc::Interval& values) const {
  const auto& all = pools_[pool].values;
  const auto begin = std::ranges::lower_bound(all, values.first, {}, &UsedValue::value);
  const auto end = std::ranges::upper_bound(begin, all.end(), values.last, {}, &UsedValue::value);
  return {begin, end};
}

const Service* UsedValues::ServiceOf(const UsedValue& used) const {
  return used.owners == Owners::kNone ? nullptr : &cluster_.services[used.position];
}

const Record* UsedValues::RecordOf(const UsedValue& used) const {
  return used.owners == Owners::kNone ? &cluster_.records[used.position] : nullptr;
}

std::string UsedValues::OwnerOf(const UsedValue& used) const {
  if (const Service* service = ServiceOf(used)) return PathOf(*service);
  return PathOfRecord(*RecordOf(used));
}

}  // namespace berth::inspect
