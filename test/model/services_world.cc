#include "model/services_world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "codec/read.h"
#include "codec/storage.h"

namespace berth::model {
namespace {

using codec::Value;

constexpr std::string_view kTypes[] = {"ClusterIP", "NodePort", "LoadBalancer", "ExternalName"};
constexpr std::string_view kChosen = "internal.allocation.berth.io/chosen";

codec::Array Strings(const auto& texts) { return {texts.begin(), texts.end()}; }

void SetOrErase(Value& object, std::initializer_list<std::string_view> path, bool set,
                const Value& value) {
  if (set) {
    codec::SetAt(object, path, value);
  } else {
    codec::EraseAt(object, path);
  }
}

Value PortValue(const Port& port) {
  codec::Object object{{"port", port.port}, {"protocol", port.protocol}};
  if (!port.name.empty()) object.Set("name", port.name);
  if (port.node != 0) object.Set("nodePort", port.node);
  return object;
}

/// The last part of a key.
std::string NameIn(const std::string& key) { return key.substr(key.rfind('/') + 1); }

Record RecordOf(const Value& object) {
  if (codec::HasAt(object, "spec", "parentRef")) {
    return {.name_space = std::string(codec::StringAt(object, "spec", "parentRef", "namespace")),
            .name = std::string(codec::StringAt(object, "spec", "parentRef", "name")),
            .chosen = std::string(codec::StringAt(object, "metadata", "annotations", kChosen))};
  }
  std::string chosen(codec::StringAt(object, "status", "chosen"));
  if (!chosen.empty()) chosen[0] = static_cast<char>(chosen[0] - 'A' + 'a');
  return {.name_space = std::string(codec::StringAt(object, "status", "service", "namespace")),
          .name = std::string(codec::StringAt(object, "status", "service", "name")),
          .uid = std::string(codec::StringAt(object, "status", "service", "uid")),
          .chosen = std::move(chosen),
          .purpose = std::string(codec::StringAt(object, "status", "purpose"))};
}

void AddAddresses(Pool& pool, std::string_view prefix, bool hexadecimal, int64_t last) {
  for (int64_t i = 1; i <= last; ++i) {
    pool.values.push_back(hexadecimal ? fmt::format("{}{:x}", prefix, i)
                                      : fmt::format("{}{}", prefix, i));
  }
}

size_t BandSize(int64_t total, int64_t part) {
  if (total <= 16) return 0;
  return static_cast<size_t>(std::clamp<int64_t>(total / part, 16, part == 16 ? 256 : 128));
}

}  // namespace

std::string_view TypeText(Type type) { return kTypes[static_cast<size_t>(type)]; }

std::set<std::string> Service::Held() const {
  std::set<std::string> held;
  if (HasAddresses()) held.insert(ips.begin(), ips.end());
  if (HasNodePorts()) {
    for (const Port& port : ports) {
      if (port.node > 0) held.insert(std::to_string(port.node));
    }
  }
  if (NeedsHealth() && health > 0) held.insert(std::to_string(health));
  return held;
}

std::string ToText(const Service& service) {
  std::string text(TypeText(service.type));
  if (service.selector) text += " selector";
  if (!service.policy.empty()) text += " " + service.policy;
  if (!service.families.empty()) text += fmt::format(" {}", service.families);
  if (!service.ips.empty()) text += fmt::format(" {}", service.ips);
  for (const Port& port : service.ports) {
    text += fmt::format(" {}:{}/{}:{}", port.name, port.port, port.protocol, port.node);
  }
  if (service.lb_ports) text += *service.lb_ports ? " lbPorts" : " noLbPorts";
  if (!service.traffic.empty()) text += " " + service.traffic;
  if (service.health != 0) text += fmt::format(" health:{}", service.health);
  if (!service.finalizers.empty()) text += fmt::format(" held by {}", service.finalizers);
  if (service.ingress) text += " ingress";
  if (service.deleting) text += " deleting";
  return text;
}

void WriteInto(Value& object, const Service& service) {
  codec::SetAt(object, {"metadata", "labels"}, codec::Object{{"by", service.label}});
  SetOrErase(object, {"metadata", "finalizers"}, !service.finalizers.empty(),
             Strings(service.finalizers));
  codec::SetAt(object, {"spec", "type"}, TypeText(service.type));
  SetOrErase(object, {"spec", "externalName"}, service.IsExternalName(), "other.example");
  SetOrErase(object, {"spec", "selector"}, service.selector, codec::Object{{"app", "x"}});
  SetOrErase(object, {"spec", "ipFamilyPolicy"}, !service.policy.empty(), service.policy);
  SetOrErase(object, {"spec", "ipFamilies"}, !service.families.empty(), Strings(service.families));
  const bool ips = !service.ips.empty();
  SetOrErase(object, {"spec", "clusterIPs"}, ips, Strings(service.ips));
  SetOrErase(object, {"spec", "clusterIP"}, ips, ips ? Value(service.ips[0]) : Value());
  codec::Array ports;
  for (const Port& port : service.ports) ports.push_back(PortValue(port));
  const bool has_ports = !ports.empty();
  SetOrErase(object, {"spec", "ports"}, has_ports, std::move(ports));
  SetOrErase(object, {"spec", "allocateLoadBalancerNodePorts"}, service.lb_ports.has_value(),
             service.lb_ports.value_or(false));
  SetOrErase(object, {"spec", "externalTrafficPolicy"}, !service.traffic.empty(), service.traffic);
  SetOrErase(object, {"spec", "healthCheckNodePort"}, service.health != 0, service.health);
  SetOrErase(object, {"status", "loadBalancer"}, service.ingress,
             codec::Object{{"ingress", codec::Array{codec::Object{{"hostname", "lb.example"}}}}});
}

Service FromValue(const Value& object) {
  Service service;
  const auto type = std::ranges::find(kTypes, codec::StringAt(object, "spec", "type"));
  service.type = static_cast<Type>(type - std::begin(kTypes));
  service.selector = !codec::ObjectAt(object, "spec", "selector").empty();
  service.policy = codec::StringAt(object, "spec", "ipFamilyPolicy");
  service.families = codec::Texts(codec::ArrayAt(object, "spec", "ipFamilies"));
  service.ips = codec::Texts(codec::ArrayAt(object, "spec", "clusterIPs"));
  for (const Value& port : codec::ArrayAt(object, "spec", "ports")) {
    service.ports.push_back({.name = std::string(codec::StringAt(port, "name")),
                             .port = codec::IntAt(port, "port"),
                             .protocol = std::string(codec::StringAt(port, "protocol")),
                             .node = codec::IntAt(port, "nodePort")});
  }
  if (const Value* choice = codec::FindAt(object, "spec", "allocateLoadBalancerNodePorts")) {
    service.lb_ports = choice->AsBool();
  }
  service.traffic = codec::StringAt(object, "spec", "externalTrafficPolicy");
  service.health = codec::IntAt(object, "spec", "healthCheckNodePort");
  for (const std::string& text : codec::Texts(codec::ArrayAt(object, "metadata", "finalizers"))) {
    service.finalizers.insert(text);
  }
  service.ingress = !codec::ArrayAt(object, "status", "loadBalancer", "ingress").empty();
  service.label = codec::StringAt(object, "metadata", "labels", "by");
  service.deleting = codec::HasAt(object, "metadata", "deletionTimestamp");
  service.uid = codec::StringAt(object, "metadata", "uid");
  return service;
}

bool Pool::Has(const std::string& value) const {
  return std::ranges::find(values, value) != values.end();
}

bool Pool::IsStatic(const std::string& value, bool has_band) const {
  const auto found = std::ranges::find(values, value);
  return has_band && found != values.end() && static_cast<size_t>(found - values.begin()) < band;
}

std::vector<std::string> Ranges::Cidrs() const {
  std::vector<std::string> cidrs;
  for (const std::string& family : families) {
    cidrs.push_back(family == "IPv6" ? fmt::format("fd00::/{}", bits_v6)
                                     : fmt::format("10.96.0.0/{}", bits_v4));
  }
  return cidrs;
}

std::string Ranges::PortText() const { return fmt::format("{}-{}", first_port, last_port); }

/// The first address of a range is nobody's, and of IPv4 neither is the last.
Cluster::Cluster(Ranges ranges) : ranges_(std::move(ranges)) {
  for (const std::string& family : ranges_.families) {
    const bool v6 = family == "IPv6";
    const int64_t size = int64_t{1} << (v6 ? 128 - ranges_.bits_v6 : 32 - ranges_.bits_v4);
    Pool& pool = pools_[static_cast<size_t>(v6 ? PoolOf::kIpv6 : PoolOf::kIpv4)];
    AddAddresses(pool, v6 ? "fd00::" : "10.96.0.", v6, v6 ? size - 1 : size - 2);
    pool.band = BandSize(size, 16);
  }
  Pool& ports = pools_[static_cast<size_t>(PoolOf::kPorts)];
  for (int64_t port = ranges_.first_port; port <= ranges_.last_port; ++port) {
    ports.values.push_back(std::to_string(port));
  }
  ports.band = BandSize(ranges_.last_port - ranges_.first_port + 1, 32);
}

std::string FamilyOf(const std::string& address) {
  return address.find(':') == std::string::npos ? "IPv4" : "IPv6";
}

const StoredService* World::Find(const std::string& name) const {
  const auto found = services.find(name);
  return found == services.end() ? nullptr : found->second.get();
}

size_t World::Free(const Pool& pool) const { return FreeDynamic(pool, false); }

size_t World::FreeDynamic(const Pool& pool, bool has_band) const {
  size_t free = 0;
  for (size_t i = has_band ? pool.band : 0; i < pool.values.size(); ++i) {
    if (!records.contains(pool.values[i])) ++free;
  }
  return free;
}

World Apply(const World& world, const std::vector<store::EventPtr>& events,
            const registry::Kinds& kinds) {
  World next = world;
  const std::string& services = kinds.FindRow(api::kServiceKind)->prefix;
  const std::string& addresses = kinds.FindRow(api::kIpAddressKind)->prefix;
  const std::string& ports = kinds.FindRow(api::kNodePortKind)->prefix;
  for (const store::EventPtr& event : events) {
    next.revision = event->revision.value;
    const bool is_service = event->key.starts_with(services);
    if (!is_service && !event->key.starts_with(addresses) && !event->key.starts_with(ports)) {
      continue;
    }
    const std::string name = NameIn(event->key);
    if (event->type == store::Event::Type::kDelete) {
      is_service ? next.services.erase(name) : next.records.erase(name);
      continue;
    }
    const auto stored = codec::DecodeStored(event->value);
    const Value object = stored ? stored->object : Value();
    if (is_service) {
      next.services[name] = std::make_shared<const StoredService>(
          StoredService{.service = FromValue(object), .revision = event->revision.value});
    } else {
      next.records[name] = RecordOf(object);
    }
  }
  return next;
}

namespace {

/// What is wrong with one value of a Service; empty: nothing.
std::string CheckValue(const World& world, const Cluster& cluster, const std::string& name,
                       const Service& service, const std::string& value) {
  const bool is_address = value.find_first_of(".:") != std::string::npos;
  const Pool& pool = is_address ? cluster.Of(FamilyOf(value)) : cluster.At(PoolOf::kPorts);
  if (!pool.Has(value)) return fmt::format("{} has {}, which is in no range", name, value);
  const auto found = world.records.find(value);
  if (found == world.records.end()) return fmt::format("{} of {} has no record", value, name);
  const Record& record = found->second;
  if (record.name_space != "shop" || record.name != name) {
    return fmt::format("{} of {} is recorded for {}/{}", value, name, record.name_space,
                       record.name);
  }
  if (record.chosen.empty()) return fmt::format("{} of {} is a person's", value, name);
  if (is_address || record.uid == service.uid) return "";
  return fmt::format("{} of {} is recorded for another uid, {}", value, name, record.uid);
}

}  // namespace

std::string CheckWorld(const World& world, const Cluster& cluster) {
  std::map<std::string, std::string> owners;
  for (const auto& [name, stored] : world.services) {
    for (const std::string& value : stored->service.Held()) {
      const auto [owner, first] = owners.emplace(value, name);
      if (!first) return fmt::format("{} and {} both have {}", owner->second, name, value);
      std::string wrong = CheckValue(world, cluster, name, stored->service, value);
      if (!wrong.empty()) return wrong;
    }
  }
  for (const auto& [value, record] : world.records) {
    if (record.chosen.empty() || owners.contains(value)) continue;
    return fmt::format("{} is recorded for {}, which does not have it", value, record.name);
  }
  return "";
}

}  // namespace berth::model
