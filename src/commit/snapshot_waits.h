// Waits for snapshots that must not fail: a wait that the follower refuses, because too many wait
// there, is tried again after a while. Internal to commit.
//
// Threads: every function may be called from any thread, inside the gate. `call` runs exactly once,
// inside the gate, on this thread or on the follower's; not at all if the gate is closed first.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "commit/gate.h"
#include "commit/sequencer.h"
#include "state/follower.h"
#include "state/snapshot.h"

namespace berth::commit {

class SnapshotWaits {
 public:
  /// `parts` must outlive it. `retry` is the time between two tries.
  SnapshotWaits(const SequencerParts& parts, GatePtr gate, std::chrono::milliseconds retry)
      : parts_(parts), gate_(std::move(gate)), retry_(retry) {}

  /// Runs `call` with a snapshot that shows `revision`, after watchers have been notified of it.
  template <typename Call>
  void AwaitRevision(int64_t revision, Call call) {
    auto on_snapshot = [this, revision, call = std::move(call)](
                           const base::Result<state::SnapshotPtr>& snapshot) mutable {
      if (snapshot) return call(**snapshot);
      RunLater([this, revision, call = std::move(call)]() mutable {
        AwaitRevision(revision, std::move(call));
      });
    };
    parts_.follower.AwaitRevision(revision, base::SteadyTime::max(),
                                  Gated(gate_, std::move(on_snapshot)));
  }

  /// Runs `call` with a snapshot that shows everything that is in the store now.
  template <typename Call>
  void CatchUp(Call call) {
    auto on_snapshot =
        [this, call = std::move(call)](const base::Result<state::SnapshotPtr>& snapshot) mutable {
          if (snapshot) return call(**snapshot);
          RunLater([this, call = std::move(call)]() mutable { CatchUp(std::move(call)); });
        };
    parts_.follower.CatchUp(base::SteadyTime::max(), Gated(gate_, std::move(on_snapshot)));
  }

 private:
  template <typename Call>
  void RunLater(Call call) {
    parts_.timers.RunAt(parts_.clock.Steady() + retry_, Gated(gate_, std::move(call)));
  }

  const SequencerParts& parts_;
  const GatePtr gate_;
  const std::chrono::milliseconds retry_;
};

}  // namespace berth::commit
