// One attempt at a write: the decision, made on one snapshot, and the transaction that commits it.
// Internal to commit.
//
// The functions keep no state and call back nothing but the write's own transform and guards. Safe
// from any thread, each with an attempt of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commit/write.h"
#include "state/expectation.h"
#include "state/follower.h"
#include "state/snapshot.h"
#include "store/types.h"

namespace berth::commit {

struct Attempt {
  /// A guard's key, which the guard owns, and the object that the guard was shown.
  struct Guarded {
    const std::string* key = nullptr;
    state::ObjectPtr object = {};
  };

  // Filled in by Decide.
  state::ObjectPtr current = {};      // Null if the object does not exist.
  std::vector<Guarded> guarded = {};  // Every guard that was asked, in order.
  bool refused_by_guard = false;      // By the last one of `guarded`.
  Decision decision = {};

  // Filled in by MakeTxn.
  std::vector<state::ExpectationPtr> expected = {};  // The first is that of the object itself.
  size_t object_put = 0;   // Index of the object's put in the transaction, if it is put.
  size_t first_fence = 0;  // Index of the first compare that comes from Decision::compares.

  int64_t revision = 0;  // Revision of the object's event, once committed.
};

/// Decides the write on the snapshot and fills in `attempt`. Returns nullopt if the write may go
/// on, otherwise why not. `follower` says which keys hold a value that cannot be decoded.
std::optional<Refusal> Decide(const Write& write, const state::Snapshot& snapshot,
                              const state::Follower& follower, Attempt& attempt);

/// Returns the transaction that commits the decision on the object `key`, and fills in what the
/// follower shall expect of it. Moves the stored values out of the decision.
store::Txn MakeTxn(const std::string& key, Attempt& attempt);

/// Does the same and has the follower expect it. The caller makes it forget that (Finisher).
store::Txn MakeExpectedTxn(const std::string& key, Attempt& attempt, state::Follower& follower);

}  // namespace berth::commit
