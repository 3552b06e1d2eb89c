#include "store/event_ring.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "store/check.h"

namespace berth::store {
namespace {

/// How many events a Poll looks at before it lets others at the ring. It returns what it has found
/// by then, if anything.
constexpr size_t kLookAtOnce = 512;

/// What an event takes beyond its strings: itself, its place in the ring, the allocator's share.
constexpr size_t kEventOverhead = sizeof(Event) + 64;

size_t BytesOf(const Event& event) {
  size_t bytes = kEventOverhead + event.key.size() + event.value.size();
  if (event.previous) bytes += event.previous->key.size() + event.previous->value.size();
  return bytes;
}

bool AnyHas(const std::vector<EventPtr>& events, const std::string& prefix) {
  return std::any_of(events.begin(), events.end(),
                     [&prefix](const EventPtr& event) { return event->key.starts_with(prefix); });
}

base::Error MissedError() {
  return base::Error{.reason = base::Reason::kExpired,
                     .message = "events may have been missed; start over from the present"};
}

/// A cursor's wake. It outlives the cursor while a wake is under way, and its mutex is what the
/// cursor's destructor waits for.
class Wake {
 public:
  explicit Wake(std::function<void()> call) : call_(std::move(call)) {}

  void Call() {
    base::MutexLock lock(mutex_);
    if (call_) call_();
  }

