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
#include "rules/range_spec.h"

namespace berth::rules {
namespace {

constexpr std::string_view kNone = "<none>";
constexpr std::string_view kUnknown = "<unknown>";

constexpr Column kName{.name = "Name", .format = "name", .description = "Name of the object."};
constexpr Column kAge{.name = "Age", .description = "Time since the object was created."};
constexpr Column kTotal{.name = "Total", .description = "How many there are to give out."};
constexpr Column kUsed{.name = "Used", .type = "integer", .description = "How many Services have."};
constexpr Column kFree{.name = "Free", .type = "integer", .description = "How many are free."};
constexpr Column kReady{.name = "Ready",
                        .description = "Whether something is given from it, or why not."};
constexpr Column kPriority{
    .name = "Priority", .description = "The highest is drawn from first.", .priority = 1};
constexpr Column kReserved{.name = "Reserved",
                           .type = "integer",
                           .description = "How many are kept from Services, or for some.",
                           .priority = 1};
constexpr Column kCooling{.name = "Cooling",
                          .type = "integer",
                          .description = "How many were given back a short while ago.",
                          .priority = 1};
constexpr Column kStaticBand{.name = "StaticBand",
                             .description = "The part for those who ask for a certain one.",
                             .priority = 1};
constexpr Column kDisabled{
    .name = "Disabled", .description = "Whether nothing new is given from it.", .priority = 1};
constexpr Column kState{.name = "State", .description = "Whether and how it is in use."};
constexpr Column kService{.name = "Service",
                          .description = "The Service that has it, or that it is kept for."};
constexpr Column kRange{.name = "Range", .description = "The range that it comes from."};
constexpr Column kChosen{
    .name = "Chosen", .description = "Whether it was asked for or drawn.", .priority = 1};
constexpr Column kUntil{
    .name = "Until", .description = "When the state ends by itself.", .priority = 1};

constexpr auto kIpRangeColumns = std::to_array<Column>({
    kName,
    {.name = "Range", .description = "The addresses, as a CIDR."},
    {.name = "Primary", .description = "Whether Services get its IP family if they name none."},
    kTotal,
    kUsed,
    kFree,
    kReady,
    kAge,
    kPriority,
    kReserved,
    kCooling,
    kStaticBand,
    kDisabled,
});
constexpr auto kNodePortRangeColumns = std::to_array<Column>({
    kName,
    {.name = "Range", .description = "The ports, both ends included."},
    kTotal,
    kUsed,
    kFree,
    kReady,
    kAge,
    kPriority,
    kReserved,
    kCooling,
    kStaticBand,
    kDisabled,
});
constexpr auto kNodePortColumns = std::to_array<Column>({
    {.name = "Name", .format = "name", .description = "The number of the port."},
    kState,
    kService,
    {.name = "Purpose", .description = "What the Service has it for."},
    kRange,
    kAge,
    {.name = "Ports", .description = "The ports of the Service behind it.", .priority = 1},
    kChosen,
    kUntil,
});
constexpr auto kReplicaColumns = std::to_array<Column>({
    kName,
    {.name = "Version", .description = "Which version of the program it runs."},
    {.name = "Gates", .description = "Which feature gates are off."},
    kAge,
    {.name = "Address", .description = "Where it serves.", .priority = 1},
    {.name = "Capabilities", .description = "What it can honour of ranges.", .priority = 1},
});

codec::Value NameOf(const codec::Value& object) { return StringAt(object, "metadata", "name"); }

codec::Value AgeOf(const codec::Value& object, base::WallTime now) {
  return Age(StringAt(object, "metadata", "creationTimestamp"), now);
}

codec::Value TextOr(std::string_view text, std::string_view otherwise) {
  return text.empty() ? otherwise : text;
}

/// A count of the status; one that nobody has made yet is not 0.
codec::Value CountOf(const codec::Value& range, std::string_view field) {
  const codec::Value* count = FindAt(range, "status", field);
  return count == nullptr ? codec::Value(kUnknown) : *count;
}

codec::Value BoolText(const codec::Value& object, std::string_view field) {
  return BoolAt(object, "spec", field) ? "true" : "false";
}

/// A condition that keeps the range from being of use says more than that it is not ready.
codec::Value ReadyText(const codec::Value& range) {
  const codec::Value* ready = nullptr;
  const codec::Array& conditions = ArrayAt(range, "status", "conditions");
  for (const std::string_view type : {"Terminating", "Draining", "Exhausted", "Ready"}) {
    for (const codec::Value& condition : conditions) {
      if (StringAt(condition, "type") != type) continue;
      if (type == "Ready") {
        ready = &condition;
      } else if (StringAt(condition, "status") == "True") {
        // Of what is drained, whether it is done is worth a word.
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
  if (band == nullptr) return kNone;
  return fmt::format("{}-{}", StringAt(*band, "first"), StringAt(*band, "last"));
}

/// The cells from Total on, which both kinds of ranges have.
void AppendRangeCells(codec::Array& cells, const codec::Value& range, base::WallTime now) {
  cells.push_back(TextOr(StringAt(range, "status", "total"), kUnknown));
  cells.push_back(CountOf(range, "used"));
  cells.push_back(CountOf(range, "free"));
  cells.push_back(ReadyText(range));
  cells.push_back(AgeOf(range, now));
  cells.push_back(PriorityText(range));
  cells.push_back(CountOf(range, "reserved"));
  cells.push_back(CountOf(range, "cooling"));
  cells.push_back(StaticBandText(range));
  cells.push_back(BoolText(range, "disabled"));
}

/// Who has it, else whom it is kept for.
codec::Value ServiceText(const codec::Value& object) {
  const codec::Value* service = FindAt(object, "status", "service");
  if (service == nullptr) service = FindAt(object, "spec", "reservedFor");
  if (service == nullptr) return kNone;
  return fmt::format("{}/{}", StringAt(*service, "namespace"), StringAt(*service, "name"));
}

codec::Value PortsText(const codec::Value& port) {
  std::vector<std::string> uses;
  for (const codec::Value& use : ArrayAt(port, "status", "ports")) {
    uses.push_back(fmt::format("{}/{}", IntAt(use, "port"), StringAt(use, "protocol")));
  }
  return TextOr(fmt::format("{}", fmt::join(uses, ",")), kNone);
}

}  // namespace

std::span<const Column> IpRangeColumns() { return kIpRangeColumns; }

codec::Array IpRangeCells(const codec::Value& range, base::WallTime now) {
  codec::Array cells = {NameOf(range), StringAt(range, "spec", "range"),
                        BoolText(range, "primary")};
  AppendRangeCells(cells, range, now);
  return cells;
}

std::span<const Column> NodePortRangeColumns() { return kNodePortRangeColumns; }

codec::Array NodePortRangeCells(const codec::Value& range, base::WallTime now) {
  codec::Array cells = {NameOf(range), StringAt(range, "spec", "range")};
  AppendRangeCells(cells, range, now);
  return cells;
}

std::span<const Column> NodePortColumns() { return kNodePortColumns; }

codec::Array NodePortCells(const codec::Value& port, base::WallTime now) {
  return {NameOf(port),
          TextOr(StringAt(port, "status", "state"), kUnknown),
          ServiceText(port),
          TextOr(StringAt(port, "status", "purpose"), kNone),
          TextOr(StringAt(port, "spec", "nodePortRangeRef", "name"), kNone),
          AgeOf(port, now),
          PortsText(port),
          TextOr(StringAt(port, "status", "chosen"), kNone),
          TextOr(StringAt(port, "status", "until"), kNone)};
}

std::span<const Column> ReplicaColumns() { return kReplicaColumns; }

codec::Array ReplicaCells(const codec::Value& replica, base::WallTime now) {
  std::vector<std::string> off;
  for (const codec::Member& gate : ObjectAt(replica, "spec", "gates")) {
    if (Text(&gate.value) == "false") off.push_back(gate.key + "=false");
  }
  std::ranges::sort(off);
  const std::vector<std::string> can = Texts(ArrayAt(replica, "spec", "capabilities"));
  return {NameOf(replica),
          TextOr(StringAt(replica, "spec", "version"), kUnknown),
          TextOr(fmt::format("{}", fmt::join(off, ",")), "all on"),
          AgeOf(replica, now),
          TextOr(StringAt(replica, "spec", "address"), kUnknown),
          TextOr(fmt::format("{}", fmt::join(can, ",")), kNone)};
}

}  // namespace berth::rules
