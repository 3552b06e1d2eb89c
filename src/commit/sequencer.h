// The way of a write, the same for all kinds. One write per object is under way; those behind it
// wait in order and are decided on its result. A decision is made on the current snapshot and
// committed in one transaction that compares the object and every guard; if one of them has
// changed, the transform is run again on what there is now.
//
// - A refusal (and "nothing to do") holds in committed state: guards that a write in the store
//   could change are waited for, and where others write too the store is asked, before it is
//   answered.
// - A transaction whose outcome is unknown is found out by following the store past it. Until then
//   its key stays taken.
// - A write is answered when it is durable, applied, published, and watchers have been told of it.
// - Writes with shared puts (write.h) are merged: those that wait for the same key go into one
//   transaction, in their order, as far as it holds them and none writes what another compares or
//   writes. What becomes of one is not felt by another: after a failed compare those decide again
//   and go alone to whom it belongs, after a definite error all go one by one.
// - Nothing of a dry-run is kept; it is decided exactly as the write would be.
// - A write that its caller no longer waits for goes on; one that has not begun is dropped.
//
// Threads: every function may be called from any thread; there is no thread of its own. Transforms
// and guards run on the caller's thread or through `run` (empty: on a thread of the follower or the
// engine), for different objects at the same time, never under a lock. `done` is called exactly
// once, never under a lock, on any of these; it must be quick and must not destroy the sequencer.
// Close and the destructor answer everything with kServiceUnavailable; writes in the store still
// happen, or not. The follower must outlive the sequencer. Errors: kTooManyRequests when too much
// waits; kTimeout at the deadline, or when it cannot be found out what became of a write;
// kServerTimeout after too many conflicts; else what transform, guard or store say.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "commit/write.h"
#include "obs/write_metrics.h"
#include "state/follower.h"

namespace berth::commit {

struct SequencerOptions {
  size_t max_waiting = 16'384;           // Writes that are under way or wait.
  size_t max_waiting_per_key = 512;      // Of them for one object.
  int max_conflicts = 32;                // Then the client shall try again.
  int max_shared_conflicts = 1000;       // Likewise, at what is not only the write's own.
  size_t max_merged = 256;               // Writes that go together because of shared puts.
  std::chrono::milliseconds retry{100};  // Between attempts to find out an unknown outcome.
  /// Where to run transforms that cannot run on the thread of their Submit; empty: where they are.
  std::function<void(std::function<void()>)> run = {};
  obs::WriteMetrics* metrics = nullptr;  // Must outlive the sequencer.
};

class Sequencer {
 public:
  Sequencer(state::Follower& follower, SequencerOptions options);
  ~Sequencer();
  Sequencer(const Sequencer&) = delete;
  Sequencer& operator=(const Sequencer&) = delete;

  void Submit(Write write, Done done);

  /// For who must not be called any more while the sequencer is still there.
  void Close();

  /// On whose picture it decides.
  state::Follower& GetFollower() const;

  struct Stats {
    size_t waiting = 0;      // Under way or waiting now.
    uint64_t committed = 0;  // Since the start.
    uint64_t conflicts = 0;
    uint64_t unknown = 0;
  };
  Stats GetStats() const;

 private:
  class Impl;
  const std::shared_ptr<Impl> impl_;
};

}  // namespace berth::commit
