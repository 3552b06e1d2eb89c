#include "controllers/wake.h"

#include <algorithm>
#include <utility>

namespace berth::controllers {
namespace {

/// The longest single wait, so that a time that never comes does not overflow.
constexpr std::chrono::hours kLongest{1};

}  // namespace

void Wake::Raise() {
  base::MutexLock lock(mutex_);
  if (std::exchange(raised_, true)) return;
  raised_signal_.NotifyOne();
}

void Wake::Post(std::function<void()> call) {
  base::MutexLock lock(mutex_);
  posted_.push_back(std::move(call));
  if (!std::exchange(raised_, true)) raised_signal_.NotifyOne();
}

bool Wake::RunPosted() {
  std::vector<std::function<void()>> calls;
  {
    base::MutexLock lock(mutex_);
    calls.swap(posted_);
  }
  for (const auto& call : calls) call();
  return !calls.empty();
}

void Wake::WaitUntil(base::SteadyTime at, const base::Clock& clock) {
  base::MutexLock lock(mutex_);
  while (!raised_) {
    const base::SteadyTime now = clock.Steady();
    if (at <= now) break;
    if (at - now < kLongest) {
      raised_signal_.WaitFor(mutex_, at - now);
    } else {
      raised_signal_.Wait(mutex_);
    }
  }
  raised_ = false;
}

}  // namespace berth::controllers
