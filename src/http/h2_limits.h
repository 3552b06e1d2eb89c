// What HTTP/2 makes cheap for a client and costly for a server, counted in one place: resets,
// pings, settings and the like, and header blocks that unpack to far more than was sent. One per
// connection. Once a limit is passed it stays so: the connection is told to calm down and closed.
// Not thread-safe; time is passed in.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/clock.h"
#include "http/limits.h"

namespace berth::http {

class H2Limits {
 public:
  H2Limits(const Limits& limits, base::SteadyTime now);

  // Each returns false when that was too much.
  bool OnReset(base::SteadyTime now);
  /// A frame that carries nothing and wants an answer or work.
  bool OnControl(base::SteadyTime now);
  /// A header block begins.
  void OnHeaderBlock() { block_bytes_ = 0; }
  /// A field of it, unpacked. A block may be a few times what a request may have before this says
  /// no: up to there the request alone is refused.
  bool OnHeader(size_t bytes);

  bool exceeded() const { return !what_.empty(); }
  /// What there was too much of, for the log.
  std::string_view what() const { return what_; }

 private:
  class Bucket {
   public:
    Bucket(H2LimitOptions::Rate rate, base::SteadyTime now)
        : rate_(rate), left_(rate.burst), filled_(now) {}
    bool Take(base::SteadyTime now);

   private:
    H2LimitOptions::Rate rate_;
    double left_;
    base::SteadyTime filled_;
  };

  bool Note(bool fine, std::string_view what);

  Bucket resets_;
  Bucket controls_;
  const size_t block_limit_;
  size_t block_bytes_ = 0;
  std::string_view what_;
};

}  // namespace berth::http
