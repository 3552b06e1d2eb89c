// The deadlines of the writes that are not answered. They share one timer, which is set to the
// earliest of them.
//
// Not thread-safe: OpenWrites guards it and sets the timer.
#pragma once

#include <optional>
#include <set>
#include <utility>

#include "base/clock.h"
#include "commit/op.h"

namespace berth::commit {

class Deadlines {
 public:
  /// Adds the write, unless it has no deadline.
  void Add(const OpPtr& op);
  void Remove(const OpPtr& op);
  void Clear() { deadlines_.clear(); }

  /// Returns the time to which the caller must set the timer now. Returns nullopt if there is no
  /// deadline, or the timer is set to an early enough time.
  std::optional<base::SteadyTime> NextTimer();

  /// The timer has fired: removes the writes whose deadline has passed and returns them, earliest
  /// first. The caller then asks NextTimer.
  Ops TakeLate(base::SteadyTime now);

 private:
  std::set<std::pair<base::SteadyTime, OpPtr>> deadlines_;
  base::SteadyTime timer_at_ = base::SteadyTime::max();  // Max if the timer is not set.
};

}  // namespace berth::commit
