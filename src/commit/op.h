// A write under way inside the sequencer. Internal to commit.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "commit/attempt.h"
#include "commit/write.h"

namespace berth::commit {

/// A submitted write. One thread at a time works on it. Only `done` may be used by several threads:
/// the mutex of OpenWrites guards it.
struct Op {
  Write write = {};
  Attempt attempt = {};

  base::SteadyTime submitted_at = {};  // Set only if metrics are wanted.
  base::SteadyTime replied_at = {};    // Likewise. Unset if the store's reply was lost.

  int conflicts = 0;         // Conflicts at keys that this write depends on.
  int shared_conflicts = 0;  // Conflicts at keys that many writes depend on (fences, shared puts).
  bool send_alone = false;   // The write is no longer merged with others.
  uint64_t merge_order = 0;  // Position in the MergeQueue. 0 until it first enters the queue.
  bool verified = false;     // The snapshot shows every write acknowledged before this one came.

  Done done = {};  // Empty once the write is answered.
};

using OpPtr = std::shared_ptr<Op>;
using Ops = std::vector<OpPtr>;

}  // namespace berth::commit
