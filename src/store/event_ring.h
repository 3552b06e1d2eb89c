// The recent events of an engine, and the watches that follow it, which are cursors into the ring.
// There are only a few of them: the many watches of clients are kept elsewhere (watch/hub.h). The
// ring has a byte budget and drops its oldest events. A cursor that needs dropped events reads the
// engine's history until it has caught up with the ring.
//
// Threads: all functions may be called from any thread. Append is called by one thread at a time,
// in order of revisions. The ring must outlive its cursors, and the History must outlive the ring.
//
// Wakes: an Append of events, a Break and a Fail wake every cursor, on the calling thread, with no
// lock of the ring held. A cursor's destructor waits for a wake of the cursor that is under way on
// another thread. So a cursor must not be destroyed inside its wake, nor while the caller holds a
// lock that the wake takes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "store/engine.h"
#include "store/types.h"

namespace berth::store {

/// The past events that an engine keeps.
class History {
 public:
  virtual ~History() = default;

  /// See Engine::ReadHistory.
  virtual base::Result<WatchBatch> ReadHistory(const HistoryRequest& request) = 0;
};

class EventRing {
 public:
  /// Makes a ring that holds every event after `floor`. None of them may have happened yet. If
  /// `history` is null, a cursor that falls out of the ring is expired.
  EventRing(Revision floor, size_t budget_bytes, History* history);
  ~EventRing();
  EventRing(const EventRing&) = delete;
  EventRing& operator=(const EventRing&) = delete;

  /// Adds events in order of revisions and moves the head to `head`, the progress of cursors that
  /// have read everything. Wakes the cursors if there are events. With `wake_all` it wakes them
  /// even without events, so that they see the progress. The newest event stays, whatever its size.
  void Append(std::vector<Event> events, Revision head, bool wake_all = false);
  /// Does the same with events that are shared already.
  void AppendShared(std::vector<EventPtr> events, Revision head, bool wake_all = false);

  /// Drops the oldest events until at most `bytes` are left. Cursors that still need the dropped
  /// events read them from history.
  void Shrink(size_t bytes);

  /// Makes new cursors that start before `compacted` expired. Running ones continue as long as the
  /// ring or history has the events they need.
  void SetCompacted(Revision compacted);

  /// Makes every cursor expired, because events after the head may have been missed. The ring
  /// continues from `floor`.
  void Break(Revision floor);

  /// Makes every cursor return this error. For an engine that is shutting down or beyond repair.
  void Fail(base::Error error);

  /// See Engine::Follow.
  std::unique_ptr<Watch> Follow(Revision after, std::function<void()> wake);

  Revision Head() const;
  /// Returns the revision after which the ring holds every event.
  Revision Floor() const;

 private:
  class Cursor;
  class State;

  const std::unique_ptr<State> state_;
};

}  // namespace berth::store
