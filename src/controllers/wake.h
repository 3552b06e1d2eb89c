// What a thread that does its work when there is some sleeps on, and what others have for it: calls
// that are made on that thread.
//
// Threads: any may raise and post; one waits and runs. Shared by all, so that who posts late finds
// it still there.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace berth::controllers {

class Wake {
 public:
  /// The next WaitUntil, or the one under way, ends.
  void Raise() EXCLUDES(mutex_);
  /// Also raises it. What is never run is dropped with the last owner.
  void Post(std::function<void()> call) EXCLUDES(mutex_);

  /// Makes the calls that were posted; whether there were any.
  bool RunPosted() EXCLUDES(mutex_);
  /// Until it is raised, or about that time; at once if it was raised since the last wait.
  void WaitUntil(base::SteadyTime at, const base::Clock& clock) EXCLUDES(mutex_);

 private:
  base::Mutex mutex_;
  base::CondVar raised_signal_;
  bool raised_ GUARDED_BY(mutex_) = false;
  std::vector<std::function<void()>> posted_ GUARDED_BY(mutex_);
};

using WakePtr = std::shared_ptr<Wake>;

}  // namespace berth::controllers
