#include "allocation/repairs.h"

#include <algorithm>
#include <utility>

#include "allocation/allocation_forms.h"
#include "allocation/fences.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/record_changes.h"
#include "api/kinds.h"
#include "codec/read.h"
#include "rules/ip_address.h"
#include "rules/node_port.h"
#include "rules/service_claims.h"
#include "state/snapshot.h"

namespace berth::allocation {
namespace {

Owner OwnerIn(const codec::Value& service) {
  return {.name_space = codec::StringAt(service, "metadata", "namespace"),
          .name = codec::StringAt(service, "metadata", "name"),
          .uid = codec::StringAt(service, "metadata", "uid")};
}

/// Returns the decision to put what `put` says, as the write's own object.
commit::Decision PutAsObject(commit::ExtraPut put) {
  return {.kind = commit::Decision::Kind::kPut,
          .stored = std::move(put.stored),
          .wire = std::move(put.wire),
          .ttl = put.ttl};
}

std::string TextOf(const ServiceId& service) { return service.name_space + "/" + service.name; }

}  // namespace

std::vector<RecordFacts> FactsOfHeld(const codec::Value& service) {
  std::vector<RecordFacts> all;
  for (const ip::Addr& address : rules::HoldingsOf(service).addresses) {
    all.push_back({.value = {.pool = PoolOf(address.family()), .value = address.bits()}});
  }
  for (const rules::PortPurpose& purpose : rules::PurposesOf(service)) {
    all.push_back({.value = {.pool = PoolId::kPorts, .value = purpose.number},
                   .health_check = purpose.IsHealthCheck(),
                   .ports = PortUses(service, purpose.ports)});
  }
  return all;
}

void AddRange(const std::optional<RangeState>& range, RecordFacts& facts) {
  if (!range) return;
  const bool in_static = range->static_band && range->static_band->Contains(facts.value.value);
  facts.chosen = in_static ? Chosen::kStatic : Chosen::kDynamic;
  if (!IsDefaultRange(*range)) facts.range = RangeNote(*range);
}

std::optional<ServiceId> ServiceNamedBy(const RecordRows& rows, const state::Object& record) {
  const bool port = record.Resource() == rows.node_ports->resource;
  const registry::Row& row = port ? *rows.node_ports : *rows.ip_addresses;
  const auto object = registry::DecodeWithoutManagedFields(row, record);
  if (!object) return std::nullopt;
  const auto named = port ? rules::ServiceOfNodePort(*object) : rules::ParentService(*object);
  if (!named) return std::nullopt;
  return ServiceId{.name_space = std::string(named->name_space), .name = std::string(named->name)};
}

Repairs::Repairs(const Parts& parts, const base::SeededRandom& random)
    : parts_(parts),
      rows_(RecordRowsOf(parts_.kinds)),
      services_(*parts_.kinds.FindRow(api::kServiceKind)),
      uuids_(random) {}

commit::Write Repairs::MakeRecord(const PoolValue& value, const ServiceId& service) {
  commit::Write write{.key = RecordKey(rows_, value)};
  write.transform = [this, value, service](const state::Snapshot& snapshot,
                                           const state::ObjectPtr& current) {
    return Make(snapshot, current, value, service);
  };
  return write;
}

commit::Write Repairs::RewriteRecord(const PoolValue& value, int64_t revision,
                                     const ServiceId& service) {
  commit::Write write{.key = RecordKey(rows_, value)};
  write.transform = [this, value, revision, service](const state::Snapshot& snapshot,
                                                     const state::ObjectPtr& current) -> Decided {
    if (current == nullptr || current->Revision() != revision) return commit::Decision{};
    return Rewrite(snapshot, current, value, service);
  };
  return write;
}

commit::Write Repairs::ReleaseRecord(const PoolValue& value, int64_t revision) {
  commit::Write write{.key = RecordKey(rows_, value)};
  write.transform = [this, value, revision](const state::Snapshot& snapshot,
                                            const state::ObjectPtr& current) -> Decided {
    if (current == nullptr || current->Revision() != revision) return commit::Decision{};
    return Release(snapshot, current, value);
  };
  return write;
}

Repairs::Decided Repairs::Make(const state::Snapshot& snapshot, const state::ObjectPtr& current,
                               const PoolValue& value, const ServiceId& service) {
  if (current != nullptr) return commit::Decision{};
  const auto form = WhileRecordsCount(snapshot);
  const auto holder = SoleHolder(snapshot, value, service);
  const auto range = LedgerView(parts_.ledger).RangeWith(value);
  if (!form || !holder || !range || range->closing) return commit::Decision{};
  RecordFacts& facts = holder->facts;
  AddRange(range, facts);
  commit::Decision decision = PutAsObject(NewRecord(
      rows_, OwnerIn(holder->service), facts, std::string(uuids_.Next()), parts_.clock.Now()));
  decision.compares = {*form,
                       {.key = holder->key, .revision = holder->revision},
                       {.key = FenceKey(value.pool), .revision = range->fence}};
  return decision;
}

Repairs::Decided Repairs::Rewrite(const state::Snapshot& snapshot, const state::ObjectPtr& current,
                                  const PoolValue& value, const ServiceId& service) const {
  const auto form = WhileRecordsCount(snapshot);
  const auto holder = SoleHolder(snapshot, value, service);
  const auto info = ReadRecord(rows_, *current);
  if (!form || !holder || !info) return commit::Decision{};
  const bool reserved =
      info->state == RecordState::kReserved || info->state == RecordState::kPending;
  if (reserved && info->reserved_for != TextOf(service)) return commit::Decision{};
  AddRange(LedgerView(parts_.ledger).RangeWith(value), holder->facts);
  commit::Decision decision =
      PutAsObject(RewrittenRecord({.rows = rows_, .object = *current, .now = parts_.clock.Now()},
                                  OwnerIn(holder->service), holder->facts));
  decision.compares = {*form, {.key = holder->key, .revision = holder->revision}};
  return decision;
}

Repairs::Decided Repairs::Release(const state::Snapshot& snapshot, const state::ObjectPtr& current,
                                  const PoolValue& value) const {
  const auto form = WhileRecordsCount(snapshot);
  const auto info = ReadRecord(rows_, *current);
  if (!form || !info || info->state != RecordState::kAllocated) return commit::Decision{};
  if (LedgerView(parts_.ledger).HoldersOf(value) > 0) return commit::Decision{};
  commit::Decision decision{.kind = commit::Decision::Kind::kDelete};
  if (!info->reserved_for.empty()) {
    decision =
        PutAsObject(ReservedAgain({.rows = rows_, .object = *current, .now = parts_.clock.Now()}));
  }
  decision.compares = {*form};
  const auto named = ServiceNamedBy(rows_, *current);
  if (!named) return decision;
  // The snapshot may be ahead of the ledger.
  if (SoleHolder(snapshot, value, *named)) return commit::Decision{};
  const std::string key = ServiceKey(*named);
  decision.compares.push_back({.key = key, .revision = state::RevisionOf(snapshot.Find(key))});
  return decision;
}

std::string Repairs::ServiceKey(const ServiceId& service) const {
  return services_.prefix + TextOf(service);
}

std::unique_ptr<Repairs::Holder> Repairs::SoleHolder(const state::Snapshot& snapshot,
                                                     const PoolValue& value,
                                                     const ServiceId& service) const {
  if (LedgerView(parts_.ledger).HoldersOf(value) > 1) return nullptr;
  auto holder = std::make_unique<Holder>();
  holder->key = ServiceKey(service);
  const auto found = snapshot.Find(holder->key);
  if (found == nullptr) return nullptr;
  auto decoded = registry::DecodeWithoutManagedFields(services_, *found);
  if (!decoded) return nullptr;
  holder->revision = found->Revision();
  holder->service = *std::move(decoded);
  std::vector<RecordFacts> held = FactsOfHeld(holder->service);
  const auto facts =
      std::ranges::find_if(held, [&](const RecordFacts& each) { return each.value == value; });
  if (facts == held.end()) return nullptr;
  holder->facts = std::move(*facts);
  return holder;
}

std::optional<commit::Compare> Repairs::WhileRecordsCount(const state::Snapshot& snapshot) const {
  if (FormIn(rows_, snapshot).form != AllocationForm::kRecords) return std::nullopt;
  return commit::Compare{.key = kFormKey, .revision = state::RevisionOf(snapshot.Find(kFormKey))};
}

}  // namespace berth::allocation
