// A few threads for work that would hold up an io thread: lists that look into many objects, reads
// of the past, patches. What waits is bounded, here or by who brings it.
//
// Threads: any. Stop and the destructor finish what is being done and drop what waits.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace berth::server {

class Workers {
 public:
  Workers(size_t threads, size_t max_waiting);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// False when too much waits: then `work` is not kept.
  bool Run(std::function<void()> work) EXCLUDES(mutex_);

  /// However much waits: for work that is cheap to keep and of which there is never too much. False
  /// after Stop.
  bool RunInAnyCase(std::function<void()> work) EXCLUDES(mutex_);

  /// From one thread, which is none of the workers'.
  void Stop() EXCLUDES(mutex_);

 private:
  struct Work {
    std::function<void()> run;
    bool counts = false;  // Towards max_waiting.
  };

  void Loop() EXCLUDES(mutex_);

  const size_t max_waiting_;
  base::Mutex mutex_;
  base::CondVar ready_;
  std::deque<Work> waiting_ GUARDED_BY(mutex_);
  size_t counted_ GUARDED_BY(mutex_) = 0;
  bool stop_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace berth::server
