#include "allocation/addresses.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "allocation/address_errors.h"
#include "allocation/allocation_forms.h"
#include "allocation/bitmaps/stored_bitmaps.h"
#include "allocation/fences.h"
#include "allocation/holder_warning.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/record_changes.h"
#include "allocation/service_values.h"
#include "codec/read.h"

namespace berth::allocation {
namespace {

using codec::Value;
using Why = Denial::Why;

PoolValue PortValue(uint16_t port) { return {.pool = PoolId::kPorts, .value = port}; }

/// Returns the claims for addresses first, then those for ports. An invalid number becomes 0, which
/// is in no range.
std::vector<Claim> ToClaims(const rules::ServiceClaims& claims) {
  std::vector<Claim> out;
  out.reserve(claims.addresses.size() + claims.ports.size());
  for (const rules::AddressClaim& claim : claims.addresses) {
    Claim& added = out.emplace_back(Claim{.pool = PoolOf(claim.family)});
    if (claim.wanted) added.wanted = claim.wanted->bits();
  }
  for (const rules::PortClaim& claim : claims.ports) {
    Claim& added = out.emplace_back(Claim{.pool = PoolId::kPorts});
    if (claim.wanted) added.wanted = *claim.wanted < 0 ? 0 : static_cast<uint64_t>(*claim.wanted);
  }
  return out;
}

void Fill(Value& service, const rules::ServiceClaims& claims, const std::vector<U128>& values) {
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

/// Refuses if none of the named ranges is of a family that the Service has. Otherwise the names
/// would have no effect and the client would not notice.
std::optional<base::Error> CheckFamilies(const Value& service,
                                         const PerPool<std::string_view>& named) {
  const std::string_view* idle = nullptr;
  for (const ip::Family family : {ip::Family::kV4, ip::Family::kV6}) {
    const std::string_view& name = named[PoolOf(family)];
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

obs::AllocationScope AllocationScopeOf(bool requested) {
  return requested ? obs::AllocationScope::kStatic : obs::AllocationScope::kDynamic;
}

/// Returns whether there is a range of addresses, of either family.
bool HasAddressRanges(const Ledger& ledger) {
  const LedgerView view(ledger);
  return !view.Ranges(PoolId::kIpv4).empty() || !view.Ranges(PoolId::kIpv6).empty();
}

}  // namespace

Addresses::Addresses(Ledger& ledger, const RecordRows& rows, const base::Clock& clock,
                     const base::SeededRandom& random, obs::AllocatorMetrics* metrics)
    : ledger_(ledger),
      rows_(rows),
      maker_(rows),
      clock_(clock),
      metrics_(metrics),
      uuids_(random) {}

void Addresses::ExtraWrites::AddTo(commit::Decision& decision) && {
  decision.puts = std::move(puts);
  decision.deletes = std::move(deletes);
  decision.shared = std::move(shared);
  decision.compares = std::move(compares);
  decision.on_outcome = std::move(on_outcome);
}

tl::expected<Addresses::ExtraWrites, commit::Refusal> Addresses::Change(
    const ServiceWrite& write, const state::Snapshot& snapshot, TicketPtr& ticket) {
  Claims wanted = ToClaims(write.claims);
  const std::vector<PoolValue> releases = ValuesOf(write.claims.gives);
  ExtraWrites extra;
  if (wanted.empty() && releases.empty()) {
    Fill(write.service, write.claims, {});
    UpdatePortPurposes(write, snapshot, extra);
    return extra;
  }
  if (auto error = NameRanges(write, wanted)) return tl::unexpected(*std::move(error));
  PendingGrant pending{.grant = {}, .requested = {}, .begin = clock_.Steady()};
  const Owner owner = OwnerOf(write.service);
  auto grant = ledger_.GrantClaims({.name_space = owner.name_space, .name = owner.name}, wanted,
                                   releases, ticket);
  if (!grant) return tl::unexpected(Deny(write, wanted, snapshot, std::move(grant.error())));
  pending.grant = *std::move(grant);
  for (const Claim& claim : wanted) pending.requested.push_back(claim.wanted.has_value());
  Fill(write.service, write.claims, pending.grant.values);
  Take(write, pending, snapshot, extra);
  Release(owner, pending, snapshot, extra);
  UpdatePortPurposes(write, snapshot, extra);
  ApplyForm(pending.grant, snapshot, extra);
  extra.on_outcome = EndGrantLater(std::move(pending));
  return extra;
}

Addresses::ExtraWrites Addresses::Remove(const Value& old, const state::Snapshot& snapshot) {
  const std::vector<PoolValue> releases = ValuesOf(rules::HoldingsOf(old));
  if (releases.empty()) return {};
  TicketPtr nothing_to_wait_for;
  auto grant = ledger_.GrantClaims({}, {}, releases, nothing_to_wait_for);
  if (!grant) return {};
  PendingGrant pending{.grant = *std::move(grant), .requested = {}, .begin = clock_.Steady()};
  ExtraWrites extra;
  Release(OwnerOf(old), pending, snapshot, extra);
  ApplyForm(pending.grant, snapshot, extra);
  extra.on_outcome = EndGrantLater(std::move(pending));
  return extra;
}

std::function<void(bool)> Addresses::EndGrantLater(PendingGrant pending) const {
  return [this, ended = std::make_shared<const PendingGrant>(std::move(pending))](bool committed) {
    ledger_.EndGrant(ended->grant);
    if (committed && metrics_ != nullptr) CountTaken(*ended);
  };
}

// Named ranges.

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

/// Assigns each name to the family of its range. A name that no range has is assigned to the first
/// claim. The ledger then denies that claim, once it is certain that no such range exists.
std::optional<base::Error> Addresses::NameAddressRanges(const ServiceWrite& write,
                                                        Claims& wanted) const {
  const auto names = rules::NamedRanges(write.service, rules::kIpRangeAnnotation);
  PerPool<std::string_view> by_pool{};
  for (const std::string_view name : names) {
    bool known = false;
    for (const PoolId pool : {PoolId::kIpv4, PoolId::kIpv6}) {
      if (!LedgerView(ledger_).RangeNamed(pool, name)) continue;
      known = true;
      std::string_view& of_pool = by_pool[pool];
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
    wanted[i].range = by_pool[wanted[i].pool];
  }
  return std::nullopt;
}

commit::Refusal Addresses::Deny(const ServiceWrite& write, const Claims& wanted,
                                const state::Snapshot& snapshot, Denial denial) const {
  const Claim& claim = wanted[denial.claim];
  const Why why = denial.why;
  DenialFacts facts{.claim = claim};
  if (!claim.range.empty()) {
    facts.range = LedgerView(ledger_).RangeNamed(claim.pool, claim.range);
    facts.other_kind = !facts.range && std::ranges::any_of(kAllPools, [&](PoolId pool) {
      return LedgerView(ledger_).RangeNamed(pool, claim.range).has_value();
    });
  } else if (claim.wanted && (why == Why::kExcluded || why == Why::kNotOpen)) {
    facts.range = LedgerView(ledger_).RangeWith({.pool = claim.pool, .value = *claim.wanted});
  }
  // Only these two denials name all ranges, of which there may be many.
  if (claim.range.empty() && (why == Why::kFull || why == Why::kOutOfRange)) {
    facts.ranges = LedgerView(ledger_).Ranges(claim.pool);
    facts.ranges_lost =
        facts.ranges.empty() && (claim.pool == PoolId::kPorts || !HasAddressRanges(ledger_));
  }
  if (claim.wanted && (why == Why::kTaken || why == Why::kReserved)) {
    const auto record =
        snapshot.Find(RecordKey(rows_, {.pool = claim.pool, .value = *claim.wanted}));
    if (record != nullptr) facts.holder = HolderWarning(rows_, *record);
    facts.by_hand = claim.pool != PoolId::kPorts && record != nullptr && record->Hidden().empty();
  }
  commit::Refusal refusal = AddressRefusal(write.service, write.claims, std::move(denial), facts);
  if (metrics_ != nullptr) refusal.answered = [this, claim, why] { CountDenied(claim, why); };
  return refusal;
}

// Records.

std::vector<RecordFacts> Addresses::FactsOf(const ServiceWrite& write,
                                            const PendingGrant& pending) const {
  std::vector<RecordFacts> all;
  all.reserve(pending.grant.takes.size());
  for (size_t i = 0; i < pending.grant.takes.size(); ++i) {
    RecordFacts& facts = all.emplace_back(
        RecordFacts{.value = pending.grant.takes[i].value,
                    .chosen = pending.requested[i] ? Chosen::kStatic : Chosen::kDynamic});
    const auto range = LedgerView(ledger_).RangeWith(facts.value);
    if (range && !IsDefaultRange(*range)) facts.range = RangeNote(*range);
    if (i < write.claims.addresses.size()) continue;
    const rules::PortClaim& claim = write.claims.ports[i - write.claims.addresses.size()];
    facts.health_check = claim.IsHealthCheck();
    facts.ports = PortUses(write.service, claim.ports);
  }
  return all;
}

void Addresses::Take(const ServiceWrite& write, const PendingGrant& pending,
                     const state::Snapshot& snapshot, ExtraWrites& extra) {
  const std::vector<TakenValue>& takes = pending.grant.takes;
  if (WritesRecords(pending.grant.form)) {
    const std::vector<RecordFacts> facts = FactsOf(write, pending);
    for (size_t i = 0; i < takes.size(); ++i) {
      extra.puts.push_back(TakeRecord(write, takes[i], facts[i], snapshot));
    }
  }
  PerPool<bool> fenced{};
  for (const TakenValue& take : takes) {
    const PoolId pool = take.value.pool;
    if (std::exchange(fenced[pool], true)) continue;
    extra.compares.push_back({.key = FenceKey(pool), .revision = pending.grant.fences[pool]});
  }
}

commit::ExtraPut Addresses::TakeRecord(const ServiceWrite& write, const TakenValue& take,
                                       const RecordFacts& facts, const state::Snapshot& snapshot) {
  const Owner owner = OwnerOf(write.service);
  const base::WallTime now = clock_.Now();
  const state::ObjectPtr record =
      take.replaces == 0 ? nullptr : snapshot.Find(RecordKey(rows_, take.value));
  // A cooling record belongs to no Service.
  const bool kept = record != nullptr && !IsCooling(rows_, *record);
  commit::ExtraPut put = kept ? TakenRecord({.rows = rows_, .object = *record, .now = now}, owner,
                                            facts, !take.reserved_for.empty())
                              : maker_.Make(owner, facts, uuids_.Next(), now);
  put.expected = take.replaces;
  return put;
}

/// Only records of this Service are changed or deleted. The transaction compares all records that
/// it looked at, also one that does not exist or belongs to another Service, so that no record is
/// missed that becomes this Service's meanwhile. The snapshot may be ahead of the ledger, so what a
/// record says in the snapshot takes precedence.
void Addresses::Release(const Owner& owner, const PendingGrant& pending,
                        const state::Snapshot& snapshot, ExtraWrites& extra) const {
  if (pending.grant.releases.empty() || !WritesRecords(pending.grant.form)) return;
  const base::WallTime now = clock_.Now();
  for (const ReleasedValue& released : pending.grant.releases) {
    std::string key = RecordKey(rows_, released.value);
    const state::ObjectPtr found = snapshot.Find(key);
    if (found == nullptr || !BelongsTo(rows_, *found, owner)) {
      extra.compares.push_back({.key = std::move(key), .revision = state::RevisionOf(found)});
      continue;
    }
    const KnownRecord record{.rows = rows_, .object = *found, .now = now};
    const auto info = ReadRecord(rows_, *found);
    const bool allocated = info && info->state == RecordState::kAllocated;
    if (allocated && !info->reserved_for.empty()) {
      extra.puts.push_back(ReservedAgain(record));
    } else if (allocated && released.becomes == ReleasedValue::Becomes::kCooling) {
      const auto range = LedgerView(ledger_).RangeWith(released.value);
      extra.puts.push_back(
          CoolingRecord(record, range ? RangeNote(*range) : std::string(), released.cool_down));
    } else {
      extra.deletes.push_back({.key = std::move(key), .expected = found->Revision()});
    }
  }
}

void Addresses::UpdatePortPurposes(const ServiceWrite& write, const state::Snapshot& snapshot,
                                   ExtraWrites& extra) const {
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
    const auto record = snapshot.Find(key);
    if (record == nullptr) {  // While records are being created from bitmaps, one may appear at any
                              // moment.
      extra.compares.push_back({.key = std::move(key), .revision = 0});
      continue;
    }
    auto put = PortForOthers({.rows = rows_, .object = *record, .now = now}, OwnerOf(write.service),
                             facts);
    if (put) {
      extra.puts.push_back(*std::move(put));
    } else {
      extra.compares.push_back({.key = std::move(key), .revision = record->Revision()});
    }
  }
}

/// Where bitmaps count, the ledger does not know the records, so a take replaces whatever record of
/// the value the snapshot has. No Service holds that value.
void Addresses::ApplyForm(const Grant& grant, const state::Snapshot& snapshot, ExtraWrites& extra) {
  extra.compares.push_back({.key = kFormKey, .revision = grant.form_revision});
  extra.shared = BitmapPuts(grant);
  if (!WritesRecords(grant.form)) {
    extra.puts.clear();
    extra.deletes.clear();
  } else if (BitmapsCount(grant.form)) {
    for (commit::ExtraPut& put : extra.puts) {
      put.expected = state::RevisionOf(snapshot.Find(put.key));
    }
  }
}

void Addresses::CountTaken(const PendingGrant& pending) const {
  for (size_t i = 0; i < pending.grant.takes.size(); ++i) {
    const PoolValue& value = pending.grant.takes[i].value;
    const obs::AllocationScope scope = AllocationScopeOf(pending.requested[i]);
    if (value.pool == PoolId::kPorts) {
      metrics_->CountPortAllocation(scope);
      continue;
    }
    const std::string range = LedgerView(ledger_).RangeOf(value);
    metrics_->CountAllocation(range, scope);
    metrics_->ObserveDuration(range, clock_.Steady() - pending.begin);
  }
}

/// Counts as Kubernetes does: an address outside of every range is not a failure of any range, and
/// a full pool is a failure of each of its ranges.
void Addresses::CountDenied(const Claim& claim, Denial::Why why) const {
  const obs::AllocationScope scope = AllocationScopeOf(claim.wanted.has_value());
  if (claim.pool == PoolId::kPorts) return metrics_->CountPortError(scope);
  if (!claim.range.empty()) {
    const auto range = LedgerView(ledger_).RangeNamed(claim.pool, claim.range);
    if (range) metrics_->CountError(range->text, scope);
    return;
  }
  if (claim.wanted) {
    const std::string range =
        LedgerView(ledger_).RangeOf({.pool = claim.pool, .value = *claim.wanted});
    if (!range.empty()) metrics_->CountError(range, scope);
    return;
  }
  if (why != Denial::Why::kFull) return;
  for (const auto& range : LedgerView(ledger_).Ranges(claim.pool)) {
    metrics_->CountError(range.text, scope);
  }
}

}  // namespace berth::allocation
