// A request to stop that reaches threads which are blocked in a wait. A client polls it together
// with its socket, and waits between attempts end early. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>

#include "http/listener.h"

namespace berth::http {

class StopSignal {
 public:
  StopSignal();

  /// Ends all waits, now and from now on. It cannot be taken back.
  void Raise();
  bool IsRaised() const { return raised_.load(std::memory_order_acquire); }

  /// Sleeps. Returns false if the signal was raised before or meanwhile.
  bool SleepFor(std::chrono::nanoseconds time) const;

  /// Returns a file descriptor that is readable from Raise on.
  int fd() const { return event_.get(); }

 private:
  std::atomic<bool> raised_ = false;
  const UniqueFd event_;
};

/// Waits for events on a socket until a time. Returns false at that time, and if `stop`, which may
/// be null, is raised.
bool PollUntil(int socket, int16_t events, std::chrono::steady_clock::time_point deadline,
               const StopSignal* stop);

}  // namespace berth::http
