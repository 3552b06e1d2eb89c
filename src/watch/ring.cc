#include "watch/ring.h"

#include <algorithm>
#include <cassert>

namespace berth::watch {
namespace {

/// The scopes an object is in, widest first: its resource, its namespace.
std::pair<std::string_view, std::string_view> ScopesOf(const state::Object& object,
                                                       std::string_view key) {
  return {object.Prefix().Text(), key.substr(0, key.size() - object.Name().size())};
}

}  // namespace

void Ring::Append(std::vector<EventPtr> events, std::vector<SubscriptionPtr>& wakes) {
  base::MutexLock lock(mutex_);
  const int64_t passed = events.front()->Revision() - 1;
  const uint64_t next = end_;
  for (EventPtr& event : events) {
    if (!groups_.empty()) {
      const state::Object& object = *event->Last();
      const std::string key = object.Key();
      const auto [all, parent] = ScopesOf(object, key);
      Wake(all, passed, next, wakes);
      if (parent != all) Wake(parent, passed, next, wakes);
      Wake(key, passed, next, wakes);
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

void Ring::Wake(std::string_view scope, int64_t passed, uint64_t next,
                std::vector<SubscriptionPtr>& wakes) {
  const auto group = groups_.find(scope);
  if (group == groups_.end()) return;
  for (SubscriptionPtr& subscription : group->second.armed) {
    subscription->armed = Subscription::kNotArmed;
    subscription->passed = passed;
    subscription->next = next;
    wakes.push_back(std::move(subscription));
  }
  group->second.armed.clear();
}

void Ring::Reset(int64_t head, int64_t floor, std::vector<SubscriptionPtr>& wakes) {
  std::deque<SegmentPtr> dropped;  // Freed without the lock.
  base::MutexLock lock(mutex_);
  dropped.swap(segments_);
  bytes_ = 0;
  floor_ = floor;
  for (auto& [scope, group] : groups_) {
    const size_t first = wakes.size();
    Wake(scope, head, end_, wakes);
    for (size_t i = first; i < wakes.size(); ++i) wakes[i]->next.reset();
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

void Ring::Join(const Subscription& subscription) {
  base::MutexLock lock(mutex_);
  ++groups_[subscription.scope.key].cursors;
  ++cursors_;
}

void Ring::Leave(Subscription& subscription) {
  base::MutexLock lock(mutex_);
  Disarm(subscription);
  const auto group = groups_.find(subscription.scope.key);
  if (--group->second.cursors == 0) groups_.erase(group);
  --cursors_;
}

Look Ring::LookAt(const SubscriptionPtr& subscription, int64_t& position,
                  std::optional<uint64_t>& next) {
  base::MutexLock lock(mutex_);
  if (subscription->armed != Subscription::kNotArmed) {  // Still: nothing came.
    next = end_;
    return Look{};
  }
  if (subscription->passed) {
    position = std::max(position, *subscription->passed);
    next = subscription->next;
    subscription->passed.reset();
  }
  if (position < floor_) return Look{.kind = Look::Kind::kBehind, .floor = floor_};
  const uint64_t first = segments_.empty() ? end_ : segments_.front()->first;
  if (!next || *next < first) next = NumberAfter(position);
  if (*next == end_) {
    Arm(subscription);
    return Look{};
  }
  const auto behind = std::upper_bound(
      segments_.begin(), segments_.end(), *next,
      [](uint64_t number, const SegmentPtr& segment) { return number < segment->first; });
  const SegmentPtr& segment = *std::prev(behind);
  return Look{.kind = Look::Kind::kEvents,
              .segment = segment,
              .begin = static_cast<size_t>(*next - segment->first),
              .end = segment->events.size()};
}

/// The number of the first event after `position`.
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

void Ring::Arm(const SubscriptionPtr& subscription) {
  std::vector<SubscriptionPtr>& armed = groups_[subscription->scope.key].armed;
  subscription->armed = armed.size();
  armed.push_back(subscription);
}

void Ring::Disarm(Subscription& subscription) {
  if (subscription.armed == Subscription::kNotArmed) return;
  std::vector<SubscriptionPtr>& armed = groups_[subscription.scope.key].armed;
  const size_t place = subscription.armed;
  subscription.armed = Subscription::kNotArmed;
  if (place + 1 != armed.size()) {
    armed[place] = std::move(armed.back());
    armed[place]->armed = place;
  }
  armed.pop_back();
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
