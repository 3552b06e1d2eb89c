// What must hold of a store after chaos, beyond what linear/ checks of a recording: that all
// replicas, a new one, and etcd itself show the same past and present.
//
// Threads: plain functions of their arguments.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "chaos/arena.h"
#include "linear/history.h"
#include "linear/watch_check.h"
#include "store/types.h"

namespace berth::chaos {

using State = std::map<std::string, store::Entry>;

/// Values without the notes an engine keeps in them.
State ToState(const std::vector<store::Entry>& entries);

/// The state that the events of a watch lead to, from an empty one.
State Replay(const linear::WatchRecord& record);

/// What etcd itself holds under the prefix, read past the engine.
base::Result<State> ReadEtcd(Arena& arena, const std::string& prefix);

/// Every event after `after` up to now, as another replica reads them from history.
base::Result<linear::WatchRecord> ReadHistory(Arena& arena, const std::string& prefix,
                                              store::Revision after);

/// What is wrong, if anything: `name` shows something else than it should.
std::string CompareStates(const std::string& name, const State& shown, const State& expected);

/// Whether one watcher saw what another did, as far as both got. Unlike linear::CheckWatch it also
/// tells of events that no client knows about (transactions whose outcome is unknown).
std::string CompareWatches(const linear::WatchRecord& one, const linear::WatchRecord& other);

/// What became of the transactions that were left in doubt.
struct Doubts {
  size_t committed = 0;
  size_t not_committed = 0;
  size_t untold = 0;  // Those that only delete: nothing tells whose a delete was.
};
Doubts CountDoubts(const linear::History& history, const linear::WatchRecord& all);

}  // namespace berth::chaos
