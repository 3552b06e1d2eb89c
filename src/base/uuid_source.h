// A source of random UUIDs for objects.
//
// Threads: every function may be called from any thread.
#pragma once

#include <string>

#include "base/mutex.h"
#include "base/random.h"

namespace berth::base {

class UuidSource {
 public:
  explicit UuidSource(const SeededRandom& random) : random_(random) {}

  /// Returns a new UUID, as NewUuid writes it.
  std::string Next() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return NewUuid(random_);
  }

 private:
  Mutex mutex_;
  SeededRandom random_ GUARDED_BY(mutex_);
};

}  // namespace berth::base
