#include "allocation/range_replicas.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "allocation/range_facts.h"
#include "api/kinds.h"
#include "codec/read.h"
#include "registry/object_errors.h"

namespace berth::allocation {
namespace {

using codec::Value;

/// A message names at most this many replicas with one value of a trait.
constexpr size_t kNamedReplicas = 8;
constexpr std::string_view kCapability = "capability ";

std::string CapabilityTrait(std::string_view capability) {
  return fmt::format("{}{}", kCapability, capability);
}

/// Returns the value of a trait that the replica does not speak of. It does not have such a
/// capability, and does not know such a gate.
std::string Unsaid(std::string_view trait) {
  return trait.starts_with(kCapability) ? "false" : "unknown";
}

std::string NamesText(const std::vector<std::string>& names) {
  const size_t named = std::min(names.size(), kNamedReplicas);
  std::vector<std::string> quoted;
  for (size_t i = 0; i < named; ++i) quoted.push_back(fmt::format("\"{}\"", names[i]));
  const std::string more =
      named < names.size() ? fmt::format(" and {} more", names.size() - named) : "";
  return fmt::format("{} {}{}", names.size() == 1 ? "replica" : "replicas", fmt::join(quoted, ", "),
                     more);
}

/// Returns whether the range has a static band that is lost where the gate is off.
bool HasBand(alloc::RangeKind kind, const Value& range) {
  return rules::RangeFactsOf(kind, range, {.addresses = true, .ports = true}) !=
         rules::RangeFactsOf(kind, range, {.addresses = false, .ports = false});
}

/// Returns the traits that decide what the range gives out.
std::vector<std::string> TraitsThatCount(const RangeState& state, const Value& range,
                                         const std::vector<ip::Family>& families) {
  std::vector<std::string> traits = {CapabilityTrait(kRangesCapability)};
  const bool ports = state.pool == PoolId::kPorts;
  if (HasBand(state.kind, range)) traits.emplace_back(ports ? kStaticPortsGate : kStaticIpsGate);
  if (ports) traits.emplace_back(kLbNodePortsGate);
  // With that gate off, Services get the default family only.
  const bool second = !ports && families.size() > 1 && PoolOf(families.front()) != state.pool;
  if (second) traits.emplace_back(kDualStackGate);
  return traits;
}

/// Returns the field of the spec that asks for a static band and did not ask for the same before.
/// Returns an empty text if the spec asks for nothing new. A range without a band needs no gate.
std::string_view NewBandField(const RangeEdit& edit) {
  if (edit.next == nullptr) return {};
  const Value nothing = codec::Object();
  const Value& old = edit.old == nullptr ? nothing : *edit.old;
  const Value* band = codec::FindAt(*edit.next, "spec", "staticBand");
  const bool none = band != nullptr && band->AsUint().value_or(0) == 0;
  if (none) return {};
  if (band != nullptr && !codec::Same(band, codec::FindAt(old, "spec", "staticBand"))) {
    return "spec.staticBand";
  }
  const bool strict = codec::BoolAt(*edit.next, "spec", "strict");
  return strict && !codec::BoolAt(old, "spec", "strict") ? "spec.strict" : std::string_view();
}

bool IsOff(const ReplicaInfo& replica, std::string_view gate) {
  const auto found = replica.traits.find(gate);
  return found != replica.traits.end() && found->second == "false";
}

}  // namespace

std::vector<ReplicaInfo> ReplicasIn(const RecordRows& rows, const state::Snapshot& snapshot) {
  std::vector<ReplicaInfo> replicas;
  for (auto at = snapshot.Seek(rows.replicas->prefix); at.Valid(); at.Next()) {
    const auto object = registry::DecodeWithoutManagedFields(*rows.replicas, *at.Get());
    if (!object) continue;
    ReplicaInfo replica{.name = std::string(at.Get()->Name()),
                        .version = std::string(codec::StringAt(*object, "spec", "version"))};
    for (const codec::Member& gate : codec::ObjectAt(*object, "spec", "gates")) {
      replica.traits.emplace(gate.key, codec::Text(&gate.value));
    }
    for (const std::string& can : codec::Texts(codec::ArrayAt(*object, "spec", "capabilities"))) {
      replica.traits.emplace(CapabilityTrait(can), "true");
    }
    replicas.push_back(std::move(replica));
  }
  return replicas;
}

ReplicaSkew::ReplicaSkew(const std::vector<ReplicaInfo>& replicas) {
  for (const ReplicaInfo& replica : replicas) {
    for (const auto& [trait, value] : replica.traits) differing_.try_emplace(trait);
  }
  for (auto& [trait, by_value] : differing_) {
    for (const ReplicaInfo& replica : replicas) {
      const auto found = replica.traits.find(trait);
      const bool said = found != replica.traits.end();
      by_value[said ? found->second : Unsaid(trait)].push_back(replica.name);
    }
  }
  std::erase_if(differing_, [](const auto& one) { return one.second.size() < 2; });
}

std::vector<std::string> ReplicaSkew::Of(std::string_view replica) const {
  std::vector<std::string> traits;
  for (const auto& [trait, by_value] : differing_) {
    for (const auto& [value, names] : by_value) {
      const bool has = std::ranges::find(names, replica) != names.end();
      if (has) traits.push_back(fmt::format("{}={}", trait, value));
    }
  }
  return traits;
}

RangeFault ReplicaSkew::About(const RangeState& state, const Value& range,
                              const std::vector<ip::Family>& families) const {
  if (differing_.empty() || !state.in_force) return {};
  std::vector<std::string> said;
  for (const std::string& trait : TraitsThatCount(state, range, families)) {
    const auto differs = differing_.find(trait);
    if (differs == differing_.end()) continue;
    std::vector<std::string> parts;
    for (const auto& [value, names] : differs->second) {
      parts.push_back(fmt::format("{} on {}", value, NamesText(names)));
    }
    said.push_back(fmt::format("{} is {}", trait, fmt::join(parts, " and ")));
  }
  if (said.empty()) return {};
  return {.reason = "GatesDiffer", .message = fmt::format("{}", fmt::join(said, "; "))};
}

std::optional<base::Error> FindUnable(const RangeEdit& edit, const RangeNeeds& needs,
                                      const std::vector<ReplicaInfo>& replicas) {
  const bool ports = edit.row->kind == &api::kNodePortRangeKind;
  const std::string_view band_gate = ports ? kStaticPortsGate : kStaticIpsGate;
  const std::string_view band = NewBandField(edit);
  const auto refuse = [&edit](const ReplicaInfo& replica, const std::string& why) {
    return registry::Conflict(*edit.row->kind, edit.name,
                              fmt::format("replica \"{}\" {}", replica.name, why));
  };
  for (const ReplicaInfo& replica : replicas) {
    if (needs.ranges && !replica.traits.contains(CapabilityTrait(kRangesCapability))) {
      return refuse(replica,
                    fmt::format("runs version {}, which cannot follow changes of ranges; stop it, "
                                "or start a newer version in its place, first",
                                replica.version));
    }
    if (needs.second_family && IsOff(replica, kDualStackGate)) {
      return refuse(replica, fmt::format("runs with {}=false and cannot give out addresses of a "
                                         "second family; start it without that first",
                                         kDualStackGate));
    }
    if (!band.empty() && IsOff(replica, band_gate)) {
      return refuse(replica, fmt::format("runs with {}=false and cannot honour {}; start it "
                                         "without that first",
                                         band_gate, band));
    }
  }
  return std::nullopt;
}

}  // namespace berth::allocation
