// A mutex whose use the compiler checks. clang's -Wthread-safety reads which members a Mutex guards
// (GUARDED_BY) and which functions need it held (REQUIRES). std::mutex has no such annotations.
//
//   base::Mutex mutex_;
//   std::deque<Job> jobs_ GUARDED_BY(mutex_);
//   base::CondVar ready_;
//
//   base::MutexLock lock(mutex_);
//   while (jobs_.empty()) ready_.Wait(mutex_);
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define BERTH_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define BERTH_THREAD_ATTRIBUTE(x)
#endif

// abseil's containers define some of these macros too, with the same meaning.
#undef GUARDED_BY
#undef PT_GUARDED_BY
#undef NO_THREAD_SAFETY_ANALYSIS

#define CAPABILITY(name) BERTH_THREAD_ATTRIBUTE(capability(name))
#define SCOPED_CAPABILITY BERTH_THREAD_ATTRIBUTE(scoped_lockable)
#define GUARDED_BY(x) BERTH_THREAD_ATTRIBUTE(guarded_by(x))
#define PT_GUARDED_BY(x) BERTH_THREAD_ATTRIBUTE(pt_guarded_by(x))
#define REQUIRES(...) BERTH_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) BERTH_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) BERTH_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define RELEASE(...) BERTH_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS BERTH_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace berth::base {

class CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ACQUIRE() { mutex_.lock(); }
  void Unlock() RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

/// Holds a Mutex during its lifetime. Unlock and Lock release it for a while in between.
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() RELEASE() {
    if (held_) mutex_.Unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void Unlock() RELEASE() {
    held_ = false;
    mutex_.Unlock();
  }
  void Lock() ACQUIRE() {
    mutex_.Lock();
    held_ = true;
  }

 private:
  Mutex& mutex_;
  bool held_ = true;
};

/// A wait may end without a notification, so callers wait in a loop that checks their condition.
class CondVar {
 public:
  void Wait(Mutex& mutex) REQUIRES(mutex) NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }

  /// Returns false on timeout.
  bool WaitFor(Mutex& mutex, std::chrono::nanoseconds limit)
      REQUIRES(mutex) NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool in_time = condition_.wait_for(lock, limit) == std::cv_status::no_timeout;
    lock.release();
    return in_time;
  }

  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace berth::base
