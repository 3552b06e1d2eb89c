// Time as an argument. Code that needs the time takes a Clock&, so that a test or a
// simulation decides what time it is.
#pragma once

#include <chrono>
#include <string>

namespace berth::base {

using WallTime = std::chrono::sys_time<std::chrono::nanoseconds>;
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

/// Every implementation is thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Returns the time for people and for stored timestamps. It may jump.
  virtual WallTime Now() const = 0;

  /// Returns the time for measurements and deadlines. It never goes back.
  virtual SteadyTime Steady() const = 0;
};

class SystemClock final : public Clock {
 public:
  WallTime Now() const override;
  SteadyTime Steady() const override;
};

/// A clock that stands still until Advance is called. Other threads must not
/// use the clock during Advance.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(WallTime start = {}) : now_(start) {}

  WallTime Now() const override { return now_; }
  SteadyTime Steady() const override { return steady_; }

  void Advance(std::chrono::nanoseconds by) {
    now_ += by;
    steady_ += by;
  }

 private:
  WallTime now_;
  SteadyTime steady_{};
};

/// Returns the time in UTC with milliseconds, like "2026-11-15T04:35:00.123Z".
std::string FormatRfc3339Millis(WallTime time);

}  // namespace berth::base
