#include "rules/service_table.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/read.h"
#include "rules/age.h"
#include "rules/columns.h"
#include "rules/service.h"

namespace berth::rules {
namespace {

constexpr auto kServiceColumns = std::to_array<Column>({
    {.name = "Name", .format = "name", .description = "Name of the object."},
    {.name = "Type", .description = "How the Service can be reached."},
    {.name = "Cluster-IP", .description = "Its first address inside the cluster."},
    {.name = "External-IP", .description = "Where it is reached from outside the cluster."},
    {.name = "Port(s)", .description = "Its ports, with their node ports and protocols."},
    {.name = "Age", .description = "Time since the object was created."},
    {.name = "Selector", .description = "Labels of the pods behind it.", .priority = 1},
});

template <typename Texts>
std::string JoinedOrNone(const Texts& texts) {
  std::string text = fmt::format("{}", fmt::join(texts, ","));
  return text.empty() ? std::string(kNoneCell) : text;
}

std::string ClusterIpText(const codec::Value& service) {
  const codec::Array& ips = ArrayAt(service, "spec", "clusterIPs");
  return ips.empty() ? std::string(kNoneCell) : std::string(Text(&ips.front()));
}

std::string LoadBalancerText(const codec::Value& service) {
  std::set<std::string> ingress;
  for (const codec::Value& entry : ArrayAt(service, "status", "loadBalancer", "ingress")) {
    const std::string_view ip = StringAt(entry, "ip");
    const std::string_view place = ip.empty() ? StringAt(entry, "hostname") : ip;
    if (!place.empty()) ingress.emplace(place);
  }
  std::vector<std::string> all(ingress.begin(), ingress.end());
  for (std::string& ip : Texts(ArrayAt(service, "spec", "externalIPs"))) {
    all.push_back(std::move(ip));
  }
  return all.empty() ? "<pending>" : fmt::format("{}", fmt::join(all, ","));
}

std::string ExternalText(const codec::Value& service) {
  if (IsLoadBalancer(service)) return LoadBalancerText(service);
  if (IsExternalName(service)) return std::string(StringAt(service, "spec", "externalName"));
  if (IsClusterIpType(service) || IsNodePortType(service)) {
    return JoinedOrNone(Texts(ArrayAt(service, "spec", "externalIPs")));
  }
  return "<unknown>";
}

std::string PortsText(const codec::Value& service) {
  std::vector<std::string> ports;
  for (const codec::Value& port : ArrayAt(service, "spec", "ports")) {
    const int64_t node_port = IntAt(port, "nodePort");
    ports.push_back(fmt::format("{}{}/{}", IntAt(port, "port"),
                                node_port > 0 ? fmt::format(":{}", node_port) : "",
                                StringAt(port, "protocol")));
  }
  return JoinedOrNone(ports);
}

std::string SelectorText(const codec::Value& service) {
  std::map<std::string_view, std::string_view> sorted;
  for (const codec::Member& label : ObjectAt(service, "spec", "selector")) {
    sorted.emplace(label.key, Text(&label.value));
  }
  std::vector<std::string> labels;
  for (const auto& [key, value] : sorted) labels.push_back(fmt::format("{}={}", key, value));
  return JoinedOrNone(labels);
}

}  // namespace

std::span<const Column> ServiceColumns() { return kServiceColumns; }

codec::Array ServiceCells(const codec::Value& service, base::WallTime now) {
  return {StringAt(service, "metadata", "name"),
          ServiceType(service),
          ClusterIpText(service),
          ExternalText(service),
          PortsText(service),
          Age(StringAt(service, "metadata", "creationTimestamp"), now),
          SelectorText(service)};
}

}  // namespace berth::rules
