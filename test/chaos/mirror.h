// A watcher as Berth's state layer will be one: lists a prefix, follows its events, and when it is
// told that history is gone, lists again. What it must never do is miss something without being
// told.
//
// Threads: one of its own; the functions are called by one thread.
#pragma once

#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "chaos/checks.h"
#include "linear/history.h"
#include "store/engine.h"

namespace berth::chaos {

class Mirror {
 public:
  /// Sleeps for up to `nap` between polls. `engine` must outlive it.
  Mirror(store::Engine& engine, std::string prefix, std::chrono::milliseconds nap, uint64_t seed);
  ~Mirror();
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  /// Follows up to this revision and ends. What is wrong with what it saw: disorder, or a committed
  /// write that it was neither told of nor told to list anew for; or it does not get there in time.
  std::string Finish(const linear::History& history, store::Revision upto);

  // After Finish.
  const State& Shown() const { return state_; }
  size_t Lists() const { return gaps_.size(); }
  size_t Events() const { return seen_.size(); }

 private:
  void Run();
  /// False when that failed.
  bool List();
  /// One watch, until it fails or all has been seen.
  void Follow();
  void Take(const store::Event& event);
  void Nap();
  bool Done() const;

  store::Engine& engine_;
  const std::string prefix_;
  const std::chrono::milliseconds nap_;

  // Of the thread; when that is over, of the owner.
  base::SeededRandom random_;
  State state_;
  store::Revision at_;
  bool listed_ = false;
  std::set<store::Revision> seen_;
  std::vector<std::pair<store::Revision, store::Revision>> gaps_;  // After, up to: listed.
  std::string faults_;

  std::atomic<int64_t> target_ = 0;  // 0: goes on.
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace berth::chaos
