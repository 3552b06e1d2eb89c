#include "registry/addresses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "codec/read.h"
#include "commit/bitmaps.h"
#include "registry/address_errors.h"
#include "registry/allocation_forms.h"
#include "registry/fences.h"
#include "registry/record_changes.h"

namespace berth::registry {
namespace {

using codec::Value;
using commit::Claim;
using commit::PoolId;
using commit::PoolValue;

PoolValue PortValue(uint16_t port) { return {.pool = PoolId::kPorts, .value = port}; }

PoolValue AddressValue(const ip::Addr& address) {
  return {.pool = commit::PoolOf(address.family()), .value = address.bits()};
}

/// Addresses first, then ports. A number that is none cannot be in any range; 0 is in none.
std::vector<Claim> ToClaims(const rules::ServiceClaims& claims) {
  std::vector<Claim> out;
  out.reserve(claims.addresses.size() + claims.ports.size());
  for (const rules::AddressClaim& claim : claims.addresses) {
    Claim& added = out.emplace_back(Claim{.pool = commit::PoolOf(claim.family)});
    if (claim.wanted) added.wanted = claim.wanted->bits();
  }
  for (const rules::PortClaim& claim : claims.ports) {
    Claim& added = out.emplace_back(Claim{.pool = PoolId::kPorts});
    if (claim.wanted) added.wanted = *claim.wanted < 0 ? 0 : static_cast<uint64_t>(*claim.wanted);
  }
  return out;
}

std::vector<PoolValue> ToGives(const rules::Holdings& gives) {
  std::vector<PoolValue> out;
  out.reserve(gives.addresses.size() + gives.ports.size());
  for (const ip::Addr& address : gives.addresses) out.push_back(AddressValue(address));
  for (const uint16_t port : gives.ports) out.push_back(PortValue(port));
  return out;
}

void Fill(Value& service, const rules::ServiceClaims& claims,
          const std::vector<commit::U128>& values) {
  std::vector<ip::Addr> addresses;
  std::vector<uint16_t> ports;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i < claims.addresses.size()) {
      addresses.emplace_back(claims.addresses[i].family, values[i]);
    } else {
      ports.push_back(static_cast<uint16_t>(values[i]));
    }
  }
  rules::FillClaims(service, claims, addresses, ports);
}

Owner OwnerOf(const Value& service) {
  return {.name_space = codec::StringAt(service, "metadata", "namespace"),
          .name = codec::StringAt(service, "metadata", "name"),
          .uid = codec::StringAt(service, "metadata", "uid")};
}

/// Names of which none is for a family that the Service has would go unnoticed.
std::optional<base::Error> CheckFamilies(
    const Value& service, const std::array<std::string_view, commit::kPools>& named) {
  const std::string_view* idle = nullptr;
  for (const ip::Family family : {ip::Family::kV4, ip::Family::kV6}) {
    const std::string_view& name = named[static_cast<size_t>(commit::PoolOf(family))];
    if (name.empty()) continue;
    for (const Value& has : codec::ArrayAt(service, "spec", "ipFamilies")) {
      if (codec::Text(&has) == ip::FamilyText(family)) return std::nullopt;
    }
    idle = &name;
  }
  if (idle == nullptr) return std::nullopt;
  return AnnotationError(service, rules::kIpRangeAnnotation,
                         fmt::format("\"{}\" is a range of a family of which the Service gets no "
                                     "address; see spec.ipFamilies",
                                     *idle));
}

obs::AllocationScope ScopeOf(bool given) {
  return given ? obs::AllocationScope::kStatic : obs::AllocationScope::kDynamic;
}

}  // namespace

Addresses::Addresses(commit::Allocations& allocations, const RecordRows& rows,
                     const base::Clock& clock, const base::SeededRandom& random,
                     obs::AllocatorMetrics* metrics)
    : allocations_(allocations),
      rows_(rows),
      maker_(rows),
      clock_(clock),
      metrics_(metrics),
      random_(random) {}

void Addresses::Plan::AddTo(commit::Decision& decision) && {
  decision.puts = std::move(puts);
  decision.deletes = std::move(deletes);
  decision.shared = std::move(shared);
  decision.compares = std::move(compares);
  decision.settle = std::move(settle);
}

