#include "http/stop_signal.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace berth::http {

StopSignal::StopSignal() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void StopSignal::Raise() {
  raised_.store(true, std::memory_order_release);
  const uint64_t one = 1;
  // The counter cannot be full, because nothing but Raise adds to it.
  [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof(one));
}

bool StopSignal::SleepFor(std::chrono::nanoseconds time) const {
  PollUntil(-1, 0, std::chrono::steady_clock::now() + time, this);
  return !IsRaised();
}

bool PollUntil(int socket, int16_t events, std::chrono::steady_clock::time_point deadline,
               const StopSignal* stop) {
  using std::chrono::milliseconds;
  // poll ignores entries whose descriptor is negative.
  std::array<pollfd, 2> waits = {
      pollfd{.fd = socket, .events = events, .revents = 0},
      pollfd{.fd = stop == nullptr ? -1 : stop->fd(), .events = POLLIN, .revents = 0}};
  for (;;) {
    if (stop != nullptr && stop->IsRaised()) return false;
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left < left.zero()) return false;
    const auto step = std::min(left, decltype(left)(std::chrono::minutes(1)));
    const int ready = ::poll(waits.data(), waits.size(),
                             static_cast<int>(std::chrono::ceil<milliseconds>(step).count()));
    if (ready > 0 && waits[0].revents != 0) return true;
  }
}

}  // namespace berth::http
