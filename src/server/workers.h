// A few threads for work that would block an io thread or the follower: lists that filter many
// objects, long lists in protobuf, large patches, writes that waited for another write, metrics.
// The queue is bounded here, or by the caller.
//
// Threads: any. Stop and the destructor finish the work that has begun and drop the queue.
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

  /// Queues `work`. Returns false, and does not keep `work`, if the queue is full or after Stop.
  bool Run(std::function<void()> work) EXCLUDES(mutex_);

  /// Queues `work` even if the queue is full, for work that is cheap to keep and that the caller
  /// bounds. Returns false after Stop.
  bool RunInAnyCase(std::function<void()> work) EXCLUDES(mutex_);

  /// To be called from one thread, which is not a worker.
  void Stop() EXCLUDES(mutex_);

 private:
  struct Work {
    std::function<void()> run;
    bool counts = false;  // Whether it counts towards max_waiting.
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
