// One watch: a place in the sequence of a scope's events. It pulls; nothing is queued for it. What
// the ring no longer has it reads from the store's history, until it meets the ring again; when
// that is gone too, it is expired for good (410) and its client lists anew.
//
//   Cursor cursor(hub, scope, after, [signal] { signal->Raise(); });
//   base::Result<Pull> pull = cursor.Next(100);
//
// Every event of the scope after `after` comes exactly once, in order of revisions. Selectors are
// the server's: an Event carries the state before and after.
//
// Threads: used by one thread at a time. Next does not wait for events; it may wait for the disk or
// the network while it reads the past.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "state/past.h"
#include "watch/hub.h"

namespace berth::watch {

struct Pull {
  std::vector<EventPtr> events = {};
  /// There is nothing more now; `notify` will be called once when there is. While false: Next
  /// again.
  bool caught_up = false;
  /// Every event of the scope up to here has been handed out: what a bookmark says. Lower than
  /// `after` while that lies in the future.
  int64_t progress = 0;
};

struct Look;
struct Subscription;

class Cursor {
 public:
  /// `after` may lie in the future: then events begin after it. `hub` must outlive the cursor.
  Cursor(Hub& hub, Scope scope, int64_t after, std::function<void()> notify);
  ~Cursor();
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  /// Up to `max` events. kExpired: start over; other errors (of the store) may pass, the next call
  /// goes on where this one stood.
  base::Result<Pull> Next(size_t max);

  /// Every event of the scope up to here has been handed out.
  int64_t Position() const { return position_; }

 private:
  size_t TakeFrom(const Look& look, size_t max, Pull& pull);
  base::Result<void> ReadPast(size_t max, int64_t until, Pull& pull);

  Hub& hub_;
  Ring& ring_;
  const std::shared_ptr<Subscription> subscription_;
  const int64_t start_;
  int64_t position_;
  std::optional<uint64_t> next_;  // Number in the ring of the next event to look at, when known.
  std::unique_ptr<state::PastChanges> past_;  // While the ring is out of reach,
  int64_t past_until_ = 0;                    // and how far it is read.
  std::optional<base::Error> expired_;
};

}  // namespace berth::watch
