#include "controllers/controller_feed.h"

#include <algorithm>
#include <utility>

namespace berth::controllers {
namespace {

constexpr size_t kObjectsAtOnce = 10'000;
constexpr size_t kChangesAtOnce = 1000;
constexpr std::chrono::seconds kRetry{1};

}  // namespace

Feed::Feed(const state::Follower& follower, const state::Resources& resources, watch::Hub& hub,
           std::vector<Reader*> readers, WakePtr wake, const base::Clock& clock, base::Logger& log)
    : follower_(follower),
      resources_(resources),
      hub_(hub),
      readers_(std::move(readers)),
      wake_(std::move(wake)),
      clock_(clock),
      log_(log) {}

bool Feed::Read() {
  if (cursors_.empty()) Begin();
  return snapshot_ ? ReadObjects() : ReadChanges();
}

void Feed::Begin() {
  snapshot_ = follower_.Current();
  resource_ = 0;
  from_.clear();
  reported_.reset();
  cursors_.clear();
  for (size_t i = 0; i < resources_.Size(); ++i) {
    const auto resource = static_cast<uint16_t>(i);
    cursors_.push_back(std::make_unique<watch::Cursor>(
        hub_, watch::Scope{.resource = resource, .key = resources_.Prefix(resource)},
        snapshot_->Revision(), [wake = wake_] { wake->Raise(); }));
  }
  for (Reader* reader : readers_) reader->Begin();
}

bool Feed::ReadObjects() {
  size_t reported = 0;
  for (; resource_ < resources_.Size(); ++resource_) {
    const std::string prefix = resources_.Prefix(static_cast<uint16_t>(resource_));
    for (state::SnapshotIterator at = snapshot_->Seek(prefix, from_); at.Valid(); at.Next()) {
      if (++reported > kObjectsAtOnce) {
        from_ = at.Get()->Key();
        return true;
      }
      for (Reader* reader : readers_) reader->OnObject(at.Get(), nullptr);
    }
    from_.clear();
  }
  snapshot_ = nullptr;
  return true;
}

bool Feed::ReadChanges() {
  retry_at_ = base::SteadyTime::max();
  bool any = false;
  int64_t up_to = INT64_MAX;
  for (const auto& cursor : cursors_) {
    const base::Result<watch::Pull> pull = cursor->Next(kChangesAtOnce);
    if (!pull) {
      reported_.reset();
      if (pull.error().reason == base::Reason::kExpired) {
        log_.Info("controllers begin anew: they have missed changes");
        cursors_.clear();
        return true;
      }
      retry_at_ = clock_.Steady() + kRetry;
      return any;
    }
    for (const watch::EventPtr& event : pull->events) {
      for (Reader* reader : readers_) reader->OnObject(event->Object(), event->Previous());
    }
    any |= !pull->events.empty() || !pull->caught_up;
    up_to = std::min(up_to, cursor->Position());
  }
  any |= reported_ != up_to;
  reported_ = up_to;
  return any;
}

}  // namespace berth::controllers
