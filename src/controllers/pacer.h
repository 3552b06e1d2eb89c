// Spreads long work over time. The work is done in short slices with pauses between them, so that
// it uses at most a share of one core, whatever it costs. Time and sleep are passed in.
//
// Threads: one.
#pragma once

#include <chrono>
#include <functional>

namespace berth::controllers {

/// Returns the processor time of the calling thread so far.
std::chrono::nanoseconds ThreadCpuTime();

class Pacer {
 public:
  using Nanoseconds = std::chrono::nanoseconds;
  struct Parts {
    std::function<Nanoseconds()> cpu_time;   // Of the calling thread, so far.
    std::function<double()> share;           // The share of one core that may be used now.
    std::function<bool(Nanoseconds)> sleep;  // Returns false if the work must stop.
  };
  explicit Pacer(Parts parts);

  /// Is called often while the work goes on. Makes a pause if a slice has ended. Returns false if
  /// the work must stop.
  bool Step();
  /// Returns the processor time since this object was made.
  Nanoseconds Worked() const { return parts_.cpu_time() - begin_; }

  /// A slice is short compared to what a client waits for.
  static constexpr std::chrono::milliseconds kSlice{1};
  /// Returns the pause after work of this length. A share of 1 needs no pauses.
  static Nanoseconds PauseAfter(Nanoseconds worked, double share);

 private:
  const Parts parts_;
  const Nanoseconds begin_;
  Nanoseconds slice_begin_;
  bool stopped_ = false;
};

}  // namespace berth::controllers
