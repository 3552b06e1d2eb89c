// Calls a function every second on a thread of its own, until it is destroyed.
#pragma once

#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "base/mutex.h"

namespace berth::cli {

class Ticker {
 public:
  explicit Ticker(std::function<void()> tick,
                  std::chrono::nanoseconds every = std::chrono::seconds(1))
      : tick_(std::move(tick)), every_(every), thread_([this] { Run(); }) {}
  ~Ticker() {
    {
      const base::MutexLock lock(mutex_);
      over_ = true;
      wake_.NotifyAll();
    }
    thread_.join();
  }
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  void Run() EXCLUDES(mutex_) {
    while (!Wait()) tick_();
  }

  /// Waits for the next tick. Returns true at the end.
  bool Wait() EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    if (!over_) wake_.WaitFor(mutex_, every_);
    return over_;
  }

  const std::function<void()> tick_;
  const std::chrono::nanoseconds every_;
  base::Mutex mutex_;
  base::CondVar wake_;
  bool over_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // The last member, because the thread uses the others.
};

}  // namespace berth::cli
