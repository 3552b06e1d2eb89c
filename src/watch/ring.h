// The recent events of one resource in segments that are only ever added to, and the cursors that
// wait for more. Internal to watch/hub and watch/cursor.
//
// A cursor that found nothing is armed, in the group of its scope. The first batch with an event of
// that scope takes the group's cursors out, to be woken, and notes where that batch begins: all
// that came before it is none of theirs, so they do not look at it.
//
// Threads: Append, DropOldest and Reset by one thread at a time, the rest from any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
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

/// What the ring knows of a cursor.
struct Subscription {
  Subscription(Scope wanted, std::function<void()> call)
      : scope(std::move(wanted)), notify(std::move(call)) {}

  static constexpr size_t kNotArmed = SIZE_MAX;

  const Scope scope;
  const std::function<void()> notify;

  // Guarded by the ring's mutex.
  size_t armed = kNotArmed;            // Its place in its group.
  std::optional<int64_t> passed = {};  // Woken: no event of the scope up to here is unseen, and
  std::optional<uint64_t> next = {};   // this is the number of the first to look at, if known.
};

using SubscriptionPtr = std::shared_ptr<Subscription>;

/// Events of consecutive numbers. Room for all of them is taken at once, so that those that are
/// there stay where they are while others are added.
struct Segment {
  uint64_t first = 0;
  size_t bytes = 0;
  std::vector<EventPtr> events = {};
};

using SegmentPtr = std::shared_ptr<Segment>;

/// What a look at the ring found.
struct Look {
  enum class Kind : uint8_t { kEvents, kNothing, kBehind };

  Kind kind = Kind::kNothing;
  // kEvents: these, without the lock.
  SegmentPtr segment = {};
  size_t begin = 0;
  size_t end = 0;
  int64_t floor = 0;  // kBehind: where the ring begins.
};

class Ring {
 public:
  explicit Ring(const HubOptions& options) : options_(options) {}

  /// Adds the cursors that are to be woken to `wakes`.
  void Append(std::vector<EventPtr> events, std::vector<SubscriptionPtr>& wakes);
  /// Empties the ring; it goes on behind `floor`. Armed cursors have seen everything up to `head`.
  void Reset(int64_t head, int64_t floor, std::vector<SubscriptionPtr>& wakes);
  /// The oldest segment, if that is not the only one.
  SegmentPtr DropOldest();

  void Join(const Subscription& subscription);
  void Leave(Subscription& subscription);

  /// `position` and `next` are the cursor's and are moved past what is known to be none of its
  /// events. kNothing leaves it armed: everything so far has been looked at.
  Look LookAt(const SubscriptionPtr& subscription, int64_t& position,
              std::optional<uint64_t>& next);

  int64_t Floor() const;
  size_t Bytes() const;
  size_t Events() const;
  size_t Cursors() const;

 private:
  struct Group {
    size_t cursors = 0;
    std::vector<SubscriptionPtr> armed = {};
  };

  void Add(EventPtr event) REQUIRES(mutex_);
  void Wake(std::string_view scope, int64_t passed, uint64_t next,
            std::vector<SubscriptionPtr>& wakes) REQUIRES(mutex_);
  void Arm(const SubscriptionPtr& subscription) REQUIRES(mutex_);
  void Disarm(Subscription& subscription) REQUIRES(mutex_);
  uint64_t NumberAfter(int64_t position) const REQUIRES(mutex_);

  const HubOptions& options_;

  mutable base::Mutex mutex_;
  std::deque<SegmentPtr> segments_ GUARDED_BY(mutex_);
  uint64_t end_ GUARDED_BY(mutex_) = 0;  // Number of the next event.
  int64_t floor_ GUARDED_BY(mutex_) = 0;
  size_t bytes_ GUARDED_BY(mutex_) = 0;
  size_t cursors_ GUARDED_BY(mutex_) = 0;
  state::TextMap<Group> groups_ GUARDED_BY(mutex_);  // By Scope::key.
};

}  // namespace berth::watch
