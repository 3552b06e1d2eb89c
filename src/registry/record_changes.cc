#include "registry/record_changes.h"

#include <string_view>
#include <utility>

#include "codec/read.h"
#include "codec/timestamp.h"
#include "merge/managed_fields.h"
#include "registry/registry.h"
#include "rules/allocated_address.h"
#include "rules/ip_address.h"
#include "rules/node_port.h"
#include "rules/record_notes.h"

namespace berth::registry {
namespace {

using codec::Value;
using rules::RecordNotes;
using rules::RecordState;

constexpr const char* kManager = "berth";

bool IsPort(const KnownRecord& record) {
  return record.object.Resource() == record.rows.node_ports->resource;
}

const Row& RowOf(const KnownRecord& record) {
  return IsPort(record) ? *record.rows.node_ports : *record.rows.ip_addresses;
}

Value Decoded(const KnownRecord& record) {
  return Registry::Decode(RowOf(record), record.object).value_or(codec::Object());
}

/// Where it is noted who has set what, the server is one of them.
commit::ExtraPut Put(const KnownRecord& record, const Value& before, Value object,
                     std::string_view hidden) {
  const Row& row = RowOf(record);
  if (codec::HasAt(before, "metadata", "managedFields")) {
    merge::TrackUpdate({.kind = *row.kind, .manager = kManager, .now = record.now}, before, object);
  }
  return {.key = record.object.Key(),
          .stored = ToStored(row, object, hidden),
          .wire = ToWireText(row, object, hidden),
          .expected = record.object.Revision()};
}

Value TimeValue(base::WallTime time) { return Value(codec::FormatTime(time)); }

codec::Object PortStatus(RecordState state, base::WallTime since) {
  return {{"state", rules::StateText(state)}, {"since", TimeValue(since)}};
}

/// The range that an address is noted to be of, or else the one that is now said.
std::string RangeToNote(const RecordNotes& notes, std::string range) {
  return notes.range.empty() ? std::move(range) : notes.range;
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
    codec::Object status = AllocatedPortStatus(owner, facts);
    status.Set("since", TimeValue(record.now));
    codec::SetAt(object, {"status"}, std::move(status));
    return Put(record, before, std::move(object), {});
  }
  codec::SetAt(
      object, {"spec", "parentRef"},
      codec::Object{
          {"resource", "services"}, {"namespace", owner.name_space}, {"name", owner.name}});
  const RecordNotes had = rules::NotesOfHidden(record.object.Hidden());
  RecordNotes notes = NotesOf(facts);
  notes.range = RangeToNote(had, facts.range);
  notes.since = record.now;
  if (stays_reserved) notes.reserved_for = had.reserved_for;
  return Put(record, before, std::move(object), rules::HiddenOf(notes));
}

commit::ExtraPut ReservedAgain(const KnownRecord& record) {
  const Value before = Decoded(record);
  Value object = before;
  if (IsPort(record)) {
    codec::SetAt(object, {"status"}, PortStatus(RecordState::kReserved, record.now));
    return Put(record, before, std::move(object), {});
  }
  RecordNotes notes = rules::NotesOfHidden(record.object.Hidden());
  notes.state = RecordState::kReserved;
  notes.chosen = std::nullopt;
  notes.since = record.now;
  codec::SetAt(object, {"spec", "parentRef"}, rules::ParentRange(notes.range));
  return Put(record, before, std::move(object), rules::HiddenOf(notes));
}

commit::ExtraPut CoolingRecord(const KnownRecord& record, std::string range,
                               std::chrono::seconds cool_down) {
  const Value before = Decoded(record);
  Value object = before;
  const base::WallTime until = record.now + cool_down;
  std::string hidden;
  if (IsPort(record)) {
    codec::Object status = PortStatus(RecordState::kFree, record.now);
    status.Set("until", TimeValue(until));
    codec::SetAt(object, {"status"}, std::move(status));
  } else {
    const RecordNotes had = rules::NotesOfHidden(record.object.Hidden());
    const RecordNotes notes{.state = RecordState::kFree,
                            .range = RangeToNote(had, std::move(range)),
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
  const auto service = rules::ServiceOfNodePort(before);
  if (!service || service->name_space != owner.name_space || service->name != owner.name) {
    return std::nullopt;
  }
  Value object = before;
  codec::SetAt(object, {"status", "purpose"}, facts.health_check ? "HealthCheck" : "NodePort");
  codec::EraseAt(object, {"status", "ports"});
  if (!facts.ports.empty()) codec::SetAt(object, {"status", "ports"}, UsesOf(facts.ports));
  if (object == before) return std::nullopt;
  return Put(record, before, std::move(object), {});
}

bool MayGoWith(const RecordRows& rows, const state::Object& record, const Owner& owner) {
  const auto info = ReadRecord(rows, record);
  if (!info || info->state == commit::RecordState::kAllocated) return true;
  if (info->value.pool == commit::PoolId::kPorts) return false;
  const auto address = DecodeWithoutManagedFields(*rows.ip_addresses, record);
  if (!address) return false;
  const auto service = rules::ParentService(*address);
  return service && service->name_space == owner.name_space && service->name == owner.name;
}

std::optional<base::WallTime> AddressEnds(const Value& /*address*/, std::string_view hidden) {
  const RecordState state = rules::StateOfHidden(hidden);
  if (state != RecordState::kPending && state != RecordState::kFree) return std::nullopt;
  return rules::NotesOfHidden(hidden).until;
}

std::optional<base::WallTime> PortEnds(const Value& port, std::string_view /*hidden*/) {
  const std::string_view until = codec::StringAt(port, "status", "until");
  if (until.empty()) return std::nullopt;
  const auto time = codec::ParseTime(until);
  return time ? std::optional(*time) : std::nullopt;
}

}  // namespace berth::registry
