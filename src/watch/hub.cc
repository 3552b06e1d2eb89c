#include "watch/hub.h"

#include <algorithm>
#include <utility>

#include "watch/ring.h"

namespace berth::watch {

Hub::Hub(const state::Past& past, const state::Resources& resources, HubOptions options)
    : past_(past), options_(options), frame_bytes_(std::make_shared<std::atomic<size_t>>(0)) {
  rings_.reserve(resources.Size());
  for (size_t i = 0; i < resources.Size(); ++i) rings_.push_back(std::make_unique<Ring>(options_));
}

Hub::~Hub() = default;

void Hub::OnBatch(const std::vector<state::Change>& changes, int64_t revision) {
  std::vector<std::vector<EventPtr>> events(rings_.size());
  for (const state::Change& change : changes) {
    events[change.resource].push_back(std::make_shared<const Event>(change, frame_bytes_));
  }
  std::vector<Waker> wakes;
  for (size_t i = 0; i < rings_.size(); ++i) {
    if (!events[i].empty()) rings_[i]->Append(std::move(events[i]), wakes);
  }
  // Stored after the events, so that a reader of the head finds all events up to it in the rings.
  head_.store(revision, std::memory_order_release);
  CallAll(wakes);
  if (!changes.empty()) Evict();
}

void Hub::OnReset(const std::vector<state::Change>& /*changes*/, int64_t revision) {
  std::vector<Waker> wakes;
  for (const auto& ring : rings_) ring->Reset(Head(), revision, wakes);
  head_.store(revision, std::memory_order_release);
  CallAll(wakes);
}

void Hub::CallAll(const std::vector<Waker>& wakes) {
  for (const Waker& waker : wakes) (*waker)();
}

/// Drops events of the largest ring first, so that frequent events do not push out rare ones.
void Hub::Evict() {
  for (;;) {
    size_t total = frame_bytes_->load(std::memory_order_relaxed);
    std::vector<std::pair<size_t, Ring*>> by_size;
    for (const auto& ring : rings_) {
      by_size.emplace_back(ring->Bytes(), ring.get());
      total += by_size.back().first;
    }
    if (total <= options_.ring_bytes) return;
    std::sort(by_size.rbegin(), by_size.rend());
    const bool dropped = std::any_of(by_size.begin(), by_size.end(), [](const auto& ring) {
      return ring.second->DropOldest() != nullptr;
    });
    if (!dropped) return;
  }
}

Hub::Stats Hub::GetStats() const {
  Stats stats{.bytes = frame_bytes_->load(std::memory_order_relaxed)};
  for (const auto& ring : rings_) {
    stats.events += ring->Events();
    stats.bytes += ring->Bytes();
    stats.cursors += ring->Cursors();
  }
  return stats;
}

int64_t Hub::Floor(uint16_t resource) const { return rings_[resource]->Floor(); }

}  // namespace berth::watch
