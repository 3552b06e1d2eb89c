#include "watch/ring.h"

#include <algorithm>
#include <cassert>

namespace berth::watch {
namespace {

/// Returns the keys of the scopes that an object is in, widest first: its resource, its namespace.
std::pair<std::string_view, std::string_view> ScopesOf(const state::Object& object,
                                                       std::string_view key) {
  return {object.Prefix().Text(), key.substr(0, key.size() - object.Name().size())};
}

}  // namespace

void WatchedScope::Note(Place place) {
  if (recent.size() == kRecent) {
    known_from = recent.front().number + 1;
    recent.erase(recent.begin());
  }
  recent.push_back(place);
}

const WatchedScope::Place* WatchedScope::From(uint64_t number) const {
  // Searches from the newest place, which nearly always is the one wanted.
  if (recent.empty() || recent.back().number < number) return nullptr;
  auto place = std::prev(recent.end());
  while (place != recent.begin() && std::prev(place)->number >= number) --place;
  return &*place;
}

void Ring::Append(std::vector<EventPtr> events, std::vector<Waker>& wakes) {
  base::MutexLock lock(mutex_);
  const uint64_t batch = end_;
  for (EventPtr& event : events) {
    if (!scopes_.empty()) {
      const state::Object& object = *event->Last();
      const std::string key = object.Key();
      const auto [all, parent] = ScopesOf(object, key);
      const WatchedScope::Place place{.number = end_, .revision = event->Revision()};
      Tell(all, place, batch, wakes);
      if (parent != all) Tell(parent, place, batch, wakes);
      Tell(key, place, batch, wakes);
    }
    Add(std::move(event));
  }
}

void Ring::Add(EventPtr event) {
  const bool full = segments_.empty() ||
                    segments_.back()->events.size() >= options_.segment_events ||
                    segments_.back()->bytes >= options_.segment_bytes;
  if (full) {
    auto segment = std::make_shared<Segment>();
    segment->first = end_;
    segment->events.reserve(options_.segment_events);
    segments_.push_back(std::move(segment));
  }
  const size_t bytes = event->Bytes();
  segments_.back()->bytes += bytes;
  bytes_ += bytes;
  segments_.back()->events.push_back(std::move(event));
  ++end_;
}

/// Notes an event of the scope. For the first event of a batch, also adds the scope's wakers.
void Ring::Tell(std::string_view scope, WatchedScope::Place place, uint64_t batch,
                std::vector<Waker>& wakes) {
  const auto found = scopes_.find(scope);
  if (found == scopes_.end()) return;
  WatchedScope& watched = *found->second;
  const bool woken = !watched.recent.empty() && watched.recent.back().number >= batch;
  watched.Note(place);
  if (woken) return;
  for (const WatchedScope::Wake& wake : watched.wakes) wakes.push_back(wake.waker);
}

void Ring::Reset(int64_t head, int64_t floor, std::vector<Waker>& wakes) {
  std::deque<SegmentPtr> dropped;  // Freed without the lock.
  base::MutexLock lock(mutex_);
  dropped.swap(segments_);
  bytes_ = 0;
  floor_ = floor;
  reset_head_ = head;
  reset_end_ = ++end_;  // Skips a number, so that cursors at the old end notice the reset.
  for (auto& [key, watched] : scopes_) {
    watched->quiet_from =
        watched->recent.empty() ? watched->known_from : watched->recent.back().number + 1;
    watched->recent.clear();
    watched->known_from = end_;
    for (const WatchedScope::Wake& wake : watched->wakes) wakes.push_back(wake.waker);
  }
  lock.Unlock();
}

SegmentPtr Ring::DropOldest() {
  base::MutexLock lock(mutex_);
  if (segments_.size() < 2) return nullptr;
  SegmentPtr oldest = std::move(segments_.front());
  segments_.pop_front();
  bytes_ -= oldest->bytes;
  floor_ = oldest->events.back()->Revision();
  return oldest;
}

WatchedScope* Ring::Join(Scope scope, const Waker& waker) {
  base::MutexLock lock(mutex_);
  std::unique_ptr<WatchedScope>& watched = scopes_[scope.key];
  if (watched == nullptr) watched = std::make_unique<WatchedScope>(std::move(scope), end_);
  ++watched->cursors;
  ++cursors_;
  const auto wake = std::ranges::find(watched->wakes, waker, &WatchedScope::Wake::waker);
  if (wake != watched->wakes.end()) {
    ++wake->cursors;
  } else {
    watched->wakes.push_back({.waker = waker, .cursors = 1});
  }
  return watched.get();
}

void Ring::Leave(WatchedScope* watched, const Waker& waker) {
  base::MutexLock lock(mutex_);
  --cursors_;
  const auto wake = std::ranges::find(watched->wakes, waker, &WatchedScope::Wake::waker);
  if (--wake->cursors == 0) watched->wakes.erase(wake);
  if (--watched->cursors == 0) scopes_.erase(watched->scope.key);
}

Look Ring::LookAt(const WatchedScope& watched, int64_t& position, std::optional<uint64_t>& next) {
  base::MutexLock lock(mutex_);
  if (next && *next < reset_end_) {
    if (*next >= watched.quiet_from) position = std::max(position, reset_head_);
    next.reset();
  }
  const WatchedScope::Place* place = nullptr;
  const bool known = next && *next >= watched.known_from;
  if (known) {
    place = watched.From(*next);
    next = place == nullptr ? end_ : place->number;
    if (place != nullptr) position = std::max(position, place->revision - 1);
  }
  if (next && *next < First()) next.reset();
  if (!next) {
    if (position < floor_) return Look{.kind = Look::Kind::kBehind, .floor = floor_};
    next = NumberAfter(position);
  }
  if (*next == end_) return Look{};
  const auto behind = std::upper_bound(
      segments_.begin(), segments_.end(), *next,
      [](uint64_t number, const SegmentPtr& segment) { return number < segment->first; });
  const SegmentPtr& segment = *std::prev(behind);
  Look look{.kind = Look::Kind::kEvents,
            .segment = segment,
            .begin = static_cast<size_t>(*next - segment->first),
            .end = segment->events.size()};
  if (place != nullptr && watched.recent.back().number < segment->first + look.end) {
    look.end = static_cast<size_t>(watched.recent.back().number + 1 - segment->first);
    look.all_until = end_;
  }
  return look;
}

/// Returns the number of the first event after `position`.
uint64_t Ring::NumberAfter(int64_t position) const {
  const auto later = [](int64_t revision, const SegmentPtr& segment) {
    return revision < segment->events.back()->Revision();
  };
  const auto segment = std::upper_bound(segments_.begin(), segments_.end(), position, later);
  if (segment == segments_.end()) return end_;
  const auto& events = (*segment)->events;
  const auto event = std::upper_bound(
      events.begin(), events.end(), position,
      [](int64_t revision, const EventPtr& other) { return revision < other->Revision(); });
  return (*segment)->first + static_cast<uint64_t>(event - events.begin());
}

int64_t Ring::Floor() const {
  base::MutexLock lock(mutex_);
  return floor_;
}

size_t Ring::Bytes() const {
  base::MutexLock lock(mutex_);
  return bytes_;
}

size_t Ring::Events() const {
  base::MutexLock lock(mutex_);
  return segments_.empty() ? 0 : static_cast<size_t>(end_ - segments_.front()->first);
}

size_t Ring::Cursors() const {
  base::MutexLock lock(mutex_);
  return cursors_;
}

}  // namespace berth::watch
