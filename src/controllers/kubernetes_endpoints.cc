#include "controllers/kubernetes_endpoints.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "api/kinds.h"
#include "codec/read.h"
#include "registry/deletion.h"

namespace berth::controllers {
namespace {

using codec::Value;

constexpr std::chrono::seconds kCheckEndpointsEvery{10};
constexpr std::chrono::seconds kLeastPause{1};
constexpr std::string_view kNamespace = "default";
constexpr std::string_view kName = "kubernetes";
constexpr std::string_view kPortName = "https";

bool IsIpv6(const ServerEndpoint& endpoint) { return endpoint.ip.find(':') != std::string::npos; }

Value Metadata(std::string_view label, std::string_view value) {
  return codec::Object{{"name", kName},
                       {"namespace", kNamespace},
                       {"labels", codec::Object{{std::string(label), value}}}};
}

void AddEndpoint(std::vector<ServerEndpoint>& endpoints, std::string_view ip, int64_t port) {
  if (ip.empty() || port <= 0 || port > UINT16_MAX) return;
  endpoints.push_back({.ip = std::string(ip), .port = static_cast<uint16_t>(port)});
}

/// Returns whether the stored object has all that is wanted. Further labels may be there.
bool Has(const Value& stored, const Value& wanted) {
  for (const codec::Member& field : codec::ObjectAt(wanted)) {
    if (field.key == "metadata") continue;
    if (!codec::Same(stored.Find(field.key), &field.value)) return false;
  }
  if (wanted.Find("subsets") == nullptr && !codec::ArrayAt(stored, "subsets").empty()) return false;
  if (wanted.Find("endpoints") == nullptr && !codec::ArrayAt(stored, "endpoints").empty()) {
    return false;
  }
  for (const codec::Member& label : codec::ObjectAt(wanted, "metadata", "labels")) {
    if (codec::StringAt(stored, "metadata", "labels", label.key) != codec::Text(&label.value)) {
      return false;
    }
  }
  return true;
}

std::optional<EndpointsRepair> RepairOf(const registry::Registry& registry,
                                        const state::Snapshot& snapshot, const api::Kind& kind,
                                        Value wanted) {
  const registry::Row& row = *registry.GetKinds().FindRow(kind);
  EndpointsRepair repair{.target = {.served = {.row = &row, .view = row.views.data()},
                                    .name_space = std::string(kNamespace),
                                    .name = std::string(kName)},
                         .wanted = std::move(wanted)};
  const auto found = snapshot.Find(registry.GetResources().Key(row.resource, kNamespace, kName));
  if (found == nullptr) return repair;
  const auto stored = registry::Registry::Decode(row, *found);
  if (!stored || registry::IsBeingDeleted(*stored) || Has(*stored, repair.wanted)) {
    return std::nullopt;
  }
  const bool other_type =
      codec::StringAt(*stored, "addressType") != codec::StringAt(repair.wanted, "addressType");
  repair.kind = other_type ? EndpointsRepair::Kind::kDelete : EndpointsRepair::Kind::kUpdate;
  repair.uid = codec::StringAt(*stored, "metadata", "uid");
  return repair;
}

}  // namespace

std::vector<ServerEndpoint> LiveEndpoints(const registry::Kinds& kinds,
                                          const state::Snapshot& snapshot,
                                          const ReplicaFacts& own) {
  std::vector<ServerEndpoint> endpoints;
  AddEndpoint(endpoints, own.advertised, own.port);
  const registry::Row& row = *kinds.FindRow(api::kReplicaKind);
  for (auto at = snapshot.Seek(row.prefix); at.Valid(); at.Next()) {
    const auto replica = registry::DecodeWithoutManagedFields(row, *at.Get());
    if (!replica) continue;
    AddEndpoint(endpoints, codec::StringAt(*replica, "spec", "advertiseAddress"),
                codec::IntAt(*replica, "spec", "advertisePort"));
  }
  std::ranges::sort(endpoints);
  const auto repeated = std::ranges::unique(endpoints);
  endpoints.erase(repeated.begin(), repeated.end());
  return endpoints;
}

Value KubernetesEndpoints(const std::vector<ServerEndpoint>& endpoints) {
  // Another controller must not copy them into slices: the slice is made here.
  Value object =
      codec::Object{{"metadata", Metadata("endpointslice.kubernetes.io/skip-mirror", "true")}};
  std::vector<uint16_t> ports;
  for (const ServerEndpoint& endpoint : endpoints) ports.push_back(endpoint.port);
  std::ranges::sort(ports);
  ports.erase(std::ranges::unique(ports).begin(), ports.end());
  codec::Array subsets;
  for (const uint16_t port : ports) {
    codec::Array addresses;
    for (const ServerEndpoint& endpoint : endpoints) {
      if (endpoint.port == port) addresses.emplace_back(codec::Object{{"ip", endpoint.ip}});
    }
    const codec::Object port_object{{"name", kPortName}, {"port", port}, {"protocol", "TCP"}};
    subsets.emplace_back(
        codec::Object{{"addresses", std::move(addresses)}, {"ports", codec::Array{port_object}}});
  }
  if (!subsets.empty()) object.Set("subsets", std::move(subsets));
  return object;
}

Value KubernetesEndpointSlice(const std::vector<ServerEndpoint>& endpoints) {
  const auto lowest = std::ranges::min_element(endpoints, {}, &ServerEndpoint::port);
  const bool any = lowest != endpoints.end();
  std::vector<ServerEndpoint> here;
  std::ranges::copy_if(endpoints, std::back_inserter(here), [&](const ServerEndpoint& endpoint) {
    return endpoint.port == lowest->port;
  });
  const bool v6 = any && std::ranges::all_of(here, IsIpv6);
  Value object = codec::Object{{"metadata", Metadata("kubernetes.io/service-name", kName)},
                               {"addressType", v6 ? "IPv6" : "IPv4"}};
  codec::Array list;
  for (const ServerEndpoint& endpoint : here) {
    if (IsIpv6(endpoint) != v6) continue;
    list.emplace_back(codec::Object{{"addresses", codec::Array{endpoint.ip}},
                                    {"conditions", codec::Object{{"ready", true}}}});
  }
  if (!any) return object;
  object.Set("endpoints", std::move(list));
  object.Set("ports", codec::Array{codec::Object{
                          {"name", kPortName}, {"protocol", "TCP"}, {"port", lowest->port}}});
  return object;
}

void EndpointsRepair::ApplyTo(Value& object) const {
  for (const std::string_view field : {"subsets", "endpoints", "ports"}) {
    codec::CopyAt(object, wanted, {field});
  }
  for (const codec::Member& label : codec::ObjectAt(wanted, "metadata", "labels")) {
    codec::SetAt(object, {"metadata", "labels", label.key}, label.value);
  }
}

std::vector<EndpointsRepair> DueRepairs(const registry::Registry& registry,
                                        const state::Snapshot& snapshot, const ReplicaFacts& own) {
  const std::vector<ServerEndpoint> endpoints = LiveEndpoints(registry.GetKinds(), snapshot, own);
  std::vector<EndpointsRepair> repairs;
  if (auto repair =
          RepairOf(registry, snapshot, api::kEndpointsKind, KubernetesEndpoints(endpoints))) {
    repairs.push_back(*std::move(repair));
  }
  if (auto repair = RepairOf(registry, snapshot, api::kEndpointSliceKind,
                             KubernetesEndpointSlice(endpoints))) {
    repairs.push_back(*std::move(repair));
  }
  return repairs;
}

KubernetesEndpointsKeeper::KubernetesEndpointsKeeper(const Context& context, ReplicaFacts replica)
    : context_(context),
      replica_(std::move(replica)),
      due_(context.clock.Steady() + kCheckEndpointsEvery),
      checked_(context.clock.Steady()) {}

void KubernetesEndpointsKeeper::OnObject(const state::ObjectPtr& now,
                                         const state::ObjectPtr& before) {
  const state::Object& object = now != nullptr ? *now : *before;
  const registry::Kinds& kinds = context_.registry.GetKinds();
  const bool replica_ended = object.Resource() == kinds.FindRow(api::kReplicaKind)->resource &&
                             (now == nullptr || before == nullptr);
  const bool ours = object.Resource() == kinds.FindRow(api::kEndpointsKind)->resource ||
                    object.Resource() == kinds.FindRow(api::kEndpointSliceKind)->resource;
  if (!replica_ended && (!ours || object.Name() != kName)) return;
  due_ = std::min(due_, checked_ + kLeastPause);
}

bool KubernetesEndpointsKeeper::Work() {
  if (context_.clock.Steady() < due_ || !context_.writer.HasRoom()) return false;
  checked_ = context_.clock.Steady();
  due_ = checked_ + kCheckEndpointsEvery;
  bool any = false;
  for (EndpointsRepair& repair :
       DueRepairs(context_.registry, *context_.follower.Current(), replica_)) {
    // A failed write is repeated the next time.
    const auto ignore = [](const base::Result<registry::Outcome>&) {};
    any = true;
    switch (repair.kind) {
      case EndpointsRepair::Kind::kCreate:
        context_.writer.Create(repair.target, std::move(repair.wanted), ignore);
        break;
      case EndpointsRepair::Kind::kDelete:
        context_.writer.Delete(repair.target, {.uid = repair.uid}, ignore);
        break;
      case EndpointsRepair::Kind::kUpdate:
        context_.writer.Update(
            repair.target, registry::Door::kMain, repair.uid,
            [repair](Value& object) { repair.ApplyTo(object); }, ignore);
        break;
    }
  }
  return any;
}

}  // namespace berth::controllers
