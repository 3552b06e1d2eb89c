#include "rules/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/go_text.h"
#include "codec/read.h"
#include "rules/age.h"
#include "rules/allocated_address.h"
#include "rules/allocation_table.h"
#include "rules/columns.h"
#include "rules/endpoint_table.h"
#include "rules/event_rules.h"
#include "rules/ip_address.h"
#include "rules/service_table.h"

namespace berth::rules {
namespace {

constexpr auto kNamespaceColumns = std::to_array<Column>({
    kNameColumn,
    {.name = "Status", .description = "Whether the namespace is in use or on its way out."},
    kAgeColumn,
});
constexpr auto kLeaseColumns = std::to_array<Column>({
    kNameColumn,
    {.name = "Holder", .description = "Who holds the lease."},
    kAgeColumn,
});
constexpr auto kServiceCidrColumns = std::to_array<Column>({
    kNameColumn,
    {.name = "CIDRs", .description = "Blocks from which Services get their addresses."},
    kAgeColumn,
});
constexpr auto kIpAddressColumns = std::to_array<Column>({
    kNameColumn,
    {.name = "ParentRef", .description = "The object that holds the address."},
});
constexpr auto kEventColumns = std::to_array<Column>({
    {.name = "Last Seen", .description = "Time since it last happened."},
    {.name = "Type", .description = "Normal, or Warning if it needs attention."},
    {.name = "Reason", .description = "Why it happened, in one word."},
    {.name = "Object", .description = "What it happened to."},
    {.name = "Subobject", .description = "Which part of that object.", .priority = 1},
    {.name = "Source", .description = "Who reported it.", .priority = 1},
    {.name = "Message", .description = "What happened, for people."},
    {.name = "First Seen", .description = "Time since it first happened.", .priority = 1},
    {.name = "Count", .description = "How often it happened.", .priority = 1},
    {.name = "Name", .format = "name", .description = "Name of the event.", .priority = 1},
});
constexpr auto kDefaultColumns = std::to_array<Column>({
    kNameColumn,
    {.name = "Created At", .type = "date", .description = "When the object was created."},
});

codec::Array NamespaceCells(const codec::Value& object, base::WallTime now) {
  return {NameCell(object), StringAt(object, "status", "phase"), AgeCell(object, now)};
}

codec::Array LeaseCells(const codec::Value& object, base::WallTime now) {
  return {NameCell(object), StringAt(object, "spec", "holderIdentity"), AgeCell(object, now)};
}

codec::Array ServiceCidrCells(const codec::Value& object, base::WallTime now) {
  const std::vector<std::string> cidrs = Texts(ArrayAt(object, "spec", "cidrs"));
  return {NameCell(object), fmt::format("{}", fmt::join(cidrs, ",")), AgeCell(object, now)};
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

/// The age has no column. Clients ignore the cell, but Kubernetes sends it.
codec::Array IpAddressCells(const codec::Value& object, base::WallTime now) {
  return {NameCell(object), ParentText(object), AgeCell(object, now)};
}

/// Returns the source. If the old and the new form of an Event differ, the field that is set
/// counts.
std::string SourceText(const codec::Value& event) {
  const auto either = [](std::string_view first, std::string_view second) {
    return first.empty() ? second : first;
  };
  const std::string_view component =
      either(StringAt(event, "source", "component"), StringAt(event, "reportingComponent"));
  const std::string_view instance =
      either(StringAt(event, "source", "host"), StringAt(event, "reportingInstance"));
  if (instance.empty()) return std::string(component);
  return fmt::format("{}, {}", component, instance);
}

std::string ObjectText(const codec::Value& event) {
  std::string text = Lower(StringAt(event, "involvedObject", "kind"));
  const std::string_view name = StringAt(event, "involvedObject", "name");
  if (!name.empty()) text += fmt::format("/{}", name);
  return text;
}

codec::Array EventCells(const codec::Value& event, base::WallTime now) {
  const bool has_first = HasAt(event, "firstTimestamp");
  const std::string first = Age(StringAt(event, has_first ? "firstTimestamp" : "eventTime"), now);
  std::string last =
      HasAt(event, "lastTimestamp") ? Age(StringAt(event, "lastTimestamp"), now) : first;
  int64_t count = IntAt(event, "count");
  if (HasAt(event, "series")) {
    last = Age(StringAt(event, "series", "lastObservedTime"), now);
    count = IntAt(event, "series", "count");
  } else if (count == 0) {
    count = 1;  // An event of the new form that happened once has no count.
  }
  return {std::move(last),
          StringAt(event, "type"),
          StringAt(event, "reason"),
          ObjectText(event),
          StringAt(event, "involvedObject", "fieldPath"),
          SourceText(event),
          base::GoTrimSpace(StringAt(event, "message")),
          first,
          count,
          NameCell(event)};
}

codec::Array NewEventCells(const codec::Value& event, base::WallTime now) {
  return EventCells(EventToCore(event), now);
}

codec::Array DefaultCells(const codec::Value& object, base::WallTime /*now*/) {
  return {NameCell(object), StringAt(object, "metadata", "creationTimestamp")};
}

struct KindTable {
  std::string_view kind;
  std::span<const Column> columns;
  codec::Array (*cells)(const codec::Value&, base::WallTime);
};

const KindTable& TableOf(std::string_view kind) {
  static const auto tables = std::to_array<KindTable>({
      {"Service", ServiceColumns(), ServiceCells},
      {"Namespace", kNamespaceColumns, NamespaceCells},
      {"Event", kEventColumns, EventCells},
      {"Event.events.k8s.io", kEventColumns, NewEventCells},
      {"Endpoints", EndpointsColumns(), EndpointsCells},
      {"EndpointSlice.discovery.k8s.io", EndpointSliceColumns(), EndpointSliceCells},
      {"Node", NodeColumns(), NodeCells},
      {"Lease.coordination.k8s.io", kLeaseColumns, LeaseCells},
      {"ServiceCIDR.networking.k8s.io", kServiceCidrColumns, ServiceCidrCells},
      {"IPAddress.networking.k8s.io", kIpAddressColumns, IpAddressCells},
      {"IPRange.allocation.berth.io", IpRangeColumns(), IpRangeCells},
      {"NodePortRange.allocation.berth.io", NodePortRangeColumns(), NodePortRangeCells},
      {"NodePort.allocation.berth.io", NodePortColumns(), NodePortCells},
      {"Replica.allocation.berth.io", ReplicaColumns(), ReplicaCells},
      {"IPAddress.allocation.berth.io", AllocatedAddressColumns(), AllocatedAddressCells},
  });
  static const KindTable other{"", kDefaultColumns, DefaultCells};
  const auto* const own = std::ranges::find(tables, kind, &KindTable::kind);
  return own == tables.end() ? other : *own;
}

}  // namespace

std::span<const Column> Columns(std::string_view kind) { return TableOf(kind).columns; }

codec::Array Cells(std::string_view kind, const codec::Value& object, base::WallTime now) {
  return TableOf(kind).cells(object, now);
}

}  // namespace berth::rules
