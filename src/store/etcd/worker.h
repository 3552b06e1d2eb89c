// One thread that runs the tasks it is given, in order.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <utility>

#include "base/mutex.h"

namespace berth::store::etcd {

class Worker {
 public:
  Worker() : thread_([this] { Run(); }) {}
  ~Worker() { End(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Runs the task later on the worker's thread, or now on this thread if the worker has ended.
  void Post(std::function<void()> task) {
    {
      base::MutexLock lock(mutex_);
      if (!ended_) {
        tasks_.push_back(std::move(task));
        wake_.NotifyOne();
        return;
      }
    }
    task();
  }

  /// Runs the remaining tasks and ends the thread.
  void End() {
    {
      base::MutexLock lock(mutex_);
      ended_ = true;
      wake_.NotifyOne();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Run() {
    for (;;) {
      std::function<void()> task;
      {
        base::MutexLock lock(mutex_);
        while (tasks_.empty() && !ended_) wake_.Wait(mutex_);
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  base::Mutex mutex_;
  base::CondVar wake_;
  std::deque<std::function<void()>> tasks_ GUARDED_BY(mutex_);
  bool ended_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // Declared last because it uses the others.
};

}  // namespace berth::store::etcd
