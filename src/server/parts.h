// The parts that handlers work with. The caller makes them; they outlive every request.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "http/source.h"
#include "obs/metrics.h"
#include "registry/registry.h"
#include "server/workers.h"
#include "state/follower.h"
#include "state/past.h"
#include "watch/hub.h"

namespace berth::server {

/// One signal for all watches of a scope, so that an event wakes only these (signals.h).
class Signals;

struct Parts {
  registry::Registry& registry;
  state::Follower& follower;
  const state::Past& past;
  watch::Hub& hub;
  Signals& signals;
  Workers& workers;
  obs::Metrics& metrics;
  const base::Clock& clock;
  base::Logger& log;
};

/// How long a read waits for a revision in the future, as in Kubernetes.
inline constexpr std::chrono::seconds kAwaitRevision{3};
/// How long a request may take that is neither such a read nor a write.
inline constexpr std::chrono::seconds kRequestTimeout{60};
/// How long a write may take.
inline constexpr std::chrono::seconds kWriteTimeout{34};

}  // namespace berth::server
