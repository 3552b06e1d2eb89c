#include "allocation/record_changes.h"

#include <string_view>
#include <utility>

#include "codec/read.h"
#include "codec/template.h"
#include "codec/timestamp.h"
#include "merge/managed_fields.h"
#include "registry/kind_rows.h"
#include "registry/registry.h"
#include "rules/allocated_address.h"
#include "rules/ip_address.h"
#include "rules/node_port.h"
#include "rules/record_notes.h"

namespace berth::allocation {
namespace {

using codec::Value;
using rules::RecordNotes;

bool IsPort(const KnownRecord& record) {
  return record.object.Resource() == record.rows.node_ports->resource;
}

const registry::Row& RowOf(const KnownRecord& record) {
  return IsPort(record) ? *record.rows.node_ports : *record.rows.ip_addresses;
}

Value Decoded(const KnownRecord& record) {
  return registry::Registry::Decode(RowOf(record), record.object).value_or(codec::Object());
}

/// Returns the put of the changed record. If the record has managedFields, the server is one of the
/// managers.
commit::ExtraPut Put(const KnownRecord& record, const Value& before, Value object,
                     std::string_view hidden) {
  const registry::Row& row = RowOf(record);
  if (codec::HasAt(before, "metadata", "managedFields")) {
    merge::TrackUpdate({.kind = *row.kind, .manager = registry::kOwnManager, .now = record.now},
                       before, object);
  }
  return {.key = record.object.Key(),
          .stored = registry::ToStored(row, object, hidden),
          .wire = registry::ToWireText(row, object, hidden),
          .expected = record.object.Revision()};
}

codec::Object ServiceReference(const Owner& owner) {
  return {{"resource", "services"}, {"namespace", owner.name_space}, {"name", owner.name}};
}

Value TimeValue(base::WallTime time) { return Value(codec::FormatTime(time)); }

codec::Object PortStatus(rules::RecordState state, base::WallTime since) {
  return {{"state", rules::StateText(state)}, {"since", TimeValue(since)}};
}

/// Returns the range that the address notes already, or else the given one.
std::string RangeToNote(const RecordNotes& notes, std::string_view range) {
  return notes.range.empty() ? std::string(range) : notes.range;
}

bool IsSame(const std::optional<rules::ServiceName>& service, const Owner& owner) {
  return service && service->name_space == owner.name_space && service->name == owner.name;
}

bool IsPortOf(const Value& port, const Owner& owner) {
  const std::string_view uid = codec::StringAt(port, "status", "service", "uid");
  return IsSame(rules::ServiceOfNodePort(port), owner) && (uid.empty() || uid == owner.uid);
}

/// Returns whether the port was given to the Service, and not to an earlier one of that name.
bool IsAllocatedTo(const Value& port, const Owner& owner) {
  return codec::StringAt(port, "status", "state") ==
             rules::StateText(rules::RecordState::kAllocated) &&
         codec::StringAt(port, "status", "service", "uid") == owner.uid && IsPortOf(port, owner);
}

/// Returns whether the record names the Service in the words that the allocator uses. A quote
/// inside a JSON string has a backslash before it, so only the member itself can match.
bool NamesOwner(bool port, const state::Object& record, const Owner& owner) {
  if (!codec::IsPlain(owner.name_space) || !codec::IsPlain(owner.name)) return false;
  std::string member = port ? R"("service":{)" : R"("parentRef":{"resource":"services",)";
  member.append(R"("namespace":")").append(owner.name_space);
  member.append(R"(","name":")").append(owner.name);
  if (port) member.append(R"(","uid":")").append(owner.uid);
  member.append(R"("})");
  std::string room;
  return record.TextWithoutManagedFields(room).find(member) != std::string_view::npos;
}

}  // namespace

commit::ExtraPut TakenRecord(const KnownRecord& record, const Owner& owner,
                             const RecordFacts& facts, bool stays_reserved) {
  const Value before = Decoded(record);
  Value object = before;
  if (IsPort(record)) {
    if (!stays_reserved) {
      codec::EraseAt(object, {"spec", "reservedFor"});
      codec::EraseAt(object, {"spec", "holdSeconds"});
    }
    codec::SetAt(object, {"status"},
                 AllocatedPortStatus(owner, facts, codec::FormatTime(record.now)));
    return Put(record, before, std::move(object), {});
  }
  codec::SetAt(object, {"spec", "parentRef"}, ServiceReference(owner));
  const RecordNotes had = rules::NotesOfHidden(record.object.Hidden());
  RecordNotes notes = NotesOf(owner, facts);
  notes.range = RangeToNote(had, facts.range);
  notes.since = record.now;
  if (stays_reserved) notes.reserved_for = had.reserved_for;
  return Put(record, before, std::move(object), rules::HiddenOf(notes));
}

