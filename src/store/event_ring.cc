#include "store/event_ring.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "store/check.h"

namespace berth::store {
namespace {

/// The most events that one Poll returns, so that it does not hold the ring's lock for long.
constexpr size_t kMostAtOnce = 4096;

/// The bytes of an event beyond its strings: the struct, its place in the ring, the allocator's
/// overhead.
constexpr size_t kEventOverhead = sizeof(Event) + 64;

size_t BytesOf(const Event& event) {
  size_t bytes = kEventOverhead + event.key.size() + event.value.size();
  if (event.previous) bytes += event.previous->key.size() + event.previous->value.size();
  return bytes;
}

base::Error MissedError() {
  return base::Error{.reason = base::Reason::kExpired,
                     .message = "events may have been missed; start over from the present"};
}

/// The wake callback of a cursor. It outlives the cursor while a wake is under way. The cursor's
/// destructor waits for its mutex.
class Wake {
 public:
  explicit Wake(std::function<void()> call) : call_(std::move(call)) {}

  void Call() {
    base::MutexLock lock(mutex_);
    if (call_) call_();
  }

  void Silence() {
    std::function<void()> call;  // Destroyed without the lock.
    base::MutexLock lock(mutex_);
    call_.swap(call);
    lock.Unlock();
  }

 private:
  base::Mutex mutex_;
  std::function<void()> call_ GUARDED_BY(mutex_);
};

using Wakes = std::vector<std::shared_ptr<Wake>>;

void CallAll(const Wakes& wakes) {
  for (const auto& wake : wakes) wake->Call();
}

}  // namespace

/// The state that all cursors share.
class EventRing::State {
 public:
  State(Revision floor, size_t budget_bytes, History* history)
      : budget_(budget_bytes), history_(history), head_(floor), floor_(floor) {}
  ~State() { assert(cursors_.empty() && "a watch outlives its engine"); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

 private:
  friend class EventRing;
  friend class Cursor;

  void Add(std::vector<EventPtr> events) REQUIRES(mutex_);
  /// Removes and returns the oldest events that exceed the budget.
  std::vector<EventPtr> Evict(size_t budget) REQUIRES(mutex_);
  Wakes AllWakes() const REQUIRES(mutex_);

  /// Returns the number of the first event after `position`.
  uint64_t NumberAfter(Revision position) const REQUIRES(mutex_) {
    const auto after = std::upper_bound(
        events_.begin(), events_.end(), position,
        [](Revision revision, const EventPtr& event) { return revision < event->revision; });
    return first_ + static_cast<uint64_t>(after - events_.begin());
  }

  const size_t budget_;
  History* const history_;

  mutable base::Mutex mutex_;
  std::deque<EventPtr> events_ GUARDED_BY(mutex_);
  uint64_t first_ GUARDED_BY(mutex_) = 0;  // Number of the first event. Numbers have no gaps.
  size_t bytes_ GUARDED_BY(mutex_) = 0;
  Revision head_ GUARDED_BY(mutex_);
  Revision floor_ GUARDED_BY(mutex_);
  Revision compacted_ GUARDED_BY(mutex_);
  uint64_t breaks_ GUARDED_BY(mutex_) = 0;
  std::optional<base::Error> failure_ GUARDED_BY(mutex_);
  std::vector<Cursor*> cursors_ GUARDED_BY(mutex_);  // In order of creation.
};

class EventRing::Cursor final : public Watch {
 public:
  Cursor(State& ring, Revision after, std::function<void()> wake);
  ~Cursor() override;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  base::Result<WatchBatch> Poll(size_t max) override;

 private:
  friend class State;

  base::Result<WatchBatch> Read(size_t max);
  /// Adds events of the ring to `batch`. Returns false if the ring no longer has the next event.
  base::Result<bool> LookInRing(size_t max, WatchBatch& batch);
  base::Result<WatchBatch> ReadPast(size_t max);

  State& ring_;
  const std::shared_ptr<Wake> wake_;
  uint64_t breaks_ = 0;

