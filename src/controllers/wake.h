// What a worker thread sleeps on, and a queue of calls that other threads post to it.
//
// Threads: any thread may raise and post; one waits and runs. It is shared by all of them, so that
// it still exists when a thread posts late.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace berth::controllers {

class Wake {
 public:
  /// Ends the next WaitUntil, or the one in progress.
  void Raise() EXCLUDES(mutex_);
  /// Posts a call and raises. A call that never runs is dropped with the last owner.
  void Post(std::function<void()> call) EXCLUDES(mutex_);

  /// Runs the posted calls. Returns whether there were any.
  bool RunPosted() EXCLUDES(mutex_);
  /// Waits until it is raised, or until about that time. Returns at once if it was raised since the
  /// last wait.
  void WaitUntil(base::SteadyTime at, const base::Clock& clock) EXCLUDES(mutex_);

 private:
  base::Mutex mutex_;
  base::CondVar raised_signal_;
  bool raised_ GUARDED_BY(mutex_) = false;
  std::vector<std::function<void()>> posted_ GUARDED_BY(mutex_);
};

using WakePtr = std::shared_ptr<Wake>;

}  // namespace berth::controllers
