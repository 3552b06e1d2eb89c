#include "rules/allocation_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/read.h"
#include "rules/age.h"
#include "rules/columns.h"
#include "rules/range_spec.h"

namespace berth::rules {
namespace {

constexpr std::string_view kUnknown = "<unknown>";

constexpr Column kTotalColumn{.name = "Total", .description = "How many there are to give out."};
constexpr Column kUsedColumn{
    .name = "Used", .type = "integer", .description = "How many Services have."};
constexpr Column kFreeColumn{
    .name = "Free", .type = "integer", .description = "How many are free."};
constexpr Column kReadyColumn{.name = "Ready",
                              .description = "Whether something is given from it, or why not."};
constexpr Column kPriorityColumn{
    .name = "Priority", .description = "The highest is drawn from first.", .priority = 1};
constexpr Column kReservedColumn{.name = "Reserved",
                                 .type = "integer",
                                 .description = "How many are kept from Services, or for some.",
                                 .priority = 1};
constexpr Column kCoolingColumn{.name = "Cooling",
                                .type = "integer",
                                .description = "How many were released a short while ago.",
                                .priority = 1};
constexpr Column kStaticBandColumn{.name = "StaticBand",
                                   .description = "The part for those who ask for a certain one.",
                                   .priority = 1};
constexpr Column kDisabledColumn{
    .name = "Disabled", .description = "Whether nothing new is given from it.", .priority = 1};
constexpr Column kStateColumn{.name = "State", .description = "Whether and how it is in use."};
constexpr Column kServiceColumn{.name = "Service",
                                .description = "The Service that has it, or that it is kept for."};
constexpr Column kRangeColumn{.name = "Range", .description = "The range that it comes from."};
constexpr Column kChosenColumn{
    .name = "Chosen", .description = "Whether it was asked for or drawn.", .priority = 1};
constexpr Column kUntilColumn{
    .name = "Until", .description = "When the state ends by itself.", .priority = 1};

constexpr auto kIpRangeColumns = std::to_array<Column>({
    kNameColumn,
    {.name = "Range", .description = "The addresses, as a CIDR."},
    {.name = "Primary", .description = "Whether Services get its IP family if they name none."},
    kTotalColumn,
    kUsedColumn,
    kFreeColumn,
    kReadyColumn,
    kAgeColumn,
    kPriorityColumn,
    kReservedColumn,
    kCoolingColumn,
    kStaticBandColumn,
    kDisabledColumn,
});
constexpr auto kNodePortRangeColumns = std::to_array<Column>({
    kNameColumn,
    {.name = "Range", .description = "The ports, both ends included."},
    kTotalColumn,
    kUsedColumn,
    kFreeColumn,
    kReadyColumn,
    kAgeColumn,
    kPriorityColumn,
    kReservedColumn,
    kCoolingColumn,
    kStaticBandColumn,
    kDisabledColumn,
});
constexpr auto kNodePortColumns = std::to_array<Column>({
    {.name = "Name", .format = "name", .description = "The number of the port."},
    kStateColumn,
    kServiceColumn,
    {.name = "Purpose", .description = "What the Service has it for."},
    kRangeColumn,
    kSinceColumn,
    {.name = "Ports", .description = "The ports of the Service that use it.", .priority = 1},
    kChosenColumn,
    kUntilColumn,
    kWideAgeColumn,
});
constexpr auto kReplicaColumns = std::to_array<Column>({
    kNameColumn,
    {.name = "Version", .description = "Which version of the program it runs."},
    {.name = "Gates", .description = "Which feature gates are off."},
    {.name = "Skew", .description = "In what it differs from another replica."},
    kAgeColumn,
    {.name = "Address", .description = "Where it serves.", .priority = 1},
    {.name = "Capabilities", .description = "What it can honour of ranges.", .priority = 1},
});

codec::Value TextOr(std::string_view text, std::string_view otherwise) {
  return text.empty() ? otherwise : text;
}

/// Returns a count of the status. A count that does not exist yet is shown as unknown, not as 0.
codec::Value CountOf(const codec::Value& range, std::string_view field) {
  const codec::Value* count = FindAt(range, "status", field);
  return count == nullptr ? codec::Value(kUnknown) : *count;
}

codec::Value BoolText(const codec::Value& object, std::string_view field) {
  return BoolAt(object, "spec", field) ? "true" : "false";
}

/// Returns the condition that makes the range unusable, if any, because that says more than "not
/// ready".
codec::Value ReadyText(const codec::Value& range) {
  const codec::Value* ready = nullptr;
  const codec::Array& conditions = ArrayAt(range, "status", "conditions");
  for (const std::string_view type : {"Terminating", "Draining", "Exhausted", "Ready"}) {
    for (const codec::Value& condition : conditions) {
      if (StringAt(condition, "type") != type) continue;
      if (type == "Ready") {
        ready = &condition;
      } else if (StringAt(condition, "status") == "True") {
        // For a drained range, the reason says whether draining is complete.
        return type == "Draining" ? TextOr(StringAt(condition, "reason"), type) : type;
      }
    }
  }
  if (ready == nullptr) return kUnknown;
  const std::string_view status = StringAt(*ready, "status");
  return status == "True" ? status : TextOr(StringAt(*ready, "reason"), status);
}

codec::Value PriorityText(const codec::Value& range) {
  if (const codec::Value* priority = FindAt(range, "spec", "priority")) {
    return std::to_string(priority->AsInt().value_or(0));
  }
  return IsWellKnownRange(StringAt(range, "metadata", "name")) ? "highest" : "0";
}

codec::Value StaticBandText(const codec::Value& range) {
  const codec::Value* band = FindAt(range, "status", "bands", "static");
  if (band == nullptr) return kNoneCell;
  return fmt::format("{}-{}", StringAt(*band, "first"), StringAt(*band, "last"));
}

/// Appends the cells from Total on, which both kinds of ranges have.
void AppendRangeCells(codec::Array& cells, const codec::Value& range, base::WallTime now) {
  cells.push_back(TextOr(StringAt(range, "status", "total"), kUnknown));
  cells.push_back(CountOf(range, "used"));
  cells.push_back(CountOf(range, "free"));
  cells.push_back(ReadyText(range));
  cells.push_back(AgeCell(range, now));
  cells.push_back(PriorityText(range));
  cells.push_back(CountOf(range, "reserved"));
  cells.push_back(CountOf(range, "cooling"));
  cells.push_back(StaticBandText(range));
  cells.push_back(BoolText(range, "disabled"));
}

codec::Value PortUsesText(const codec::Value& port) {
  std::vector<std::string> uses;
  for (const codec::Value& use : ArrayAt(port, "status", "ports")) {
    uses.push_back(fmt::format("{}/{}", IntAt(use, "port"), StringAt(use, "protocol")));
  }
  return TextOr(fmt::format("{}", fmt::join(uses, ",")), kNoneCell);
}

}  // namespace

std::span<const Column> IpRangeColumns() { return kIpRangeColumns; }

codec::Array IpRangeCells(const codec::Value& range, base::WallTime now) {
  codec::Array cells = {NameCell(range), StringAt(range, "spec", "range"),
                        BoolText(range, "primary")};
  AppendRangeCells(cells, range, now);
  return cells;
}

std::span<const Column> NodePortRangeColumns() { return kNodePortRangeColumns; }

codec::Array NodePortRangeCells(const codec::Value& range, base::WallTime now) {
  codec::Array cells = {NameCell(range), StringAt(range, "spec", "range")};
  AppendRangeCells(cells, range, now);
  return cells;
}

std::span<const Column> NodePortColumns() { return kNodePortColumns; }

codec::Array NodePortCells(const codec::Value& port, base::WallTime now) {
  return {NameCell(port),
          TextOr(StringAt(port, "status", "state"), kUnknown),
          HolderCell(port),
          TextOr(StringAt(port, "status", "purpose"), kNoneCell),
          TextOr(StringAt(port, "spec", "nodePortRangeRef", "name"), kNoneCell),
          SinceCell(port, now),
          PortUsesText(port),
          TextOr(StringAt(port, "status", "chosen"), kNoneCell),
          TextOr(StringAt(port, "status", "until"), kNoneCell),
          AgeCell(port, now)};
}

std::span<const Column> ReplicaColumns() { return kReplicaColumns; }

codec::Array ReplicaCells(const codec::Value& replica, base::WallTime now) {
  std::vector<std::string> off;
  for (const codec::Member& gate : ObjectAt(replica, "spec", "gates")) {
    if (Text(&gate.value) == "false") off.push_back(gate.key + "=false");
  }
  std::ranges::sort(off);
  const std::vector<std::string> skew = Texts(ArrayAt(replica, "status", "skew"));
  const std::vector<std::string> can = Texts(ArrayAt(replica, "spec", "capabilities"));
  return {NameCell(replica),
          TextOr(StringAt(replica, "spec", "version"), kUnknown),
          TextOr(fmt::format("{}", fmt::join(off, ",")), "all on"),
          TextOr(fmt::format("{}", fmt::join(skew, ",")), kNoneCell),
          AgeCell(replica, now),
          TextOr(StringAt(replica, "spec", "address"), kUnknown),
          TextOr(fmt::format("{}", fmt::join(can, ",")), kNoneCell)};
}

}  // namespace berth::rules
