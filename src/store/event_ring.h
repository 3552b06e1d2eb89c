// The recent events of an engine, kept once and shared by all its watches, and the watches
// themselves, which are cursors into it. The ring has a byte budget; the oldest events leave it. A
// cursor that needs what has left reads the engine's history until it has caught up with the ring.
//
// Threads: all functions may be called from any thread. Append is called by one thread at a time,
// in order of revisions. The ring outlives its cursors and the History outlives the ring.
//
// Wakes: a cursor is armed by a Poll that finds nothing; the first Append (or Break, or Fail) that
// concerns it wakes it, on the thread that called that, with no lock of the ring held. A cursor's
// destructor waits for a wake of it that is under way on another thread; so a cursor must not be
// destroyed inside its wake, nor while holding a lock that its wake takes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "store/engine.h"
#include "store/types.h"

namespace berth::store {

/// The past, as an engine keeps it.
class History {
 public:
  virtual ~History() = default;

  /// Up to `max` events of the prefix after `after` and not beyond `upto`, in order; `progress`
  /// says how far it has looked (`upto` at most; beyond `after` unless there is nothing left up to
  /// `upto`). kExpired when events after `after` are compacted. May wait for I/O.
  virtual base::Result<WatchBatch> Read(const std::string& prefix, Revision after, Revision upto,
                                        size_t max) = 0;
};

class EventRing {
 public:
  /// The ring knows every event after `floor`, none of which has happened yet. `history` may be
  /// null: then a cursor that falls out of the ring is expired.
  EventRing(Revision floor, size_t budget_bytes, History* history);
  ~EventRing();
  EventRing(const EventRing&) = delete;
  EventRing& operator=(const EventRing&) = delete;

  /// Adds events in order of revisions and moves the head to `head`, the progress of cursors that
  /// have read everything; wakes the armed cursors whose prefix is met (all of them with
  /// `wake_all`, so that they see their progress). The newest event stays whatever its size.
  void Append(std::vector<Event> events, Revision head, bool wake_all = false);
  /// The same for events that are shared already.
  void AppendShared(std::vector<EventPtr> events, Revision head, bool wake_all = false);

  /// Gives up the oldest events until no more than so many bytes are left; who still needs them
  /// finds them in history.
  void Shrink(size_t bytes);

  /// New watches from before `compacted` are expired. Running ones go on as long as the ring or
  /// history has what they need.
  void SetCompacted(Revision compacted);

  /// Every cursor is told to start over: events after the head may have been missed. The ring goes
  /// on from `floor`.
  void Break(Revision floor);

  /// Every cursor gets this error; for an engine that is shutting down or beyond repair.
  void Fail(base::Error error);

  /// A cursor over the events of the prefix after `request.after`. `wake` as in Engine::StartWatch.
  std::unique_ptr<Watch> Start(WatchRequest request, std::function<void()> wake);

  Revision Head() const;
  /// The ring holds every event after this one.
  Revision Floor() const;

 private:
  class Cursor;
  class State;

  const std::unique_ptr<State> state_;
};

}  // namespace berth::store
