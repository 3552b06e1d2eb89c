#include "store/rocks/samples.h"

#include <algorithm>

namespace berth::store::rocks {
namespace {

using std::chrono::milliseconds;

/// The precision of the end of history: samples are taken at these fractions of what may be kept.
constexpr int64_t kAgeParts = 60;
constexpr uint64_t kByteParts = 32;
constexpr int64_t kLongestPart = 10'000;  // Milliseconds.

}  // namespace

Samples::Samples(std::chrono::seconds age, uint64_t bytes, const std::vector<Sample>& known,
                 Revision compacted)
    : age_(milliseconds(age).count()), bytes_(bytes), samples_(known.begin(), known.end()) {
  Forget(compacted);
}

bool Samples::IsDue(const Sample& now) const {
  if (samples_.empty()) return true;
  const Sample& last = samples_.back();
  if (now.revision <= last.revision) return false;
  return now.time - last.time >= std::min(age_ / kAgeParts, kLongestPart) ||
         now.bytes - last.bytes >= bytes_ / kByteParts;
}

const Sample& Samples::Add(Sample sample) {
  if (!samples_.empty()) sample.time = std::max(sample.time, samples_.back().time + 1);
  return samples_.emplace_back(sample);
}

Revision Samples::GiveUp(const Sample& now) const { return std::max(TooOld(now), TooLarge(now)); }

Revision Samples::TooOld(const Sample& now) const {
  Revision upto;
  for (const Sample& sample : samples_) {
    if (now.time - sample.time >= age_) upto = sample.revision;
  }
  return upto;
}

Revision Samples::TooLarge(const Sample& now) const {
  if (now.bytes - begin_bytes_ <= bytes_) return {};
  Revision upto;
  for (const Sample& sample : samples_) {
    upto = sample.revision;
    if (now.bytes - sample.bytes <= bytes_) break;
  }
  return upto;
}

int64_t Samples::Forget(Revision upto) {
  if (samples_.empty()) return 0;
  while (samples_.size() > 1 && samples_[1].revision <= upto) samples_.pop_front();
  if (samples_.front().revision <= upto) begin_bytes_ = samples_.front().bytes;
  return samples_.front().time;
}

}  // namespace berth::store::rocks
