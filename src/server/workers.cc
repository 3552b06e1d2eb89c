#include "server/workers.h"

#include <utility>

namespace berth::server {

Workers::Workers(size_t threads, size_t max_waiting) : max_waiting_(max_waiting) {
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

Workers::~Workers() { Stop(); }

void Workers::Stop() {
  {
    base::MutexLock lock(mutex_);
    stop_ = true;
    waiting_.clear();
    ready_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

bool Workers::Run(std::function<void()> work) {
  base::MutexLock lock(mutex_);
  if (stop_ || waiting_.size() >= max_waiting_) return false;
  waiting_.push_back(std::move(work));
  ready_.NotifyOne();
  return true;
}

void Workers::Loop() {
  base::MutexLock lock(mutex_);
  while (true) {
    while (waiting_.empty() && !stop_) ready_.Wait(mutex_);
    if (stop_) return;
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.Unlock();
    work();
    lock.Lock();
  }
}

}  // namespace berth::server
