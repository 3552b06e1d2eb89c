// Where history stood at some moments of the past: from these it is known which revision is as old,
// or as many bytes back, as history may reach. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include "store/rocks/layout.h"
#include "store/types.h"

namespace berth::store::rocks {

class Samples {
 public:
  /// `age` and `bytes` are how far history may reach. `known` is in order of time, and history up
  /// to `compacted` is given up.
  Samples(std::chrono::seconds age, uint64_t bytes, const std::vector<Sample>& known,
          Revision compacted);

  /// Whether enough has happened since the last one.
  bool IsDue(const Sample& now) const;

  /// Of a moment that is not before the others; a clock that went back is taken to stand still.
  const Sample& Add(Sample sample);

  /// Up to which revision history is too old or too large; it may be given up already.
  Revision GiveUp(const Sample& now) const;

  /// History up to `upto` is given up: forgets what is no longer needed, which is all before the
  /// last sample that is not above `upto`. Returns the time of the first that is left; 0: there is
  /// none.
  int64_t Forget(Revision upto);

 private:
  Revision TooOld(const Sample& now) const;
  Revision TooLarge(const Sample& now) const;

  const int64_t age_;  // Milliseconds.
  const uint64_t bytes_;
  /// The first, unless it is above all that was given up, is where history begins.
  std::deque<Sample> samples_;
  uint64_t begin_bytes_ = 0;
};

}  // namespace berth::store::rocks
