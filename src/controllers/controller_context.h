// The parts that all controllers use.
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "controllers/wake.h"
#include "controllers/writer.h"
#include "registry/registry.h"
#include "state/follower.h"

namespace berth::controllers {

struct Context {
  registry::Registry& registry;
  state::Follower& follower;
  Writer& writer;
  WakePtr wake;
  const base::Clock& clock;
  base::Logger& log;
};

}  // namespace berth::controllers
