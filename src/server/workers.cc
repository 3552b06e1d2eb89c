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
  if (stop_ || counted_ >= max_waiting_) return false;
  waiting_.push_back({.run = std::move(work), .counts = true});
  ++counted_;
  ready_.NotifyOne();
  return true;
}

bool Workers::RunInAnyCase(std::function<void()> work) {
  base::MutexLock lock(mutex_);
  if (stop_) return false;
  waiting_.push_back({.run = std::move(work)});
  ready_.NotifyOne();
  return true;
}

void Workers::Loop() {
  base::MutexLock lock(mutex_);
  while (true) {
    while (waiting_.empty() && !stop_) ready_.Wait(mutex_);
    if (stop_) return;
    const Work work = std::move(waiting_.front());
    waiting_.pop_front();
    if (work.counts) --counted_;
    lock.Unlock();
    work.run();
    lock.Lock();
  }
}

}  // namespace berth::server
