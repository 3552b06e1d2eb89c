// A watcher of a workload: follows a prefix on a thread of its own and records what it sees. When
// its watch fails, it starts another one behind the last event; only when it is told that events
// are gone (kExpired) does it end.
//
// Threads: the functions are called by one thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/mutex.h"
#include "base/random.h"
#include "linear/watch_check.h"
#include "store/engine.h"

namespace berth::linear {

class Watcher {
 public:
  /// Begins behind `after`. `engine` must outlive it.
  Watcher(store::Engine& engine, std::string prefix, std::string name, store::Revision after,
          std::function<std::string(std::string_view)> decode, uint64_t seed);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  /// Ends when it has seen everything up to `upto`, or at the deadline. What it recorded.
  WatchRecord Finish(store::Revision upto, std::chrono::steady_clock::time_point deadline);

 private:
  void Run();
  /// One watch, until it fails or has seen enough; whether it was the last.
  bool Follow();
  void Take(const store::WatchBatch& batch);
  bool Enough() EXCLUDES(mutex_);
  void WaitForWake() EXCLUDES(mutex_);
  void OnWake() EXCLUDES(mutex_);

  store::Engine& engine_;
  const std::string prefix_;
  const std::function<std::string(std::string_view)> decode_;

  // Of the thread; of Finish when that is over.
  base::SeededRandom random_;
  WatchRecord record_;

  base::Mutex mutex_;
  base::CondVar wake_;
  bool woken_ GUARDED_BY(mutex_) = false;
  bool finishing_ GUARDED_BY(mutex_) = false;
  store::Revision target_ GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point deadline_ GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace berth::linear
