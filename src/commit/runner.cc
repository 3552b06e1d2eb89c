#include "commit/runner.h"

#include <cstddef>
#include <utility>

namespace berth::commit {

void Runner::Drive(Ops ready) {
  // Writes that are added by running one come after those that are ready already.
  for (size_t i = 0; i < ready.size(); ++i) {
    const OpPtr op = ready[i];
    run_write_(op, ready);
  }
}

void Runner::Dispatch(Ops ready) {
  if (ready.empty()) return;
  Run([this, ready = std::move(ready)]() mutable { Drive(std::move(ready)); });
}

void Runner::Resume(const OpPtr& op) {
  {
    base::MutexLock lock(mutex_);
    resumed_.push_back(op);
    if (std::exchange(resuming_, true)) return;
  }
  Run([this] { DriveResumed(); });
}

void Runner::DriveResumed() {
  for (;;) {
    Ops ready;
    {
      base::MutexLock lock(mutex_);
      ready.swap(resumed_);
      if (ready.empty()) {
        resuming_ = false;
        return;
      }
    }
    Drive(std::move(ready));
  }
}

}  // namespace berth::commit
