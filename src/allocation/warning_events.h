// Warning Events about Services and records, as Kubernetes' repair loops write them. An Event is
// one object for as long as the same is said about the same object: its name follows from what it
// says. If it is said again after some minutes, the Event counts that in its series. So an Event
// does not multiply by passes, nor by replicas that find the same thing.
//
// Threads: every function may be called from any thread. It does not wait for its writes.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "registry/registry.h"

namespace berth::allocation {

/// The reporters that events name.
inline constexpr std::string_view kPortRepairer = "portallocator-repair-controller";
inline constexpr std::string_view kAddressRepairer = "ipallocator-repair-controller";

struct WarningEvent {
  // The object that the event is about. One without a namespace has its events in "default".
  std::string kind = {};
  std::string api_version = {};
  std::string name_space = {};
  std::string name = {};
  std::string uid = {};

  std::string reason = {};
  std::string action = {};
  std::string note = {};  // Cut to what Kubernetes allows.
  std::string_view reporter = {};

  bool operator==(const WarningEvent&) const = default;
};

/// Returns the name that the Event has, on every replica.
std::string NameOf(const WarningEvent& event);

class WarningEvents {
 public:
  /// All must outlive the last write.
  WarningEvents(registry::Registry& registry, const base::Clock& clock, base::Logger& log);

  /// Creates the Event, or counts it again if it is older than kAgain. An Event in a namespace that
  /// does not exist is left out.
  void Raise(const WarningEvent& event);

  /// The time after which the same counts again. It is a little less than the three minutes between
  /// two passes of Kubernetes' repair loops.
  static constexpr std::chrono::seconds kAgain{170};

 private:
  registry::Registry& registry_;
  const registry::Row& row_;
  const base::Clock& clock_;
  base::Logger& log_;
};

}  // namespace berth::allocation
