// A watcher that works like Berth's state layer: it lists a prefix, follows its events, and lists
// again when the engine reports that history has been deleted. It must never miss an event without
// such a report.
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
#include "linear/linear_history.h"
#include "store/engine.h"

namespace berth::chaos {

class Mirror {
 public:
  /// Sleeps for up to `nap` between polls. `engine` must outlive the mirror.
  Mirror(store::Engine& engine, std::string prefix, std::chrono::milliseconds nap, uint64_t seed);
  ~Mirror();
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  /// Follows up to this revision and ends. Returns what was wrong, or an empty text: events out of
  /// order, a committed write for which it got neither an event nor the demand to list again, or a
  /// revision that it does not reach in time.
  std::string Finish(const linear::History& history, store::Revision upto);

  // These may be called after Finish.
  const State& Shown() const { return state_; }
  size_t Lists() const { return gaps_.size(); }
  size_t Events() const { return seen_.size(); }

 private:
  void Run();
  /// Lists the prefix. Returns false if that failed.
  bool List();
  /// Follows one watch, until it fails or everything has been seen.
  void Follow();
  void Take(const store::Event& event);
  void Nap();
  bool Done() const;

  store::Engine& engine_;
  const std::string prefix_;
  const std::chrono::milliseconds nap_;

  // These belong to the thread, and to the owner after the thread has ended.
  base::SeededRandom random_;
  State state_;
  store::Revision at_;
  bool listed_ = false;
  std::set<store::Revision> seen_;
  /// Gaps that a list covered: after the first revision, up to the second.
  std::vector<std::pair<store::Revision, store::Revision>> gaps_;
  std::string faults_;

  std::atomic<int64_t> target_ = 0;  // 0 means that it continues.
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace berth::chaos