  // Used by the reading thread only.
  Revision position_;             // Every event up to this revision has been returned.
  std::optional<uint64_t> next_;  // Number of the next event in the ring, if known.
  Revision behind_;               // The ring's floor when the cursor last fell out of the ring.
  std::optional<base::Error> error_;
};

void EventRing::State::Add(std::vector<EventPtr> events) {
  for (EventPtr& event : events) {
    assert(event->revision > head_ && "events come in order of revisions");
    bytes_ += BytesOf(*event);
    head_ = event->revision;
    events_.push_back(std::move(event));
  }
}

std::vector<EventPtr> EventRing::State::Evict(size_t budget) {
  std::vector<EventPtr> evicted;
  while (bytes_ > budget && events_.size() > 1) {
    bytes_ -= BytesOf(*events_.front());
    floor_ = events_.front()->revision;
    evicted.push_back(std::move(events_.front()));
    events_.pop_front();
    ++first_;
  }
  return evicted;
}

Wakes EventRing::State::AllWakes() const {
  Wakes wakes;
  wakes.reserve(cursors_.size());
  for (const Cursor* cursor : cursors_) wakes.push_back(cursor->wake_);
  return wakes;
}

EventRing::Cursor::Cursor(State& ring, Revision after, std::function<void()> wake)
    : ring_(ring), wake_(std::make_shared<Wake>(std::move(wake))), position_(after) {
  base::MutexLock lock(ring_.mutex_);
  ring_.cursors_.push_back(this);
  breaks_ = ring_.breaks_;
  if (position_ < ring_.compacted_) error_ = CompactedError(position_, ring_.compacted_);
}

EventRing::Cursor::~Cursor() {
  {
    base::MutexLock lock(ring_.mutex_);
    std::erase(ring_.cursors_, this);
  }
  wake_->Silence();
}

base::Result<WatchBatch> EventRing::Cursor::Poll(size_t max) {
  if (error_) return tl::unexpected(*error_);
  base::Result<WatchBatch> batch = Read(std::clamp<size_t>(max, 1, kMostAtOnce));
  if (!batch) error_ = batch.error();
  return batch;
}

base::Result<WatchBatch> EventRing::Cursor::Read(size_t max) {
  for (;;) {
    WatchBatch batch;
    const base::Result<bool> there = LookInRing(max, batch);
    if (!there) return tl::unexpected(there.error());
    if (*there) return batch;
    base::Result<WatchBatch> past = ReadPast(max);
    if (!past || !past->events.empty()) return past;
  }
}

/// Looks at the ring once, under the lock. Every later event wakes the cursor.
base::Result<bool> EventRing::Cursor::LookInRing(size_t max, WatchBatch& batch) {
  base::MutexLock lock(ring_.mutex_);
  if (ring_.failure_) return tl::unexpected(*ring_.failure_);
  if (breaks_ != ring_.breaks_) return tl::unexpected(MissedError());
  if (position_ < ring_.floor_) {
    next_.reset();
    behind_ = ring_.floor_;
    return false;
  }
  // The ring may have dropped events that a cursor with a future start does not need.
  if (!next_ || *next_ < ring_.first_) next_ = ring_.NumberAfter(position_);

  const uint64_t end = ring_.first_ + ring_.events_.size();
  for (; *next_ < end && batch.events.size() < max; ++*next_) {
    const EventPtr& event = ring_.events_[*next_ - ring_.first_];
    if (event->revision <= position_) continue;  // The cursor starts in the future.
    position_ = event->revision;
    batch.events.push_back(event);
  }
  if (*next_ == end) position_ = std::max(position_, ring_.head_);
  batch.progress = std::min(position_, ring_.head_);
  return true;
}

base::Result<WatchBatch> EventRing::Cursor::ReadPast(size_t max) {
  if (ring_.history_ == nullptr) return tl::unexpected(CompactedError(position_, behind_));
  base::Result<WatchBatch> past =
      ring_.history_->ReadHistory({.after = position_, .upto = behind_, .max = max});
  if (!past) return past;
  Revision reached = past->progress;
  if (!past->events.empty()) reached = std::max(reached, past->events.back()->revision);
  if (reached <= position_) reached = behind_;  // History has no more events up to there.
  position_ = reached;
  past->progress = reached;
  return past;
}

EventRing::EventRing(Revision floor, size_t budget_bytes, History* history)
    : state_(std::make_unique<State>(floor, budget_bytes, history)) {}

EventRing::~EventRing() = default;

void EventRing::Append(std::vector<Event> events, Revision head, bool wake_all) {
  std::vector<EventPtr> shared;
  shared.reserve(events.size());
  for (Event& event : events) shared.push_back(std::make_shared<const Event>(std::move(event)));
  AppendShared(std::move(shared), head, wake_all);
}

void EventRing::AppendShared(std::vector<EventPtr> events, Revision head, bool wake_all) {
  Wakes wakes;
  std::vector<EventPtr> evicted;  // Freed without the lock.
  {
    base::MutexLock lock(state_->mutex_);
    if (wake_all || !events.empty()) wakes = state_->AllWakes();
    state_->Add(std::move(events));
    evicted = state_->Evict(state_->budget_);
    state_->head_ = std::max(state_->head_, head);
  }
  CallAll(wakes);
}

void EventRing::Shrink(size_t bytes) {
  std::vector<EventPtr> evicted;
  base::MutexLock lock(state_->mutex_);
  evicted = state_->Evict(bytes);
}

void EventRing::SetCompacted(Revision compacted) {
  base::MutexLock lock(state_->mutex_);
  state_->compacted_ = std::max(state_->compacted_, compacted);
}

void EventRing::Break(Revision floor) {
  Wakes wakes;
  std::deque<EventPtr> dropped;
  {
    base::MutexLock lock(state_->mutex_);
    dropped.swap(state_->events_);
    state_->first_ += dropped.size();
    state_->bytes_ = 0;
    state_->head_ = std::max(state_->head_, floor);
    state_->floor_ = state_->head_;
    ++state_->breaks_;
    wakes = state_->AllWakes();
  }
  CallAll(wakes);
}

void EventRing::Fail(base::Error error) {
  Wakes wakes;
  {
    base::MutexLock lock(state_->mutex_);
    if (!state_->failure_) state_->failure_ = std::move(error);
    wakes = state_->AllWakes();
  }
  CallAll(wakes);
}

std::unique_ptr<Watch> EventRing::Follow(Revision after, std::function<void()> wake) {
  return std::make_unique<Cursor>(*state_, after, std::move(wake));
}

Revision EventRing::Head() const {
  base::MutexLock lock(state_->mutex_);
  return state_->head_;
}

Revision EventRing::Floor() const {
  base::MutexLock lock(state_->mutex_);
  return state_->floor_;
}

}  // namespace berth::store
