// Runs the writes that can go on, on the right thread. Internal to commit.
//
// Threads: every function may be called from any thread, inside the gate. Nothing runs under a
// lock. The options must outlive the runner.
#pragma once

#include <functional>
#include <utility>

#include "base/mutex.h"
#include "commit/gate.h"
#include "commit/op.h"
#include "commit/sequencer.h"

namespace berth::commit {

class Runner {
 public:
  /// Runs one write until it is answered or waits for something. Appends to `ready` the writes that
  /// can go on because of that.
  using RunWrite = std::function<void(const OpPtr& op, Ops& ready)>;

  Runner(const SequencerOptions& options, GatePtr gate, RunWrite run_write)
      : options_(options), gate_(std::move(gate)), run_write_(std::move(run_write)) {}

  /// Runs the writes on this thread, and those that can go on because of them.
  void Drive(Ops ready);
  /// Does the same where transforms may run.
  void Dispatch(Ops ready);
  /// Runs a write that waited for others, where transforms may run. Resumed writes run one after
  /// the other, in the order of these calls, and never inside one another.
  void Resume(const OpPtr& op) EXCLUDES(mutex_);

  /// Runs `call` inside the gate where transforms may run: through SequencerOptions::run, or on
  /// this thread if that is empty.
  template <typename Call>
  void Run(Call call) {
    if (!options_.run) return call();
    options_.run(Gated(gate_, std::move(call)));
  }

 private:
  void DriveResumed() EXCLUDES(mutex_);

  const SequencerOptions& options_;
  const GatePtr gate_;
  const RunWrite run_write_;

  base::Mutex mutex_;
  Ops resumed_ GUARDED_BY(mutex_);
  bool resuming_ GUARDED_BY(mutex_) = false;  // A thread works on `resumed_`.
};

}  // namespace berth::commit
