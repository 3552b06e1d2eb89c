// What must hold for a store after chaos, beyond what linear/ checks of a recording: all replicas,
// a new one, and etcd itself show the same past and present.
//
// Threads: plain functions of their arguments.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "chaos/arena.h"
#include "linear/linear_history.h"
#include "linear/watch_check.h"
#include "store/types.h"

namespace berth::chaos {

using State = std::map<std::string, store::Entry>;

/// Returns the state without the notes that an engine keeps in values.
State ToState(const std::vector<store::Entry>& entries);

/// Returns the state that the events of a watch lead to, starting from an empty one.
State Replay(const linear::WatchRecord& record);

/// Reads what etcd itself has under the prefix, without the engine.
base::Result<State> ReadEtcd(Arena& arena, const std::string& prefix);

/// Reads every event after `after` up to now, as another replica reads them from history.
base::Result<linear::WatchRecord> ReadHistory(Arena& arena, const std::string& prefix,
                                              store::Revision after);

/// Returns how the state that `name` shows differs from the expected one, or an empty text.
std::string CompareStates(const std::string& name, const State& shown, const State& expected);

/// Returns how the events of two watches differ, as far as both got, or an empty text. Unlike
/// linear::CheckWatch it also finds events that no client knows about (transactions whose outcome
/// is unknown).
std::string CompareWatches(const linear::WatchRecord& one, const linear::WatchRecord& other);

/// The outcomes of the transactions that were left in doubt.
struct Doubts {
  size_t committed = 0;
  size_t not_committed = 0;
  /// Transactions that only delete: an event does not show whose delete it was.
  size_t untold = 0;
};
Doubts CountDoubts(const linear::History& history, const linear::WatchRecord& all);

}  // namespace berth::chaos
