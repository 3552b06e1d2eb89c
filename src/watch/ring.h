// The recent events of one resource in segments that are only ever appended to, and the scopes that
// are watched. Internal to watch/hub and watch/cursor.
//
// A scope is kept once for all its cursors. It remembers the places of its newest events. A cursor
// that lags by no more than those moves from one place to the next and never looks at events of
// other scopes. Each batch with an event of the scope wakes the scope once, however many cursors
// watch it: a waker that cursors share is called once.
//
// Threads: Append, DropOldest and Reset are called by one thread at a time. The other functions may
// be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "state/text_map.h"
#include "watch/event.h"
#include "watch/hub.h"

namespace berth::watch {

/// Events with consecutive numbers. The vector is reserved at its full size, so that events do not
/// move while readers look at them and others are added.
struct Segment {
  uint64_t first = 0;
  size_t bytes = 0;
  std::vector<EventPtr> events = {};
};

using SegmentPtr = std::shared_ptr<Segment>;

/// A scope that is watched. All but `scope` is guarded by the ring's mutex.
struct WatchedScope {
  /// How many places of its newest events a scope remembers.
  static constexpr size_t kRecent = 16;

  struct Place {
    uint64_t number = 0;
    int64_t revision = 0;
  };
  struct Wake {
    Waker waker = {};
    size_t cursors = 0;
  };

  WatchedScope(Scope watched, uint64_t from)
      : scope(std::move(watched)), known_from(from), quiet_from(from) {}

  void Note(Place place);
  /// Returns the place of the scope's first event from this number on, or null if the scope has no
  /// such event. The number must not be lower than known_from.
  const Place* From(uint64_t number) const;

  const Scope scope;
  size_t cursors = 0;
  std::vector<Wake> wakes = {};    // Each waker once.
  std::vector<Place> recent = {};  // All events of the scope from the number known_from on.
  uint64_t known_from = 0;
  uint64_t quiet_from = 0;  // Before the last Reset, the scope had no events from this number on.
};

/// The result of a look at the ring.
struct Look {
  enum class Kind : uint8_t { kEvents, kNothing, kBehind };

  Kind kind = Kind::kNothing;
  // Set for kEvents. These events may be read without the lock.
  SegmentPtr segment = {};
  size_t begin = 0;
  size_t end = 0;
  /// If set, the scope has no other events before this number, which is that of the ring's next
  /// event.
  std::optional<uint64_t> all_until = {};
  int64_t floor = 0;  // Set for kBehind: the ring holds every event after this revision.
};

class Ring {
 public:
  explicit Ring(const HubOptions& options) : options_(options) {}

  /// Adds events. Appends the wakers to be called to `wakes`, those of each scope once.
  void Append(std::vector<EventPtr> events, std::vector<Waker>& wakes);
  /// Empties the ring, which continues after `floor`. It has held all events up to `head`.
  void Reset(int64_t head, int64_t floor, std::vector<Waker>& wakes);
  /// Removes the oldest segment and returns it. Returns null if the ring has fewer than two.
  SegmentPtr DropOldest();

  WatchedScope* Join(Scope scope, const Waker& waker);
  void Leave(WatchedScope* watched, const Waker& waker);

  /// Returns the next events for a cursor. `position` and `next` belong to the cursor and are moved
  /// past events that are known to be outside its scope. After kNothing the cursor has seen
  /// everything so far, and the next event of the scope calls the waker.
  Look LookAt(const WatchedScope& watched, int64_t& position, std::optional<uint64_t>& next);

  int64_t Floor() const;
  size_t Bytes() const;
  size_t Events() const;
  size_t Cursors() const;

 private:
  void Add(EventPtr event) REQUIRES(mutex_);
  void Tell(std::string_view scope, WatchedScope::Place place, uint64_t batch,
            std::vector<Waker>& wakes) REQUIRES(mutex_);
  uint64_t First() const REQUIRES(mutex_) {
    return segments_.empty() ? end_ : segments_.front()->first;
  }
  uint64_t NumberAfter(int64_t position) const REQUIRES(mutex_);

  const HubOptions& options_;

  mutable base::Mutex mutex_;
  std::deque<SegmentPtr> segments_ GUARDED_BY(mutex_);
  uint64_t end_ GUARDED_BY(mutex_) = 0;  // Number of the next event.
  int64_t floor_ GUARDED_BY(mutex_) = 0;
  int64_t reset_head_ GUARDED_BY(mutex_) = 0;  // The `head` of the last Reset.
  uint64_t reset_end_ GUARDED_BY(mutex_) = 0;  // Events before that Reset have lower numbers.
  size_t bytes_ GUARDED_BY(mutex_) = 0;
  size_t cursors_ GUARDED_BY(mutex_) = 0;
  /// Keyed by Scope::key.
  state::TextMap<std::unique_ptr<WatchedScope>> scopes_ GUARDED_BY(mutex_);
};

}  // namespace berth::watch
