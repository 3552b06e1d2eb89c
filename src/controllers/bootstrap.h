// What every cluster has: its first namespaces, the form of its allocations, the ranges that
// addresses and node ports come from, and the Service default/kubernetes, which it keeps there.
// Flags say what a store begins with; later the store has the word.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "codec/value.h"
#include "commit/allocations.h"
#include "controllers/context.h"
#include "controllers/replica_register.h"
#include "ip/cidr.h"
#include "ip/port_range.h"
#include "registry/registry.h"

namespace berth::controllers {

struct BootstrapOptions {
  std::vector<ip::Cidr> cidrs;  // Of the default ServiceCIDR, the primary one first.
  ip::PortRange node_ports{30000, 32767};
  uint16_t secure_port = 6443;  // Where default/kubernetes leads to.
  /// Whether somebody has asked for these ranges, and is to hear if they are not in force.
  bool asked_for_cidrs = false;
  bool asked_for_ports = false;
  /// The form of allocations of a new store, and whether somebody has asked for it.
  bool bitmaps = false;
  bool asked_for_form = false;
  ReplicaFacts replica = {};
};

struct BootstrapParts {
  registry::Registry& registry;
  state::Follower& follower;  // It must run, and its first picture be there.
  commit::Allocations& allocations;
  const base::Clock& clock;
  base::Logger& log;
  /// Makes bitmaps that are not there, where allocations are kept in them; empty: nobody does.
  std::function<base::Result<void>()> repair = {};
};

/// Makes what is not there, and waits for it.
base::Result<void> Bootstrap(const BootstrapParts& parts, const BootstrapOptions& options);

/// default/kubernetes: the first usable address of the primary range leads to the server. Nothing:
/// there is no such range.
std::optional<codec::Value> KubernetesService(const commit::Allocations& allocations,
                                              uint16_t secure_port);

/// Makes default/kubernetes again when somebody has deleted it. Never corrects it.
class KubernetesServiceKeeper {
 public:
  KubernetesServiceKeeper(const Context& context, commit::Allocations& allocations,
                          uint16_t secure_port);

  /// Whether it did anything.
  bool Work();
  base::SteadyTime NextDue() const { return due_; }

 private:
  const Context context_;
  commit::Allocations& allocations_;
  const uint16_t secure_port_;
  const registry::Target target_;
  base::SteadyTime due_;
};

}  // namespace berth::controllers