tl::expected<Addresses::Plan, commit::Refusal> Addresses::Change(
    const ServiceWrite& write, const state::Follower& follower,
    commit::Allocations::TicketPtr& ticket) {
  Claims wanted = ToClaims(write.claims);
  const std::vector<PoolValue> gives = ToGives(write.claims.gives);
  Plan plan;
  if (wanted.empty() && gives.empty()) {
    Fill(write.service, write.claims, {});
    Rededicate(write, follower, plan);
    return plan;
  }
  if (auto error = NameRanges(write, wanted)) return tl::unexpected(*std::move(error));
  Planned planned{.grant = {}, .given = {}, .begin = clock_.Steady()};
  const Owner owner = OwnerOf(write.service);
  auto grant = allocations_.Plan({.name_space = owner.name_space, .name = owner.name}, wanted,
                                 gives, ticket);
  if (!grant) return tl::unexpected(Deny(write, wanted, follower, std::move(grant.error())));
  planned.grant = *std::move(grant);
  for (const Claim& claim : wanted) planned.given.push_back(claim.wanted.has_value());
  Fill(write.service, write.claims, planned.grant.values);
  Take(write, planned, follower, plan);
  Give(owner, planned, follower, plan);
  Rededicate(write, follower, plan);
  InForm(planned.grant, plan);
  plan.settle = SettleLater(std::move(planned));
  return plan;
}

Addresses::Plan Addresses::Remove(const Value& old, const state::Follower& follower) {
  const std::vector<PoolValue> gives = ToGives(rules::HoldingsOf(old));
  if (gives.empty()) return {};
  commit::Allocations::TicketPtr nothing_to_wait_for;
  auto grant = allocations_.Plan({}, {}, gives, nothing_to_wait_for);
  if (!grant) return {};
  Planned planned{.grant = *std::move(grant), .given = {}, .begin = clock_.Steady()};
  Plan plan;
  Give(OwnerOf(old), planned, follower, plan);
  InForm(planned.grant, plan);
  plan.settle = SettleLater(std::move(planned));
  return plan;
}

std::function<void(bool)> Addresses::SettleLater(Planned planned) const {
  return [this, settled = std::make_shared<const Planned>(std::move(planned))](bool committed) {
    allocations_.Settle(settled->grant);
    if (committed && metrics_ != nullptr) CountTaken(*settled);
  };
}

// Ranges that are named.

std::optional<base::Error> Addresses::NameRanges(const ServiceWrite& write, Claims& wanted) const {
  const size_t addresses = write.claims.addresses.size();
  if (addresses > 0) {
    if (auto error = NameAddressRanges(write, wanted)) return error;
  }
  if (addresses == wanted.size()) return std::nullopt;
  const auto names = rules::NamedRanges(write.service, rules::kNodePortRangeAnnotation);
  if (names.empty()) return std::nullopt;
  if (names.size() > 1) {
    return AnnotationError(write.service, rules::kNodePortRangeAnnotation,
                           "must be the name of one range");
  }
  for (size_t i = addresses; i < wanted.size(); ++i) {
    if (!write.claims.ports[i - addresses].IsHealthCheck()) wanted[i].range = names.front();
  }
  return std::nullopt;
}

/// Each name is for the family of its range. One that no range has is what the first claim is
/// refused for, once it is certain that there is none.
std::optional<base::Error> Addresses::NameAddressRanges(const ServiceWrite& write,
                                                        Claims& wanted) const {
  const auto names = rules::NamedRanges(write.service, rules::kIpRangeAnnotation);
  std::array<std::string_view, commit::kPools> by_pool{};
  for (const std::string_view name : names) {
    bool known = false;
    for (const PoolId pool : {PoolId::kIpv4, PoolId::kIpv6}) {
      if (!allocations_.RangeNamed(pool, name)) continue;
      known = true;
      std::string_view& of_pool = by_pool[static_cast<size_t>(pool)];
      if (!of_pool.empty()) {
        return AnnotationError(
            write.service, rules::kIpRangeAnnotation,
            fmt::format("\"{}\" and \"{}\" are ranges of the same family; name one of each",
                        of_pool, name));
      }
      of_pool = name;
    }
    if (known) continue;
    wanted.front().range = name;
    return std::nullopt;
  }
  if (auto error = CheckFamilies(write.service, by_pool)) return error;
  for (size_t i = 0; i < write.claims.addresses.size(); ++i) {
    wanted[i].range = by_pool[static_cast<size_t>(wanted[i].pool)];
  }
  return std::nullopt;
}

