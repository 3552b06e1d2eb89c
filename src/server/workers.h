// A few threads for work that would hold up an io thread: lists that look into many objects, reads
// of the past. What waits is bounded.
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

  /// From one thread, which is none of the workers'.
  void Stop() EXCLUDES(mutex_);

 private:
  void Loop() EXCLUDES(mutex_);

  const size_t max_waiting_;
  base::Mutex mutex_;
  base::CondVar ready_;
  std::deque<std::function<void()>> waiting_ GUARDED_BY(mutex_);
  bool stop_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace berth::server
