// Samples of history: the newest revision and the size of history at some moments of the past. They
// tell which revision has reached the age, or the distance in bytes, up to which history is kept.
// Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include "store/rocks/rocks_layout.h"
#include "store/types.h"

namespace berth::store::rocks {

class Samples {
 public:
  /// `age` and `bytes` say how far history may reach. `known` must be in the order of time. History
  /// up to `compacted` is given up already.
  Samples(std::chrono::seconds age, uint64_t bytes, const std::vector<Sample>& known,
          Revision compacted);

  /// Returns whether enough has happened since the last sample to add another.
  bool IsDue(const Sample& now) const;

  /// Adds a sample and returns it as it was added. If its time is not after the last sample's
  /// because the clock went back, it gets a time just after that.
  const Sample& Add(Sample sample);

  /// Returns the revision up to which history is too old or too large. It may be given up already.
  Revision GiveUp(const Sample& now) const;

  /// Forgets the samples that are no longer needed when history up to `upto` is given up: all
  /// before the last sample that is not above `upto`. Returns the time of the first sample that is
  /// left. Returns 0 if there are no samples.
  int64_t Forget(Revision upto);

 private:
  Revision TooOld(const Sample& now) const;
  Revision TooLarge(const Sample& now) const;

  const int64_t age_;  // Milliseconds.
  const uint64_t bytes_;
  /// The first sample marks the beginning of history, unless it is above all that was given up.
  std::deque<Sample> samples_;
  uint64_t begin_bytes_ = 0;
};

}  // namespace berth::store::rocks