commit::Refusal Addresses::Deny(const ServiceWrite& write, const Claims& wanted,
                                const state::Follower& follower,
                                commit::Allocations::Denial denial) const {
  using Why = commit::Allocations::Why;
  const Claim claim = wanted[denial.claim];
  const Why why = denial.why;
  DenialFacts facts{.claim = claim};
  if (!claim.range.empty()) {
    facts.range = allocations_.RangeNamed(claim.pool, claim.range);
    for (size_t i = 0; i < commit::kPools && !facts.range; ++i) {
      facts.other_kind = facts.other_kind ||
                         allocations_.RangeNamed(static_cast<PoolId>(i), claim.range).has_value();
    }
  } else if (claim.wanted && (why == Why::kExcluded || why == Why::kNotOpen)) {
    facts.range = allocations_.RangeWith({.pool = claim.pool, .value = *claim.wanted});
  }
  // Only these two speak of all ranges, of which there may be many.
  if (claim.range.empty() && (why == Why::kFull || why == Why::kOutOfRange)) {
    facts.ranges = allocations_.Ranges(claim.pool);
  }
  if (why == Why::kReserved && claim.pool != PoolId::kPorts) {
    const auto record =
        follower.Current()->Find(RecordKey(rows_, {.pool = claim.pool, .value = *claim.wanted}));
    facts.by_hand = record != nullptr && record->Hidden().empty();
  }
  commit::Refusal refusal = AddressRefusal(write.service, write.claims, std::move(denial), facts);
  if (metrics_ != nullptr) refusal.answered = [this, claim, why] { CountDenied(claim, why); };
  return refusal;
}

// Records.

std::vector<RecordFacts> Addresses::FactsOf(const ServiceWrite& write,
                                            const Planned& planned) const {
  std::vector<RecordFacts> all;
  all.reserve(planned.grant.takes.size());
  for (size_t i = 0; i < planned.grant.takes.size(); ++i) {
    RecordFacts& facts = all.emplace_back(
        RecordFacts{.value = planned.grant.takes[i].value,
                    .chosen = planned.given[i] ? Chosen::kStatic : Chosen::kDynamic});
    const auto range = allocations_.RangeWith(facts.value);
    if (range && !IsDefaultRange(*range)) facts.range = RangeNote(*range);
    if (i < write.claims.addresses.size()) continue;
    const rules::PortClaim& claim = write.claims.ports[i - write.claims.addresses.size()];
    facts.health_check = claim.IsHealthCheck();
    facts.ports = PortUses(write.service, claim.ports);
  }
  return all;
}

void Addresses::Take(const ServiceWrite& write, const Planned& planned,
                     const state::Follower& follower, Plan& plan) {
  const std::vector<commit::Allocations::Take>& takes = planned.grant.takes;
  if (commit::WritesRecords(planned.grant.form)) {
    const std::vector<RecordFacts> facts = FactsOf(write, planned);
    for (size_t i = 0; i < takes.size(); ++i) {
      plan.puts.push_back(TakeRecord(write, takes[i], facts[i], follower));
    }
  }
  std::array<bool, commit::kPools> fenced{};
  for (const commit::Allocations::Take& take : takes) {
    const auto pool = static_cast<size_t>(take.value.pool);
    if (std::exchange(fenced[pool], true)) continue;
    plan.compares.push_back(
        {.key = FenceKey(take.value.pool), .revision = planned.grant.fences[pool]});
  }
}

commit::ExtraPut Addresses::TakeRecord(const ServiceWrite& write,
                                       const commit::Allocations::Take& take,
                                       const RecordFacts& facts, const state::Follower& follower) {
  const Owner owner = OwnerOf(write.service);
  const base::WallTime now = clock_.Now();
  const state::ObjectPtr record =
      take.replaces == 0 ? nullptr : follower.Current()->Find(RecordKey(rows_, take.value));
  // One that cools down is nobody's any more.
  const bool kept = record != nullptr && !IsCooling(rows_, *record);
  commit::ExtraPut put = kept ? TakenRecord({.rows = rows_, .object = *record, .now = now}, owner,
                                            facts, !take.reserved_for.empty())
                              : maker_.Make(owner, facts, NewUid(), now);
  put.expected = take.replaces;
  return put;
}

