#include "controllers/pacer.h"

#include <cstdint>
#include <ctime>
#include <utility>

namespace berth::controllers {

std::chrono::nanoseconds ThreadCpuTime() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

Pacer::Pacer(Parts parts)
    : parts_(std::move(parts)), begin_(parts_.cpu_time()), slice_begin_(begin_) {}

Pacer::Nanoseconds Pacer::PauseAfter(Nanoseconds worked, double share) {
  if (share >= 1) return Nanoseconds(0);
  return Nanoseconds(static_cast<int64_t>(static_cast<double>(worked.count()) * (1 / share - 1)));
}

bool Pacer::Step() {
  if (stopped_) return false;
  const Nanoseconds now = parts_.cpu_time();
  if (now - slice_begin_ < kSlice) return true;
  stopped_ = !parts_.sleep(PauseAfter(now - slice_begin_, parts_.share()));
  slice_begin_ = parts_.cpu_time();
  return !stopped_;
}

}  // namespace berth::controllers