  void Silence() {
    std::function<void()> call;  // What it holds is let go without the lock.
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

/// All that the cursors share.
class EventRing::State {
 public:
  State(Revision floor, size_t budget_bytes, History* history)
      : budget_(budget_bytes), history_(history), head_(floor), floor_(floor) {}
  ~State() { assert(groups_.empty() && "a watch outlives its engine"); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

 private:
  friend class EventRing;
  friend class Cursor;

  /// The cursors of a prefix. Those of one prefix are woken together, so that a thousand of them
  /// cost one look at an event.
  struct Group {
    size_t cursors = 0;
    std::vector<Cursor*> armed;
  };
  using Groups = std::map<std::string, Group>;  // Ordered: a simulation wakes in the same order.

  void Add(std::vector<EventPtr> events) REQUIRES(mutex_);
  /// Takes out what the budget has no room for.
  std::vector<EventPtr> Evict(size_t budget) REQUIRES(mutex_);
  /// Disarms the group's cursors and adds their wakes.
  void Take(Group& group, Wakes& wakes) REQUIRES(mutex_);
  Wakes TakeAll() REQUIRES(mutex_);

  /// The number of the first event after `position`.
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
  uint64_t first_ GUARDED_BY(mutex_) = 0;  // Number of the first of them; numbers have no gaps.
  size_t bytes_ GUARDED_BY(mutex_) = 0;
  Revision head_ GUARDED_BY(mutex_);
  Revision floor_ GUARDED_BY(mutex_);
  Revision compacted_ GUARDED_BY(mutex_);
  uint64_t breaks_ GUARDED_BY(mutex_) = 0;
  std::optional<base::Error> failure_ GUARDED_BY(mutex_);
  Groups groups_ GUARDED_BY(mutex_);
};

class EventRing::Cursor final : public Watch {
 public:
  Cursor(State& ring, WatchRequest request, std::function<void()> wake);
  ~Cursor() override;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  base::Result<WatchBatch> Poll(size_t max) override;

 private:
  friend class State;

  enum class Look : uint8_t { kDone, kGoOn, kBehind };

  base::Result<WatchBatch> Read(size_t max);
  base::Result<Look> LookInRing(size_t max, WatchBatch& batch);
  base::Result<WatchBatch> ReadHistory(size_t max);
  void Arm() REQUIRES(ring_.mutex_);
  void Disarm() REQUIRES(ring_.mutex_);

  State& ring_;
  const std::shared_ptr<Wake> wake_;
  State::Groups::iterator group_;  // Its prefix; the rest of it is the ring's to guard.
  uint64_t breaks_ = 0;

  // The reader's.
  Revision position_;             // Every event up to here has been handed out or does not match.
  std::optional<uint64_t> next_;  // Where to go on in the ring; nothing: not known.
  Revision behind_;               // Where the ring began when it was last found to be out of reach.
  std::optional<base::Error> error_;

  static constexpr size_t kNotArmed = SIZE_MAX;
  size_t armed_ GUARDED_BY(ring_.mutex_) = kNotArmed;  // Place in Group::armed.
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

void EventRing::State::Take(Group& group, Wakes& wakes) NO_THREAD_SAFETY_ANALYSIS {
  for (Cursor* cursor : group.armed) {
    cursor->armed_ = Cursor::kNotArmed;
    wakes.push_back(cursor->wake_);
  }
  group.armed.clear();
}

Wakes EventRing::State::TakeAll() {
  Wakes wakes;
  for (auto& [prefix, group] : groups_) Take(group, wakes);
  return wakes;
}

EventRing::Cursor::Cursor(State& ring, WatchRequest request, std::function<void()> wake)
    : ring_(ring), wake_(std::make_shared<Wake>(std::move(wake))), position_(request.after) {
  base::MutexLock lock(ring_.mutex_);
  group_ = ring_.groups_.try_emplace(std::move(request.prefix)).first;
  ++group_->second.cursors;
  breaks_ = ring_.breaks_;
  if (position_ < ring_.compacted_) error_ = CompactedError(position_, ring_.compacted_);
}

EventRing::Cursor::~Cursor() {
  {
    base::MutexLock lock(ring_.mutex_);
    Disarm();
    if (--group_->second.cursors == 0) ring_.groups_.erase(group_);
  }
  wake_->Silence();
}

base::Result<WatchBatch> EventRing::Cursor::Poll(size_t max) {
  if (error_) return tl::unexpected(*error_);
  base::Result<WatchBatch> batch = Read(std::max<size_t>(max, 1));
  if (!batch) error_ = batch.error();
  return batch;
}

base::Result<WatchBatch> EventRing::Cursor::Read(size_t max) {
  for (;;) {
    WatchBatch batch;
    const base::Result<Look> look = LookInRing(max, batch);
    if (!look) return tl::unexpected(look.error());
    if (*look == Look::kDone) return batch;
    if (*look == Look::kGoOn) continue;
    base::Result<WatchBatch> past = ReadHistory(max);
    if (!past || !past->events.empty()) return past;
  }
}

/// One look under the lock. An empty ending arms the cursor under the same lock, so no event can
/// come between the look and the arming.
base::Result<EventRing::Cursor::Look> EventRing::Cursor::LookInRing(size_t max, WatchBatch& batch) {
  base::MutexLock lock(ring_.mutex_);
  Disarm();
  if (ring_.failure_) return tl::unexpected(*ring_.failure_);
  if (breaks_ != ring_.breaks_) return tl::unexpected(MissedError());
  if (position_ < ring_.floor_) {
    next_.reset();
    behind_ = ring_.floor_;
    return Look::kBehind;
  }
  // A cursor from the future may have been overtaken in the ring without missing anything.
  if (!next_ || *next_ < ring_.first_) next_ = ring_.NumberAfter(position_);

  const std::string& prefix = group_->first;
  const uint64_t end = ring_.first_ + ring_.events_.size();
  const uint64_t stop = std::min(end, *next_ + kLookAtOnce);
  while (*next_ < stop && batch.events.size() < max) {
    const EventPtr& event = ring_.events_[*next_ - ring_.first_];
    ++*next_;
    if (event->revision <= position_) continue;  // Before the future revision it waits for.
    position_ = event->revision;
    if (event->key.starts_with(prefix)) batch.events.push_back(event);
  }
  if (*next_ == end) position_ = std::max(position_, ring_.head_);
  batch.progress = std::min(position_, ring_.head_);
  if (!batch.events.empty()) return Look::kDone;
  if (*next_ < end) return Look::kGoOn;
  Arm();
  return Look::kDone;
}

base::Result<WatchBatch> EventRing::Cursor::ReadHistory(size_t max) {
  if (ring_.history_ == nullptr) return tl::unexpected(CompactedError(position_, behind_));
  base::Result<WatchBatch> past = ring_.history_->Read(group_->first, position_, behind_, max);
  if (!past) return past;
  Revision reached = past->progress;
  if (!past->events.empty()) reached = std::max(reached, past->events.back()->revision);
  if (reached <= position_) reached = behind_;  // Nothing is left up to there.
  position_ = reached;
  past->progress = reached;
  return past;
}

void EventRing::Cursor::Arm() {
  std::vector<Cursor*>& armed = group_->second.armed;
  armed_ = armed.size();
  armed.push_back(this);
}

void EventRing::Cursor::Disarm() NO_THREAD_SAFETY_ANALYSIS {
  if (armed_ == kNotArmed) return;
  std::vector<Cursor*>& armed = group_->second.armed;
  armed[armed_] = armed.back();
  armed[armed_]->armed_ = armed_;
  armed.pop_back();
  armed_ = kNotArmed;
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
    for (auto& [prefix, group] : state_->groups_) {
      if (group.armed.empty()) continue;
      const bool met = wake_all || AnyHas(events, prefix);
      if (met) state_->Take(group, wakes);
    }
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
    wakes = state_->TakeAll();
  }
  CallAll(wakes);
}

void EventRing::Fail(base::Error error) {
  Wakes wakes;
  {
    base::MutexLock lock(state_->mutex_);
    if (!state_->failure_) state_->failure_ = std::move(error);
    wakes = state_->TakeAll();
  }
  CallAll(wakes);
}

std::unique_ptr<Watch> EventRing::Start(WatchRequest request, std::function<void()> wake) {
  return std::make_unique<Cursor>(*state_, std::move(request), std::move(wake));
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