/// The picture may be ahead of the allocator, so what a record says there comes first.
void Addresses::Give(const Owner& owner, const Planned& planned, const state::Follower& follower,
                     Plan& plan) const {
  if (planned.grant.gives.empty()) return;
  const state::SnapshotPtr picture = follower.Current();
  const base::WallTime now = clock_.Now();
  for (const commit::Allocations::Give& give : planned.grant.gives) {
    std::string key = RecordKey(rows_, give.value);
    const state::ObjectPtr found = picture->Find(key);
    if (found == nullptr) {
      plan.deletes.push_back({.key = std::move(key)});
      continue;
    }
    const KnownRecord record{.rows = rows_, .object = *found, .now = now};
    const auto info = ReadRecord(rows_, *found);
    const bool allocated = info && info->state == commit::RecordState::kAllocated;
    if (allocated && !info->reserved_for.empty()) {
      plan.puts.push_back(ReservedAgain(record));
    } else if (allocated && give.becomes == commit::Allocations::Give::Becomes::kCooling) {
      const auto range = allocations_.RangeWith(give.value);
      plan.puts.push_back(
          CoolingRecord(record, range ? RangeNote(*range) : std::string(), give.cool_down));
    } else if (allocated || MayGoWith(rows_, *found, owner)) {
      plan.deletes.push_back({.key = std::move(key)});
    }
  }
}

void Addresses::Rededicate(const ServiceWrite& write, const state::Follower& follower,
                           Plan& plan) const {
  if (write.old == nullptr) return;
  const std::vector<rules::PortPurpose> before = rules::PurposesOf(*write.old);
  if (before.empty()) return;
  const base::WallTime now = clock_.Now();
  for (const rules::PortPurpose& purpose : rules::PurposesOf(write.service)) {
    const auto had =
        std::ranges::lower_bound(before, purpose.number, {}, &rules::PortPurpose::number);
    if (had == before.end() || had->number != purpose.number) continue;
    const RecordFacts facts{.value = PortValue(purpose.number),
                            .health_check = purpose.IsHealthCheck(),
                            .ports = PortUses(write.service, purpose.ports)};
    if (facts.ports == PortUses(*write.old, had->ports)) continue;
    std::string key = RecordKey(rows_, facts.value);
    const auto record = follower.Current()->Find(key);
    if (record == nullptr) {  // Where records are being made anew, there may be one any moment.
      plan.compares.push_back({.key = std::move(key), .revision = 0});
      continue;
    }
    auto put = PortForOthers({.rows = rows_, .object = *record, .now = now}, OwnerOf(write.service),
                             facts);
    if (put) plan.puts.push_back(*std::move(put));
  }
}

/// Where bitmaps count, a record that is in the way is not what says who has the value.
void Addresses::InForm(const Granted& grant, Plan& plan) {
  plan.compares.push_back({.key = kFormKey, .revision = grant.form_revision});
  plan.shared = commit::BitmapPuts(grant);
  if (!commit::WritesRecords(grant.form)) {
    plan.puts.clear();
    plan.deletes.clear();
  } else if (commit::BitmapsCount(grant.form)) {
    for (commit::ExtraPut& put : plan.puts) put.expected = std::nullopt;
  }
}

void Addresses::CountTaken(const Planned& planned) const {
  for (size_t i = 0; i < planned.grant.takes.size(); ++i) {
    const PoolValue& value = planned.grant.takes[i].value;
    const obs::AllocationScope scope = ScopeOf(planned.given[i]);
    if (value.pool == PoolId::kPorts) {
      metrics_->CountPortAllocation(scope);
      continue;
    }
    const std::string range = allocations_.RangeOf(value);
    metrics_->CountAllocation(range, scope);
    metrics_->ObserveDuration(range, clock_.Steady() - planned.begin);
  }
}

/// As upstream: an address that no range has is nobody's failure; a full pool is that of each of
/// its ranges.
void Addresses::CountDenied(const Claim& claim, commit::Allocations::Why why) const {
  const obs::AllocationScope scope = ScopeOf(claim.wanted.has_value());
  if (claim.pool == PoolId::kPorts) return metrics_->CountPortError(scope);
  if (!claim.range.empty()) {
    const auto range = allocations_.RangeNamed(claim.pool, claim.range);
    if (range) metrics_->CountError(range->text, scope);
    return;
  }
  if (claim.wanted) {
    const std::string range = allocations_.RangeOf({.pool = claim.pool, .value = *claim.wanted});
    if (!range.empty()) metrics_->CountError(range, scope);
    return;
  }
  if (why != commit::Allocations::Why::kFull) return;
  for (const auto& range : allocations_.Ranges(claim.pool)) {
    metrics_->CountError(range.text, scope);
  }
}

std::string Addresses::NewUid() {
  base::MutexLock lock(mutex_);
  return base::NewUuid(random_);
}

}  // namespace berth::registry