commit::ExtraPut RewrittenRecord(const KnownRecord& record, const Owner& owner,
                                 const RecordFacts& facts) {
  const Value before = Decoded(record);
  Value object = before;
  if (IsPort(record)) {
    codec::Object status = AllocatedPortStatus(owner, facts, codec::FormatTime(record.now));
    if (const Value* since = codec::FindAt(before, "status", "since");
        since != nullptr && IsAllocatedTo(before, owner)) {
      status.Set("since", *since);
    }
    if (const Value* chosen = codec::FindAt(before, "status", "chosen")) {
      status.Set("chosen", *chosen);
    }
    codec::SetAt(object, {"status"}, std::move(status));
    return Put(record, before, std::move(object), {});
  }
  for (const auto& [label, value] : AddressLabels(facts.value)) {
    codec::SetAt(object, {"metadata", "labels", label}, value);
  }
  codec::SetAt(object, {"spec", "parentRef"}, ServiceReference(owner));
  const RecordNotes had = rules::NotesOfHidden(record.object.Hidden());
  RecordNotes notes = NotesOf(owner, facts);
  if (had.chosen) notes.chosen = had.chosen;
  notes.range = RangeToNote(had, facts.range);
  notes.reserved_for = had.reserved_for;
  const bool same = had.state == rules::RecordState::kAllocated && had.service_uid == owner.uid;
  notes.since =
      same && IsSame(rules::ParentService(before), owner) ? had.since : std::optional(record.now);
  return Put(record, before, std::move(object), rules::HiddenOf(notes));
}

commit::ExtraPut ReservedAgain(const KnownRecord& record) {
  const Value before = Decoded(record);
  Value object = before;
  if (IsPort(record)) {
    codec::SetAt(object, {"status"}, PortStatus(rules::RecordState::kReserved, record.now));
    return Put(record, before, std::move(object), {});
  }
  RecordNotes notes = rules::NotesOfHidden(record.object.Hidden());
  notes.state = rules::RecordState::kReserved;
  notes.chosen = std::nullopt;
  notes.service_uid.clear();
  notes.since = record.now;
  codec::SetAt(object, {"spec", "parentRef"}, rules::ParentRange(notes.range));
  return Put(record, before, std::move(object), rules::HiddenOf(notes));
}

commit::ExtraPut CoolingRecord(const KnownRecord& record, std::string_view range,
                               std::chrono::seconds cool_down) {
  const Value before = Decoded(record);
  Value object = before;
  const base::WallTime until = record.now + cool_down;
  std::string hidden;
  if (IsPort(record)) {
    codec::Object status = PortStatus(rules::RecordState::kFree, record.now);
    status.Set("until", TimeValue(until));
    codec::SetAt(object, {"status"}, std::move(status));
  } else {
    const RecordNotes had = rules::NotesOfHidden(record.object.Hidden());
    const RecordNotes notes{.state = rules::RecordState::kFree,
                            .range = RangeToNote(had, range),
                            .since = record.now,
                            .until = until};
    codec::SetAt(object, {"spec", "parentRef"}, rules::ParentRange(notes.range));
    hidden = rules::HiddenOf(notes);
  }
  commit::ExtraPut put = Put(record, before, std::move(object), hidden);
  put.ttl = cool_down;
  return put;
}

std::optional<commit::ExtraPut> PortForOthers(const KnownRecord& record, const Owner& owner,
                                              const RecordFacts& facts) {
  const Value before = Decoded(record);
  if (!IsPortOf(before, owner)) return std::nullopt;
  Value object = before;
  codec::SetAt(object, {"status", "purpose"}, facts.health_check ? "HealthCheck" : "NodePort");
  codec::EraseAt(object, {"status", "ports"});
  if (!facts.ports.empty()) codec::SetAt(object, {"status", "ports"}, UsesOf(facts.ports));
  if (object == before) return std::nullopt;
  return Put(record, before, std::move(object), {});
}

bool BelongsTo(const RecordRows& rows, const state::Object& record, const Owner& owner) {
  const bool port = record.Resource() == rows.node_ports->resource;
  if (NamesOwner(port, record, owner)) return true;
  const registry::Row& row = port ? *rows.node_ports : *rows.ip_addresses;
  const auto object = registry::DecodeWithoutManagedFields(row, record);
  if (!object) return false;
  return port ? IsPortOf(*object, owner) : IsSame(rules::ParentService(*object), owner);
}

}  // namespace berth::allocation
