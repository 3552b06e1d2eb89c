// What a reply of the store, or a snapshot after a lost reply, means for an attempt. Pure
// functions, safe from any thread. Internal to commit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "commit/attempt.h"
#include "state/follower.h"
#include "state/resource.h"
#include "state/snapshot.h"
#include "store/types.h"

namespace berth::commit {

/// Returns the highest revision of a committed transaction.
int64_t LastRevision(const store::TxnReply& reply);

/// Says whether a conflict is at a key that the write itself depends on. A conflict at a fence is
/// not: fences may change all the time while no other write changes the object.
bool IsOwnConflict(const Attempt& attempt, const store::TxnReply& reply);

/// Returns the error if a conflict is at a key whose stored value cannot be decoded: the snapshot
/// does not have it, so every further attempt would be in conflict too.
std::optional<base::Error> UndecodableConflict(const store::TxnReply& reply,
                                               const state::Follower& follower);

enum class Resolution : uint8_t { kCommitted, kNotCommitted, kUnknown };
/// Says whether a transaction with a lost reply was committed. `snapshot` must show everything that
/// was in the store after the reply was lost, and the follower must have forgotten the attempt's
/// expectation of the object. The answer is kUnknown if the follower had to read the store again,
/// and so may have missed the write's event, and the object is not as it was before.
Resolution Resolve(const std::string& key, const Attempt& attempt, const state::Snapshot& snapshot);

/// Returns the result of a write that changes nothing, or of a dry-run.
Written UncommittedResult(const std::string& key, const Attempt& attempt,
                          const state::Resources& resources);
/// Returns the result of a committed write. The snapshot must show the write, or a later one of the
/// object.
Written CommittedResult(const std::string& key, const Attempt& attempt,
                        const state::Snapshot& snapshot, const state::Resources& resources);

base::Error DeadlineError();   // The caller's deadline has passed.
base::Error ConflictsError();  // There were too many conflicts.
base::Error UnknownError();    // The outcome cannot be known.
base::Error UndecodableError(std::string_view key);

}  // namespace berth::commit
