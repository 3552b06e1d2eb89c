#include "store/etcd/calls_queue.h"

namespace berth::store::etcd::wire {

CallQueue::CallQueue() : thread_([this] { Run(); }) {}

CallQueue::~CallQueue() {
  queue_.Shutdown();
  thread_.join();
}

void CallQueue::Enter(Attempt& attempt) {
  base::MutexLock lock(mutex_);
  under_way_.insert(&attempt);
  ++busy_;
  if (cancelled_) attempt.context->TryCancel();
}

void CallQueue::CancelAll() {
  base::MutexLock lock(mutex_);
  cancelled_ = true;
  for (Attempt* attempt : under_way_) attempt->context->TryCancel();
}

bool CallQueue::AwaitIdle(std::chrono::milliseconds limit) {
  base::MutexLock lock(mutex_);
  if (busy_ != 0) idle_.WaitFor(mutex_, limit);
  return busy_ == 0;
}

void CallQueue::Run() {
  void* tag = nullptr;
  bool fine = false;
  while (queue_.Next(&tag, &fine)) {
    TakeBack(tag);
    auto* attempt = static_cast<Attempt*>(tag);
    {
      base::MutexLock lock(mutex_);
      under_way_.erase(attempt);
    }
    attempt->Complete();
    base::MutexLock lock(mutex_);
    if (--busy_ == 0) idle_.NotifyAll();
  }
}

}  // namespace berth::store::etcd::wire
