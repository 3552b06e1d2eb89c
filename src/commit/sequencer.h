// The write path, the same for all kinds. One write per object is under way. Later writes of the
// object wait in order and are decided on its result. A decision is made on the current snapshot
// and committed in one transaction that compares the object and every guard. If one of them has
// changed, the transform runs again on the newest snapshot.
//
// - A refusal, and "nothing to do", holds in committed state. Before it is answered, the sequencer
//   waits for writes in the store that could change a guard, and asks a store that others write to.
// - A transaction whose outcome is unknown is resolved by following the store past it. Until then
//   no other write of its object starts.
// - A write is answered when it is durable, applied and published, and watchers have been notified.
// - Writes with shared puts (write.h) are merged: those that wait for the same key go into one
//   transaction, in their order, as far as it holds them and none writes what another compares or
//   writes. One write's failure does not affect another: after a failed compare the writes that
//   made it are decided again and sent alone, after a definite error all are sent one by one.
// - A dry-run is decided exactly as the write would be, and nothing of it is kept.
// - A write goes on when its caller no longer waits for it. One that has not begun is dropped.
//
// Threads: every function may be called from any thread. The sequencer has no thread of its own.
// Transforms and guards run on the caller's thread or through `run` (if that is empty, on a thread
// of the follower or the engine), for different objects at the same time, never under a lock.
// `done` is called exactly once, never under a lock, on any of these threads. It must be quick and
// must not destroy the sequencer. Close and the destructor answer every write with
// kServiceUnavailable. Writes that are in the store by then are committed or not.
//
// Errors: kTooManyRequests when too many writes wait; kTimeout at the deadline, or when the outcome
// of a write cannot be known; kServerTimeout after too many conflicts; otherwise the error of the
// transform, the guard or the store.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/timers.h"
#include "commit/write.h"
#include "obs/write_metrics.h"
#include "state/follower.h"
#include "state/resource.h"
#include "store/engine.h"

namespace berth::commit {

/// What the sequencer works with. All parts must outlive it.
struct SequencerParts {
  store::Engine& engine;              // Where writes are committed.
  state::Follower& follower;          // Follows that engine.
  const state::Resources& resources;  // The same as the follower's.
  const base::Clock& clock;
  base::Timers& timers;  // For deadlines and retries.
};

struct SequencerOptions {
  size_t max_waiting = 16'384;           // Writes that are under way or wait.
  size_t max_waiting_per_key = 512;      // The same for one object.
  int max_conflicts = 32;                // After more, the client is asked to try again.
  int max_shared_conflicts = 1000;       // The same at keys that many writes depend on.
  size_t max_merged = 256;               // Writes in one transaction because of shared puts.
  std::chrono::milliseconds retry{100};  // Between attempts to resolve an unknown outcome.
  /// Where to run transforms that cannot run on the thread of their Submit. If empty, they run on
  /// the thread that makes them possible.
  std::function<void(std::function<void()>)> run = {};
  obs::WriteMetrics* metrics = nullptr;  // Must outlive the sequencer.
};

class Sequencer {
 public:
  Sequencer(const SequencerParts& parts, SequencerOptions options);
  ~Sequencer();
  Sequencer(const Sequencer&) = delete;
  Sequencer& operator=(const Sequencer&) = delete;

  void Submit(Write write, Done done);

  /// Answers every write and calls nothing more, for owners whose callees end before the sequencer.
  void Close();

  struct Stats {
    size_t waiting = 0;      // Writes under way or waiting now.
    uint64_t committed = 0;  // Writes since the start.
    uint64_t conflicts = 0;
    uint64_t unknown = 0;  // Transactions whose outcome had to be resolved.
  };
  Stats GetStats() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace berth::commit
