#include "registry/addresses.h"

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

}  // namespace

Addresses::Addresses(commit::Allocations& allocations, const RecordRows& rows,
                     const base::Clock& clock, const base::SeededRandom& random)
    : allocations_(allocations), rows_(rows), clock_(clock), random_(random) {}

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
  auto grant = allocations_.Plan(wanted, std::move(gives), ticket);
  if (!grant) {
    return tl::unexpected(
        AddressRefusal(service, claims, std::move(grant.error()), allocations_.Ranges()));
  }
  Fill(service, claims, grant->values);
  Plan plan = Give(*grant);
  Take(service, claims, *grant, plan);
  return plan;
}

Addresses::Plan Addresses::Remove(const Value& old) {
  std::vector<PoolValue> gives = ToGives(rules::HoldingsOf(old));
  commit::Allocations::TicketPtr nothing_to_wait_for;
  auto grant = allocations_.Plan({}, std::move(gives), nothing_to_wait_for);
  return grant ? Give(*std::move(grant)) : Plan{};
}

/// Their records go, and the grant is settled with the write.
Addresses::Plan Addresses::Give(Granted grant) const {
  Plan plan;
  for (const PoolValue& value : grant.gives) {
    plan.deletes.push_back({.key = RecordKey(rows_, value)});
  }
  if (grant.takes.empty() && grant.gives.empty()) return plan;
  plan.settle = [this, settled = std::make_shared<const Granted>(std::move(grant))](bool) {
    allocations_.Settle(*settled);
  };
  return plan;
}

void Addresses::Take(const Value& service, const rules::ServiceClaims& claims, const Granted& grant,
                     Plan& plan) {
  const Owner owner{.name_space = codec::StringAt(service, "metadata", "namespace"),
                    .name = codec::StringAt(service, "metadata", "name"),
                    .uid = codec::StringAt(service, "metadata", "uid")};
  const base::WallTime now = clock_.Now();
  bool fenced[commit::kPools] = {};
  for (size_t i = 0; i < grant.takes.size(); ++i) {
    const PoolValue& value = grant.takes[i];
    const bool address = i < claims.addresses.size();
    const rules::PortClaim* port = address ? nullptr : &claims.ports[i - claims.addresses.size()];
    const bool given = address ? claims.addresses[i].wanted.has_value() : port->wanted.has_value();
    plan.puts.push_back(NewRecord(rows_, owner,
                                  {.value = value,
                                   .chosen = given ? Chosen::kStatic : Chosen::kDynamic,
                                   .health_check = port != nullptr && port->IsHealthCheck()},
                                  NewUid(), now));
    if (std::exchange(fenced[static_cast<size_t>(value.pool)], true)) continue;
    plan.guards.push_back({.key = std::string(RangeFence(value.pool)),
                           .check = [](const state::ObjectPtr&) { return std::nullopt; }});
  }
}

std::string Addresses::NewUid() {
  base::MutexLock lock(mutex_);
  return base::NewUuid(random_);
}

}  // namespace berth::registry
