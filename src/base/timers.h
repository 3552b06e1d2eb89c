// Calls at a given time. Code that needs a timer takes a Timers&, so that the owner of the thread
// decides where and when the call runs.
#pragma once

#include <functional>

#include "base/clock.h"

namespace berth::base {

/// Thread-safe in every implementation.
class Timers {
 public:
  virtual ~Timers() = default;

  /// Runs `call` once, at that time or a little later, on a thread of the implementation. It never
  /// runs if the implementation stops first.
  virtual void RunAt(SteadyTime at, std::function<void()> call) = 0;
};

}  // namespace berth::base
