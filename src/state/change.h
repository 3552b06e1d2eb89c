// Changes of objects, and the interface through which the follower reports them.
#pragma once

#include <cstdint>
#include <vector>

#include "state/object.h"
#include "state/snapshot.h"

namespace berth::state {

struct Change {
  int64_t revision = 0;
  uint16_t resource = 0;
  ObjectPtr object = {};    // Null if the object was deleted.
  ObjectPtr previous = {};  // Null if the object was created.

  /// Returns the new state, or the last state of a deleted object.
  const ObjectPtr& Last() const { return object ? object : previous; }
};

/// Receives all changes, in order of revisions. The follower calls it on its own thread, after it
/// has published the snapshot that shows the changes and before it resumes the callers that wait
/// for their revision. A call must be quick and must not wait for the follower.
class Listener {
 public:
  virtual ~Listener() = default;

  /// Reports the next changes. Nothing else happened up to `revision`. `changes` may be empty.
  virtual void OnBatch(const std::vector<Change>& changes, int64_t revision) = 0;

  /// Reports that the whole store was read at `revision`. This happens at the start, and when
  /// events may have been missed. `changes` lead from the last snapshot to the new one, in order of
  /// keys. Their revisions are not those of events, because only the store's history has these.
  virtual void OnReset(const std::vector<Change>& changes, int64_t revision) = 0;
};

}  // namespace berth::state
