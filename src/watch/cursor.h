// A cursor is one watch: a position in the sequence of a scope's events. It pulls events; nothing
// is queued for it. It reads events that have left the ring from the store's history, until it
// reaches the ring again. If history no longer has them either, the cursor is expired for good
// (410) and its client has to list again.
//
//   Cursor cursor(hub, scope, after, waker);  // All cursors of the scope may share the waker.
//   base::Result<Pull> pull = cursor.Next(100);
//
// A cursor returns every event of the scope after `after` exactly once, in order of revisions. It
// knows nothing of selectors. The server applies them, and an Event carries the state before and
// after for that.
//
// Threads: a cursor is used by one thread at a time. Next does not wait for events, but it may wait
// for the disk or the network while it reads the past.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "state/past.h"
#include "watch/hub.h"

namespace berth::watch {

struct Reached {
  /// True if there are no more events now. The waker will be called for the next one. If false, the
  /// caller should read again.
  bool caught_up = false;
  /// Every event of the scope up to this revision has been returned, so a bookmark may carry it.
  /// It is lower than `after` while `after` lies in the future.
  int64_t progress = 0;
};

struct Pull : Reached {
  std::vector<EventPtr> events = {};
};

struct Look;
struct WatchedScope;

class Cursor {
 public:
  /// `after` may lie in the future. Events begin after it in any case. `hub` must outlive the
  /// cursor.
  Cursor(Hub& hub, Scope scope, int64_t after, Waker waker);
  /// Makes a cursor that shares its waker with no other cursor.
  Cursor(Hub& hub, Scope scope, int64_t after, std::function<void()> notify)
      : Cursor(hub, std::move(scope), after,
               std::make_shared<const std::function<void()>>(std::move(notify))) {}
  ~Cursor();
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  /// Returns up to `max` events. After kExpired the caller has to start over. Other errors come
  /// from the store and may be temporary; the next call continues at the same position.
  base::Result<Pull> Next(size_t max);

  using Take = absl::FunctionRef<void(const EventPtr&)>;
  /// Passes the events to `take` instead of returning them, otherwise like Next. If it returns an
  /// error, it has passed no events.
  base::Result<Reached> Read(size_t max, Take take);

  /// Returns the revision up to which every event of the scope has been returned.
  int64_t Position() const { return position_; }

 private:
  /// The progress of one Read.
  struct Done {
    Take take;
    size_t max = 0;
    size_t taken = 0;
    size_t looked_at = 0;
    bool caught_up = false;
  };

  void TakeFrom(const Look& look, Done& done);
  base::Result<void> ReadPast(int64_t until, Done& done);

  Hub& hub_;
  Ring& ring_;
  const Waker waker_;
  WatchedScope* const watched_;
  const int64_t start_;
  int64_t position_;
  std::optional<uint64_t> next_;  // Number in the ring of the next event to look at, if known.
  std::unique_ptr<state::PastChanges> past_;  // Set while the cursor reads history.
  int64_t past_until_ = 0;                    // The revision up to which it reads history.
  std::optional<base::Error> expired_;
};

}  // namespace berth::watch
