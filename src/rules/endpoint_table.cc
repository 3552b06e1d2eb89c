#include "rules/endpoint_table.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codec/read.h"
#include "rules/columns.h"

namespace berth::rules {
namespace {

constexpr auto kEndpointsColumns = std::to_array<Column>({
    kNameColumn,
    {.name = "Endpoints", .description = "Addresses and ports that are ready."},
    kAgeColumn,
});
constexpr auto kEndpointSliceColumns = std::to_array<Column>({
    kNameColumn,
    {.name = "AddressType", .description = "The type of its addresses."},
    {.name = "Ports", .description = "The ports of each endpoint."},
    {.name = "Endpoints", .description = "The addresses of its endpoints."},
    kAgeColumn,
});
constexpr auto kNodeColumns = std::to_array<Column>({
    kNameColumn,
    {.name = "Status", .description = "Whether the node is ready, and open for new Pods."},
    {.name = "Roles", .description = "Its roles, from its labels."},
    kAgeColumn,
    {.name = "Version", .description = "The version of the agent on the node."},
    {.name = "Internal-IP", .description = "Its address inside the cluster.", .priority = 1},
    {.name = "External-IP", .description = "Its address for others.", .priority = 1},
    {.name = "OS-Image", .description = "Its operating system.", .priority = 1},
    {.name = "Kernel-Version", .description = "Its kernel.", .priority = 1},
    {.name = "Container-Runtime", .description = "Its container runtime.", .priority = 1},
});

/// Collects the first entries of a list and counts the others.
class ShortList {
 public:
  void Add(std::string text) {
    ++count_;
    if (shown_.size() < kMost) shown_.push_back(std::move(text));
  }

  /// Returns `empty` if nothing was added.
  std::string Text(std::string_view empty) const {
    std::string text = fmt::format("{}", fmt::join(shown_, ","));
    if (count_ > kMost) text += fmt::format(" + {} more...", count_ - kMost);
    return text.empty() ? std::string(empty) : text;
  }

 private:
  static constexpr size_t kMost = 3;

  std::vector<std::string> shown_;
  size_t count_ = 0;
};

/// Returns address and port, with brackets around an IPv6 address.
std::string HostPort(std::string_view host, int64_t port) {
  const bool v6 = host.find(':') != std::string_view::npos;
  return v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string ReadyEndpointsText(const codec::Value& endpoints) {
  ShortList list;
  for (const codec::Value& subset : ArrayAt(endpoints, "subsets")) {
    const codec::Array& addresses = ArrayAt(subset, "addresses");
    const codec::Array& ports = ArrayAt(subset, "ports");
    for (const codec::Value& port : ports) {
      for (const codec::Value& address : addresses) {
        list.Add(HostPort(StringAt(address, "ip"), IntAt(port, "port")));
      }
    }
    if (!ports.empty()) continue;
    for (const codec::Value& address : addresses) list.Add(std::string(StringAt(address, "ip")));
  }
  // As in Kubernetes: <none> without subsets, an empty cell without ready addresses.
  return list.Text(ArrayAt(endpoints, "subsets").empty() ? kNoneCell : "");
}

std::string SlicePortsText(const codec::Value& slice) {
  ShortList list;
  for (const codec::Value& port : ArrayAt(slice, "ports")) {
    if (HasAt(port, "port")) {
      list.Add(std::to_string(IntAt(port, "port")));
    } else {
      list.Add(HasAt(port, "name") ? std::string(StringAt(port, "name")) : "*");
    }
  }
  return list.Text("<unset>");
}

std::string SliceAddressesText(const codec::Value& slice) {
  ShortList list;
  for (const codec::Value& endpoint : ArrayAt(slice, "endpoints")) {
    for (std::string& address : Texts(ArrayAt(endpoint, "addresses"))) list.Add(std::move(address));
  }
  return list.Text("<unset>");
}

std::string NodeStatusText(const codec::Value& node) {
  std::string text = "Unknown";
  for (const codec::Value& condition : ArrayAt(node, "status", "conditions")) {
    if (StringAt(condition, "type") != "Ready") continue;
    text = StringAt(condition, "status") == "True" ? "Ready" : "NotReady";
  }
  if (BoolAt(node, "spec", "unschedulable")) text += ",SchedulingDisabled";
  return text;
}

std::string RolesText(const codec::Value& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string_view> roles;
  for (const codec::Member& label : ObjectAt(node, "metadata", "labels")) {
    const std::string_view key = label.key;
    if (key.starts_with(kPrefix)) {
      if (key.size() > kPrefix.size()) roles.insert(key.substr(kPrefix.size()));
    } else if (key == "kubernetes.io/role" && !Text(&label.value).empty()) {
      roles.insert(Text(&label.value));
    }
  }
  return roles.empty() ? std::string(kNoneCell) : fmt::format("{}", fmt::join(roles, ","));
}

std::string AddressText(const codec::Value& node, std::string_view type) {
  for (const codec::Value& address : ArrayAt(node, "status", "addresses")) {
    if (StringAt(address, "type") == type) return std::string(StringAt(address, "address"));
  }
  return std::string(kNoneCell);
}

std::string InfoText(const codec::Value& node, std::string_view field) {
  const std::string_view text = StringAt(node, "status", "nodeInfo", field);
  return std::string(text.empty() ? "<unknown>" : text);
}

std::string KernelText(const codec::Value& node) {
  std::string text = InfoText(node, "kernelVersion");
  const std::string_view processor = StringAt(node, "status", "nodeInfo", "architecture");
  if (!processor.empty()) text += fmt::format(" ({})", processor);
  return text;
}

}  // namespace

std::span<const Column> EndpointsColumns() { return kEndpointsColumns; }

codec::Array EndpointsCells(const codec::Value& endpoints, base::WallTime now) {
  return {NameCell(endpoints), ReadyEndpointsText(endpoints), AgeCell(endpoints, now)};
}

std::span<const Column> EndpointSliceColumns() { return kEndpointSliceColumns; }

codec::Array EndpointSliceCells(const codec::Value& slice, base::WallTime now) {
  return {NameCell(slice), StringAt(slice, "addressType"), SlicePortsText(slice),
          SliceAddressesText(slice), AgeCell(slice, now)};
}

std::span<const Column> NodeColumns() { return kNodeColumns; }

codec::Array NodeCells(const codec::Value& node, base::WallTime now) {
  return {NameCell(node),
          NodeStatusText(node),
          RolesText(node),
          AgeCell(node, now),
          StringAt(node, "status", "nodeInfo", "kubeletVersion"),
          AddressText(node, "InternalIP"),
          AddressText(node, "ExternalIP"),
          InfoText(node, "osImage"),
          KernelText(node),
          InfoText(node, "containerRuntimeVersion")};
}

}  // namespace berth::rules
