// A watcher of a workload. It follows a prefix on its own thread and records what it sees. When its
// watch fails, it starts another one after the last event. It ends only if the engine reports that
// events have been deleted (kExpired).
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
  /// Begins after `after`. `engine` must outlive the watcher.
  Watcher(store::Engine& engine, std::string prefix, std::string name, store::Revision after,
          std::function<std::string(std::string_view)> decode, uint64_t seed);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  /// Ends when it has seen everything up to `upto`, or at the deadline. Returns the record.
  WatchRecord Finish(store::Revision upto, std::chrono::steady_clock::time_point deadline);

 private:
  void Run();
  /// Follows one watch, until it fails or has seen enough. Returns whether it was the last one.
  bool Follow();
  void Take(const store::WatchBatch& batch);
  bool Enough() EXCLUDES(mutex_);
  void WaitForWake() EXCLUDES(mutex_);
  void OnWake() EXCLUDES(mutex_);

  store::Engine& engine_;
  const std::string prefix_;
  const std::function<std::string(std::string_view)> decode_;

  // These belong to the thread, and to Finish after the thread has ended.
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
