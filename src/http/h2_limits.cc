#include "http/h2_limits.h"

#include <algorithm>
#include <chrono>

namespace berth::http {
namespace {

/// Header blocks up to this many times the limit are refused. Larger ones end the connection.
constexpr size_t kBlockFactor = 4;

}  // namespace

H2Limits::H2Limits(const Limits& limits, base::SteadyTime now)
    : resets_(limits.h2.resets, now),
      controls_(limits.h2.controls, now),
      block_limit_(kBlockFactor * limits.header_bytes) {}

bool H2Limits::Bucket::Take(base::SteadyTime now) {
  const double seconds = std::chrono::duration<double>(now - filled_).count();
  filled_ = now;
  left_ = std::min(rate_.burst, left_ + seconds * rate_.per_second);
  if (left_ < 1) return false;
  left_ -= 1;
  return true;
}

bool H2Limits::OnReset(base::SteadyTime now) { return Note(resets_.Take(now), "resets"); }

bool H2Limits::OnControl(base::SteadyTime now) {
  return Note(controls_.Take(now), "control frames");
}

bool H2Limits::OnHeader(size_t bytes) {
  block_bytes_ += bytes;
  return Note(block_bytes_ <= block_limit_, "header bytes");
}

bool H2Limits::Note(bool fine, std::string_view what) {
  if (!fine && what_.empty()) what_ = what;
  return fine && what_.empty();
}

}  // namespace berth::http
