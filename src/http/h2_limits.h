// Counts, in one place, what HTTP/2 makes cheap for a client and costly for a server: resets,
// pings, settings and the like, and header blocks that unpack to far more than was sent. Each
// connection has one. Once a limit is exceeded it stays exceeded: the client gets
// ENHANCE_YOUR_CALM and the connection is closed. Not thread-safe. The caller passes the time.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/clock.h"
#include "http/limits.h"

namespace berth::http {

class H2Limits {
 public:
  H2Limits(const Limits& limits, base::SteadyTime now);

  // Each function returns false if a limit is exceeded.
  bool OnReset(base::SteadyTime now);
  /// Counts a frame that carries no data but causes an answer or work.
  bool OnControl(base::SteadyTime now);
  /// Begins a header block.
  void OnHeaderBlock() { block_bytes_ = 0; }
  /// Counts an unpacked field of the block. Returns false only if the block is several times larger
  /// than the limit of a request. Below that, only the request is refused.
  bool OnHeader(size_t bytes);

  bool exceeded() const { return !what_.empty(); }
  /// Returns the name of the exceeded limit, for the log.
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
