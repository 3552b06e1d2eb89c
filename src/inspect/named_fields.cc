#include "inspect/named_fields.h"

#include "codec/json.h"
#include "codec/read.h"

namespace berth::inspect {
namespace {

using codec::StringAt;
using codec::Value;

/// Returns the fields of an entry as a tree. An API server's JSON has them as an object, and the
/// decoded form of a kind has them as the text of one, which is parsed into `parsed`. Returns null
/// if no field of interest is there.
const Value* FieldTree(const Value& entry, std::optional<Value>& parsed) {
  const Value* fields = codec::FindAt(entry, "fieldsV1");
  if (fields == nullptr) return nullptr;
  const std::string* text = fields->AsString();
  if (text == nullptr) return fields;
  // Most entries own none of these, and parsing is the larger part of the work.
  const bool of_interest =
      text->find("\"f:clusterIP") != std::string::npos || text->find("ode") != std::string::npos;
  if (!of_interest) return nullptr;
  auto tree = codec::ParseJson(*text);
  if (!tree) return nullptr;
  parsed = *std::move(tree);
  return &*parsed;
}

/// Reads the key of a list entry, such as `k:{"port":80,"protocol":"TCP"}`.
std::optional<std::pair<int64_t, std::string>> ReadPortKey(std::string_view key) {
  if (!key.starts_with("k:")) return std::nullopt;
  const auto parsed = codec::ParseJson(key.substr(2));
  if (!parsed) return std::nullopt;
  return std::pair(codec::IntAt(*parsed, "port"), std::string(StringAt(*parsed, "protocol")));
}

std::string ProtocolOf(const Value& port) {
  const std::string_view protocol = StringAt(port, "protocol");
  return std::string(protocol.empty() ? "TCP" : protocol);
}

}  // namespace

NamedFields::NamedFields(const Value& service) {
  for (const Value& entry : codec::ArrayAt(service, "metadata", "managedFields")) {
    any_ = true;
    std::optional<Value> parsed;
    const Value* tree = FieldTree(entry, parsed);
    if (tree == nullptr) continue;
    if (const Value* spec = codec::FindAt(*tree, "f:spec")) {
      ReadEntry(*spec, std::string(StringAt(entry, "manager")));
    }
  }
}

void NamedFields::ReadEntry(const Value& spec, const std::string& manager) {
  const auto note = [&manager](Owner& owner) {
    if (!owner.known) owner = {.known = true, .manager = manager};
  };
  if (codec::HasAt(spec, "f:clusterIP")) note(cluster_ip_);
  if (codec::HasAt(spec, "f:clusterIPs")) note(cluster_ips_);
  if (codec::HasAt(spec, "f:healthCheckNodePort")) note(health_check_);
  for (const codec::Member& port : codec::ObjectAt(spec, "f:ports")) {
    if (!codec::HasAt(port.value, "f:nodePort")) continue;
    if (auto key = ReadPortKey(port.key)) note(node_ports_[*std::move(key)]);
  }
}

void NamedFields::Set(Held& held, const Owner* owner) const {
  if (!any_) return;
  held.origin = owner != nullptr && owner->known ? Origin::kNamed : Origin::kDrawn;
  if (held.origin == Origin::kNamed) held.manager = owner->manager;
}

void NamedFields::Describe(const Value& service, Service& into) const {
  bool first_address = true;
  for (Held& held : into.holds) {
    if (held.value.pool != alloc::PoolId::kPorts) {
      // Only a client that gives the list can name the second address. Where the list has an owner,
      // the second address may still be the allocator's.
      const bool first = std::exchange(first_address, false);
      if (first) {
        Set(held, cluster_ip_.known ? &cluster_ip_ : &cluster_ips_);
      } else if (!cluster_ips_.known) {
        Set(held, nullptr);
      }
      continue;
    }
    if (held.health_check) {
      Set(held, &health_check_);
      continue;
    }
    const Owner* owner = nullptr;
    for (const Value& port : codec::ArrayAt(service, "spec", "ports")) {
      if (base::U128(static_cast<uint64_t>(codec::IntAt(port, "nodePort"))) != held.value.value) {
        continue;
      }
      const auto found = node_ports_.find({codec::IntAt(port, "port"), ProtocolOf(port)});
      if (found != node_ports_.end()) owner = &found->second;
    }
    Set(held, owner);
  }
}

}  // namespace berth::inspect
