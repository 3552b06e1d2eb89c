// Lets callbacks in until it is closed. Callbacks that the sequencer leaves with the follower, the
// engine or timers hold the gate and not the sequencer: one that comes after Close does nothing.
//
// Threads: every function may be called from any thread. No lock is held while a call runs.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "base/mutex.h"

namespace berth::commit {

class Gate {
 public:
  /// Runs `call` unless the gate is closed, and keeps Close waiting meanwhile.
  template <typename Call>
  void Inside(Call&& call) EXCLUDES(mutex_) {
    {
      base::MutexLock lock(mutex_);
      if (closed_) return;
      ++inside_;
    }
    std::forward<Call>(call)();
    base::MutexLock lock(mutex_);
    if (--inside_ == 0) left_.NotifyAll();
  }

  /// Lets nothing more in, and waits until no call runs. Must not be called from inside.
  void Close() EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    closed_ = true;
    while (inside_ > 0) left_.Wait(mutex_);
  }

 private:
  base::Mutex mutex_;
  base::CondVar left_;
  bool closed_ GUARDED_BY(mutex_) = false;
  size_t inside_ GUARDED_BY(mutex_) = 0;
};

using GatePtr = std::shared_ptr<Gate>;

/// Returns a callback that runs `call` inside the gate.
template <typename Call>
auto Gated(GatePtr gate, Call call) {
  return [gate = std::move(gate), call = std::move(call)](const auto&... args) mutable {
    gate->Inside([&] { call(args...); });
  };
}

}  // namespace berth::commit
