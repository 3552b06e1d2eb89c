// The Endpoints and the EndpointSlice of default/kubernetes: where the servers that run on this
// store can be reached. Each server notes its address in its Replica, which ends with it. Every
// server keeps the two objects equal to the Replicas, so they need no leader.
//
// Threads: KubernetesEndpointsKeeper on that of the controllers; the functions are pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "codec/value.h"
#include "controllers/controller_context.h"
#include "controllers/controller_feed.h"
#include "controllers/replica_register.h"
#include "registry/registry.h"
#include "state/snapshot.h"

namespace berth::controllers {

/// Where a server can be reached.
struct ServerEndpoint {
  std::string ip;
  uint16_t port = 0;

  auto operator<=>(const ServerEndpoint&) const = default;
};

/// Returns the endpoints of all living servers, sorted by text. `own` counts even if its Replica is
/// not stored yet.
std::vector<ServerEndpoint> LiveEndpoints(const registry::Kinds& kinds,
                                          const state::Snapshot& snapshot, const ReplicaFacts& own);

/// Return the objects for these endpoints. Endpoints have a subset for each port. A slice has one
/// port only, the lowest one, and the servers that listen there. Without endpoints both are empty.
codec::Value KubernetesEndpoints(const std::vector<ServerEndpoint>& endpoints);
codec::Value KubernetesEndpointSlice(const std::vector<ServerEndpoint>& endpoints);

/// What has to be done to one of the two objects.
struct EndpointsRepair {
  enum class Kind : uint8_t { kCreate, kUpdate, kDelete };

  Kind kind = Kind::kCreate;
  registry::Target target;
  codec::Value wanted;   // The object to create.
  std::string uid = {};  // Of the stored object.

  /// Changes the stored object to what is wanted, and keeps all that others have added.
  void ApplyTo(codec::Value& object) const;
};

/// Returns what is wrong in the snapshot. Objects that are being deleted are left alone. A slice of
/// another address type is deleted, because that cannot be changed.
std::vector<EndpointsRepair> DueRepairs(const registry::Registry& registry,
                                        const state::Snapshot& snapshot, const ReplicaFacts& own);

/// Repairs the two objects when they or the Replicas change, and every ten seconds.
class KubernetesEndpointsKeeper final : public Reader {
 public:
  KubernetesEndpointsKeeper(const Context& context, ReplicaFacts replica);

  void Begin() override {}
  void OnObject(const state::ObjectPtr& now, const state::ObjectPtr& before) override;

  /// Returns whether it did anything.
  bool Work();
  base::SteadyTime NextDue() const { return due_; }

 private:
  const Context context_;
  const ReplicaFacts replica_;
  base::SteadyTime due_;
  base::SteadyTime checked_;  // Not more often than once a second.
};

}  // namespace berth::controllers
