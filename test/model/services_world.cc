#include "model/services_world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "codec/read.h"

namespace berth::model {
namespace {

using codec::Value;

constexpr std::string_view kTypes[] = {"ClusterIP", "NodePort", "LoadBalancer", "ExternalName"};

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

std::string ToText(const Record& record) {
  static constexpr std::string_view kStates[] = {"allocated", "reserved", "pending", "cooling"};
  std::string text = fmt::format("{} {}/{} {} {}", kStates[static_cast<size_t>(record.state)],
                                 record.name_space, record.name, record.chosen, record.purpose);
  if (record.by_hand) text += " by hand";
  if (!record.uses.empty()) text += fmt::format(" {}", record.uses);
  if (!record.reserved_for.empty()) text += " for " + record.reserved_for;
  if (record.until) text += fmt::format(" until {}", *record.until);
  return text;
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

Cluster::Specs Ranges::ToSpecs() const {
  Cluster::Specs specs;
  const auto add = [&specs](PoolOf pool, const std::string& text, bool primary) {
    const RangeSpec spec{
        .name = std::string(WellKnownName(pool)), .pool = pool, .text = text, .primary = primary};
    specs.emplace(Cluster::KeyOf(spec), spec);
  };
  const std::vector<std::string> cidrs = Cidrs();
  for (size_t i = 0; i < cidrs.size(); ++i) add(PoolOfFamily(families[i]), cidrs[i], i == 0);
  add(PoolOf::kPorts, PortText(), false);
  return specs;
}

const StoredService* World::Find(const std::string& name) const {
  const auto found = services.find(name);
  return found == services.end() ? nullptr : found->second.get();
}

const Record* World::RecordOf(const std::string& value) const {
  const auto found = records.find(value);
  return found == records.end() ? nullptr : &found->second;
}

bool World::IsHeld(const std::string& value) const {
  return form.BitmapsCount() ? taken_bits.contains(value) : records.contains(value);
}

size_t World::Pickable(PoolOf pool, bool has_band) const {
  size_t count = 0;
  for (const std::string& value : cluster->Values(pool)) count += IsPickable(value, has_band);
  return count;
}

size_t World::FreeDynamic(const Range& range, bool has_band) const {
  return static_cast<size_t>(std::ranges::count_if(range.values(), [&](const std::string& value) {
    return range.Gives(value) && !range.IsStatic(value, has_band) && !IsHeld(value);
  }));
}

size_t World::Pickable(const Range& range, bool has_band) const {
  return static_cast<size_t>(std::ranges::count_if(range.values(), [&](const std::string& value) {
    return range.IsPickable(value, has_band) && !IsHeld(value);
  }));
}

std::set<std::string> World::KeptFor(const std::string& name, PoolOf pool) const {
  std::set<std::string> kept;
  if (form.BitmapsCount()) return kept;
  for (const auto& [value, record] : records) {
    if (record.reserved_for != name || record.state == Record::State::kAllocated) continue;
    if (PoolOfValue(value) == pool && cluster->Gives(value)) kept.insert(value);
  }
  return kept;
}

}  // namespace berth::model
