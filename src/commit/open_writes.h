// All writes that are not answered: their order (Lanes) and their deadlines. Answers each of them
// once, also when its deadline passes. Internal to commit.
//
// Threads: every function may be called from any thread. Callbacks run without a lock. Everything
// but Enter, Size, Close and AnswerAll is called inside the gate. Clock and timers must outlive it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/timers.h"
#include "commit/deadlines.h"
#include "commit/gate.h"
#include "commit/lanes.h"
#include "commit/op.h"
#include "commit/sequencer.h"

namespace berth::commit {

class OpenWrites {
 public:
  OpenWrites(const base::Clock& clock, base::Timers& timers, const SequencerOptions& options,
             GatePtr gate);

  /// Takes a write in, and sets `first` if it may start at once. Returns why it is not taken.
  std::optional<base::Error> Enter(const OpPtr& op, bool& first) EXCLUDES(mutex_);

  // See Lanes.
  void EnterStore(const Op& op) EXCLUDES(mutex_);
  void EnterStore(const Ops& ops) EXCLUDES(mutex_);
  void LeaveStore(const Op& op, Ops& ready) EXCLUDES(mutex_);
  bool WaitForStore(const std::string& key, const OpPtr& op) EXCLUDES(mutex_);

  /// Says whether the write has its answer, because its deadline has passed.
  bool IsAnswered(const Op& op) const EXCLUDES(mutex_);
  /// Answers the write, unless it has its answer, and removes it. Appends to `ready` the writes
  /// that can go on now.
  void Answer(const OpPtr& op, base::Result<Written> result, Ops& ready) EXCLUDES(mutex_);

  /// Returns the number of writes that are under way or wait.
  size_t Size() const EXCLUDES(mutex_);

  /// Takes no more writes.
  void Close() EXCLUDES(mutex_);
  /// Answers all writes with kServiceUnavailable. Called when the gate is closed.
  void AnswerAll() EXCLUDES(mutex_);

 private:
  void SetTimer(std::optional<base::SteadyTime> at) EXCLUDES(mutex_);
  void AnswerLate() EXCLUDES(mutex_);

  const base::Clock& clock_;
  base::Timers& timers_;
  const GatePtr gate_;

  mutable base::Mutex mutex_;
  bool closed_ GUARDED_BY(mutex_) = false;
  Lanes lanes_ GUARDED_BY(mutex_);
  Deadlines deadlines_ GUARDED_BY(mutex_);
};

}  // namespace berth::commit
