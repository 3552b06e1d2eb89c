#include "controllers/audit_events.h"

#include <fmt/format.h>

#include "allocation/records.h"
#include "api/kinds.h"
#include "ip/addr.h"

namespace berth::controllers {
namespace {

using alloc::PoolId;
using allocation::WarningEvent;
using audit::Finding;
using audit::FindingKind;
using audit::ObjectRef;

std::string ApiVersionOf(const api::Kind& kind) {
  return fmt::format("{}/{}", kind.group, kind.version);
}

std::string_view FamilyOf(PoolId pool) {
  return ip::FamilyText(pool == PoolId::kIpv4 ? ip::Family::kV4 : ip::Family::kV6);
}

WarningEvent AboutService(const ObjectRef& service, PoolId pool) {
  const bool port = pool == PoolId::kPorts;
  return {.kind = "Service",
          .api_version = "v1",
          .name_space = service.name_space,
          .name = service.name,
          .uid = service.uid,
          .action = port ? "PortAllocation" : "ClusterIPAllocation",
          .reporter = port ? allocation::kPortRepairer : allocation::kAddressRepairer};
}

/// Returns "Service shop/b has it too" or "... and 2 more have it too", for the owner at `place`.
std::string OthersOf(const Finding& finding, size_t place) {
  const ObjectRef& other = finding.owners[place == 0 ? 1 : 0];
  const std::string name = fmt::format("Service {}/{}", other.name_space, other.name);
  if (finding.owner_count <= 2) return name + " has it too";
  return fmt::format("{} and {} more have it too", name, finding.owner_count - 2);
}

void SayTwoOwners(const Finding& finding, size_t place, WarningEvent& event) {
  const alloc::PoolValue& value = *finding.value;
  const std::string name = allocation::RecordName(value);
  const std::string others = OthersOf(finding, place);
  if (value.pool == PoolId::kPorts) {
    event.reason = "PortAlreadyAllocated";
    event.note = fmt::format(
        "Port {} was assigned to multiple services; please recreate service: {}", name, others);
    return;
  }
  event.reason = "ClusterIPAlreadyAllocated";
  event.note = fmt::format(
      "Cluster IP [{}]:{} was assigned to multiple services; please recreate service: {}",
      FamilyOf(value.pool), name, others);
}

void SayNoRecord(const alloc::PoolValue& value, WarningEvent& event) {
  const std::string name = allocation::RecordName(value);
  if (value.pool == PoolId::kPorts) {
    event.reason = "PortNotAllocated";
    event.note = fmt::format("Port {} is not allocated; repairing", name);
    return;
  }
  event.reason = "ClusterIPNotAllocated";
  event.note =
      fmt::format("Cluster IP [{}]: {} is not allocated; repairing", FamilyOf(value.pool), name);
}

void SayOutOfRange(const alloc::PoolValue& value, const EventFacts& facts, WarningEvent& event) {
  const std::string name = allocation::RecordName(value);
  if (value.pool == PoolId::kPorts) {
    event.reason = "PortOutOfRange";
    event.note = fmt::format("Port {} is not within the port range {}; please recreate service",
                             name, facts.port_ranges);
    return;
  }
  event.reason = "ClusterIPOutOfRange";
  event.note = fmt::format(
      "Cluster IP [{}]: {} is not within any configured Service CIDR; please recreate service",
      FamilyOf(value.pool), name);
}

void SayWrongReference(const alloc::PoolValue& value, WarningEvent& event) {
  const std::string name = allocation::RecordName(value);
  const std::string service = fmt::format("{}/{}", event.name_space, event.name);
  if (value.pool == PoolId::kPorts) {
    event.reason = "PortNotAllocated";
    event.note =
        fmt::format("the port {} for Service {} has a wrong reference; repairing", name, service);
    return;
  }
  event.reason = "ClusterIPNotAllocated";
  event.note = fmt::format("the ClusterIP [{}]: {} for Service {} has a wrong reference; repairing",
                           FamilyOf(value.pool), name, service);
}

/// Fills in what the event says. It says nothing if the reason stays empty.
void Say(const Finding& finding, size_t place, const EventFacts& facts, WarningEvent& event) {
  const bool repaired = facts.records_count && finding.owner_count == 1;
  switch (finding.kind) {
    case FindingKind::kTwoOwners:
      return SayTwoOwners(finding, place, event);
    case FindingKind::kNoRecord:
      if (repaired) SayNoRecord(*finding.value, event);
      return;
    case FindingKind::kWrongUid:
    case FindingKind::kWrongOwner:
    case FindingKind::kWrongFamily:
    case FindingKind::kWrongPurpose:
      if (repaired) SayWrongReference(*finding.value, event);
      return;
    case FindingKind::kOutOfRange:
    case FindingKind::kUnusable:
      return SayOutOfRange(*finding.value, facts, event);
    default:
      return;
  }
}

}  // namespace

std::vector<WarningEvent> EventsOf(const Finding& finding, const EventFacts& facts) {
  std::vector<WarningEvent> events;
  if (!finding.value) return events;
  if (finding.kind == FindingKind::kTwoOwners && finding.owners.size() < 2) return events;
  for (size_t i = 0; i < finding.owners.size(); ++i) {
    WarningEvent event = AboutService(finding.owners[i], finding.value->pool);
    Say(finding, i, facts, event);
    if (!event.reason.empty()) events.push_back(std::move(event));
  }
  return events;
}

WarningEvent EventOf(const ReleasedRecord& record) {
  const bool port = record.value.pool == PoolId::kPorts;
  const std::string_view kind = port ? "NodePort" : "IPAddress";
  WarningEvent event{.kind = std::string(kind),
                     .api_version = ApiVersionOf(port ? api::kNodePortKind : api::kIpAddressKind),
                     .name = record.name,
                     .uid = record.uid,
                     .action = fmt::format("{}Allocation", kind),
                     .reporter = port ? allocation::kPortRepairer : allocation::kAddressRepairer};
  if (!record.service) {
    event.reason = fmt::format("{}NotAllocated", kind);
    event.note =
        fmt::format("{} {} appears to have been modified, not referencing a Service: cleaning up",
                    kind, record.name);
    return event;
  }
  const std::string about = fmt::format("{}: {} for Service {}/{}", kind, record.name,
                                        record.service->name_space, record.service->name);
  if (record.service_exists) {
    event.reason = fmt::format("{}WrongReference", kind);
    event.note = about + " has a wrong reference; cleaning up";
  } else {
    event.reason = fmt::format("{}NotAllocated", kind);
    event.note = about + " appears to have leaked: cleaning up";
  }
  return event;
}

std::string_view RepairLabelOf(FindingKind kind, const EventFacts& facts) {
  switch (kind) {
    case FindingKind::kTwoOwners:
      return "duplicate";
    case FindingKind::kOutOfRange:
    case FindingKind::kUnusable:
      return "outOfRange";
    case FindingKind::kNoRecord:
    case FindingKind::kWrongUid:
    case FindingKind::kWrongOwner:
    case FindingKind::kWrongFamily:
    case FindingKind::kWrongPurpose:
      return facts.records_count ? "repair" : "";  // The repair of bitmaps counts its own.
    default:
      return "";
  }
}

}  // namespace berth::controllers
