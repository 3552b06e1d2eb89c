// What happened to an object, and who wants to know.
#pragma once

#include <cstdint>
#include <vector>

#include "state/object.h"
#include "state/snapshot.h"

namespace berth::state {

struct Change {
  int64_t revision = 0;
  uint16_t resource = 0;
  ObjectPtr object = {};    // Null: deleted.
  ObjectPtr previous = {};  // Null: created.

  /// The new state, or the last one of what is deleted.
  const ObjectPtr& Last() const { return object ? object : previous; }
};

/// Told by the follower, on its thread, in order of revisions, after the snapshot that shows the
/// changes has been published and before anybody who waits for their revision goes on. Must be
/// quick and must not wait for the follower.
class Listener {
 public:
  virtual ~Listener() = default;

  /// The next changes. Nothing else happened up to `revision`; `changes` may be empty.
  virtual void OnBatch(const std::vector<Change>& changes, int64_t revision) = 0;

  /// The picture was read anew at `revision`: at the start, and when events may have been missed.
  /// `changes` lead from the last picture to this one, in order of keys; their revisions are not
  /// those of events (what happened in between is only in the store's history).
  virtual void OnReset(const std::vector<Change>& changes, int64_t revision) = 0;
};

}  // namespace berth::state
