#include "berth/inspect/record_owners.h"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace berth::cli {
namespace {

using NamespacedName = std::pair<std::string, std::string>;

}  // namespace

size_t AddOwnersOfRecords(inspect::Cluster& cluster) {
  std::set<NamespacedName> seen;
  for (const inspect::Service& service : cluster.services) {
    seen.emplace(service.object.name_space, service.object.name);
  }
  std::map<NamespacedName, inspect::Service> added;
  for (const inspect::Record& record : cluster.records) {
    const audit::RecordFacts& facts = record.facts;
    NamespacedName name(facts.service_namespace, facts.service_name);
    if (facts.state != audit::RecordState::kAllocated || name.second.empty()) continue;
    if (seen.contains(name)) continue;
    inspect::Service& service = added[name];
    service.object = {.resource = "services",
                      .name_space = name.first,
                      .name = name.second,
                      .uid = facts.service_uid};
    service.type = "Unknown";
    service.holds.push_back({.value = facts.value,
                             .health_check = facts.health_check.value_or(false),
                             .ports = facts.ports.value_or(std::vector<audit::PortUse>())});
  }
  for (auto& [name, service] : added) cluster.services.push_back(std::move(service));
  return added.size();
}

}  // namespace berth::cli
