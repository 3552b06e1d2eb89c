// Creates what every cluster has: its first namespaces, the form of its allocations, the ranges of
// addresses and node ports, and the Service default/kubernetes with its endpoints. The Service is
// also created again if it is deleted. Flags say what a store begins with. From then on the store
// decides.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "allocation/allocator.h"
#include "allocation/ledger/ledger.h"
#include "base/clock.h"
#include "base/result.h"
#include "codec/value.h"
#include "controllers/controller_context.h"
#include "controllers/replica_register.h"
#include "ip/cidr.h"
#include "ip/port_range.h"
#include "registry/registry.h"

namespace berth::controllers {

struct BootstrapOptions {
  std::vector<ip::Cidr> cidrs;  // Of the default ServiceCIDR, the primary one first.
  ip::PortRange node_ports{30000, 32767};
  uint16_t secure_port = 6443;  // The target port of default/kubernetes.
  /// Whether an operator has set these flags and should get a warning if the store has other
  /// ranges.
  bool asked_for_cidrs = false;
  bool asked_for_ports = false;
  /// The form of allocations of a new store, and whether an operator has set that flag.
  bool bitmaps = false;
  bool asked_for_form = false;
  ReplicaFacts replica = {};
};

struct BootstrapParts {
  registry::Registry& registry;
  state::Follower& follower;  // It must run and have its first snapshot.
  allocation::Ledger& ledger;
  allocation::Allocator& allocator;
  const base::Clock& clock;
  base::Logger& log;
  /// Creates missing bitmaps, if the store keeps allocations in them. If unset, bitmaps are not
  /// created.
  std::function<base::Result<void>()> repair = {};
  /// Called with a sentence that an operator should read at the start. May be unset.
  std::function<void(std::string)> tell = {};
};

/// Creates what does not exist, and waits until it does.
base::Result<void> Bootstrap(const BootstrapParts& parts, const BootstrapOptions& options);

/// Creates what does not exist of the part that no write works without: the first namespaces, the
/// form of allocations, the fences of the pools, and the first ranges.
base::Result<void> EnsureEssentials(const BootstrapParts& parts, const BootstrapOptions& options);

/// Returns default/kubernetes, whose address is the first usable one of the primary range. Returns
/// nullopt if there is no such range.
std::optional<codec::Value> KubernetesService(const allocation::Ledger& ledger,
                                              uint16_t secure_port);

/// Creates default/kubernetes again if it was deleted. Never changes an existing one.
class KubernetesServiceKeeper {
 public:
  KubernetesServiceKeeper(const Context& context, allocation::Ledger& ledger, uint16_t secure_port);

  /// Returns whether it did anything.
  bool Work();
  base::SteadyTime NextDue() const { return due_; }
  /// Makes the next Work look at once.
  void Hurry() { due_ = context_.clock.Steady(); }

 private:
  const Context context_;
  allocation::Ledger& ledger_;
  const uint16_t secure_port_;
  const registry::Target target_;
  base::SteadyTime due_;
};

}  // namespace berth::controllers
