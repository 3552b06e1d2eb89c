#include "registry/addresses.h"

#include <array>
#include <memory>
#include <utility>

#include "codec/read.h"
#include "registry/address_errors.h"

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
  decision.guards = std::move(guards);
  decision.settle = std::move(settle);
}

tl::expected<Addresses::Plan, commit::Refusal> Addresses::Change(
    Value& service, const rules::ServiceClaims& claims, commit::Allocations::TicketPtr& ticket) {
  const std::vector<Claim> wanted = ToClaims(claims);
  std::vector<PoolValue> gives = ToGives(claims.gives);
  if (wanted.empty() && gives.empty()) {
    Fill(service, claims, {});
    return Plan{};
  }
  Planned planned{.grant = {}, .given = {}, .begin = clock_.Steady()};
  auto grant = allocations_.Plan(wanted, std::move(gives), ticket);
  if (!grant) return tl::unexpected(Deny(service, claims, wanted, std::move(grant.error())));
  planned.grant = *std::move(grant);
  for (const Claim& claim : wanted) planned.given.push_back(claim.wanted.has_value());
  Fill(service, claims, planned.grant.values);
  Plan plan;
  Take(service, claims, planned, plan);
  Plan giving = Give(std::move(planned));
  plan.deletes = std::move(giving.deletes);
  plan.settle = std::move(giving.settle);
  return plan;
}

Addresses::Plan Addresses::Remove(const Value& old) {
  std::vector<PoolValue> gives = ToGives(rules::HoldingsOf(old));
  if (gives.empty()) return {};
  commit::Allocations::TicketPtr nothing_to_wait_for;
  auto grant = allocations_.Plan({}, std::move(gives), nothing_to_wait_for);
  if (!grant) return {};
  return Give({.grant = *std::move(grant), .given = {}, .begin = clock_.Steady()});
}

commit::Refusal Addresses::Deny(const Value& service, const rules::ServiceClaims& claims,
                                const std::vector<Claim>& wanted,
                                commit::Allocations::Denial denial) const {
  const Claim claim = wanted[denial.claim];
  const bool full = denial.full;
  commit::Refusal refusal =
      AddressRefusal(service, claims, std::move(denial), allocations_.Ranges());
  if (metrics_ != nullptr) refusal.answered = [this, claim, full] { CountDenied(claim, full); };
  return refusal;
}

/// Their records go, and the grant is settled with the write.
Addresses::Plan Addresses::Give(Planned planned) const {
  Plan plan;
  for (const PoolValue& value : planned.grant.gives) {
    plan.deletes.push_back({.key = RecordKey(rows_, value)});
  }
  plan.settle = [this,
                 settled = std::make_shared<const Planned>(std::move(planned))](bool committed) {
    allocations_.Settle(settled->grant);
    if (committed && metrics_ != nullptr) CountTaken(*settled);
  };
  return plan;
}

void Addresses::Take(const Value& service, const rules::ServiceClaims& claims,
                     const Planned& planned, Plan& plan) {
  const Owner owner{.name_space = codec::StringAt(service, "metadata", "namespace"),
                    .name = codec::StringAt(service, "metadata", "name"),
                    .uid = codec::StringAt(service, "metadata", "uid")};
  const base::WallTime now = clock_.Now();
  const std::vector<PoolValue>& takes = planned.grant.takes;
  std::array<bool, commit::kPools> fenced{};
  for (size_t i = 0; i < takes.size(); ++i) {
    const bool health_check =
        i >= claims.addresses.size() && claims.ports[i - claims.addresses.size()].IsHealthCheck();
    plan.puts.push_back(
        maker_.Make(owner,
                    {.value = takes[i],
                     .chosen = planned.given[i] ? Chosen::kStatic : Chosen::kDynamic,
                     .health_check = health_check},
                    NewUid(), now));
    if (std::exchange(fenced[static_cast<size_t>(takes[i].pool)], true)) continue;
    plan.guards.push_back({.key = std::string(RangeFence(takes[i].pool)),
                           .check = [](const state::ObjectPtr&) { return std::nullopt; }});
  }
}

void Addresses::CountTaken(const Planned& planned) const {
  for (size_t i = 0; i < planned.grant.takes.size(); ++i) {
    const PoolValue& value = planned.grant.takes[i];
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
void Addresses::CountDenied(const Claim& claim, bool full) const {
  const obs::AllocationScope scope = ScopeOf(claim.wanted.has_value());
  if (claim.pool == PoolId::kPorts) return metrics_->CountPortError(scope);
  if (!full) {
    const std::string range = allocations_.RangeOf({.pool = claim.pool, .value = *claim.wanted});
    if (!range.empty()) metrics_->CountError(range, scope);
    return;
  }
  for (const auto& range : allocations_.Ranges()) {
    if (range.pool == claim.pool) metrics_->CountError(range.text, scope);
  }
}

std::string Addresses::NewUid() {
  base::MutexLock lock(mutex_);
  return base::NewUuid(random_);
}

}  // namespace berth::registry
