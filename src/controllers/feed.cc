#include "controllers/feed.h"

#include <algorithm>
#include <utility>

namespace berth::controllers {
namespace {

constexpr size_t kObjectsAtOnce = 10'000;
constexpr size_t kChangesAtOnce = 1000;
constexpr std::chrono::seconds kRetry{1};

}  // namespace

Feed::Feed(const state::Follower& follower, watch::Hub& hub, std::vector<Reader*> readers,
           WakePtr wake, const base::Clock& clock, base::Logger& log)
    : follower_(follower),
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
  told_.reset();
  cursors_.clear();
  const state::Resources& resources = follower_.GetResources();
  for (size_t i = 0; i < resources.Size(); ++i) {
    const auto resource = static_cast<uint16_t>(i);
    cursors_.push_back(std::make_unique<watch::Cursor>(
        hub_, watch::Scope{.resource = resource, .key = resources.Prefix(resource)},
        snapshot_->Revision(), [wake = wake_] { wake->Raise(); }));
  }
  for (Reader* reader : readers_) reader->Begin();
}

bool Feed::ReadObjects() {
  size_t told = 0;
  const state::Resources& resources = follower_.GetResources();
  for (; resource_ < resources.Size(); ++resource_) {
    const std::string prefix = resources.Prefix(static_cast<uint16_t>(resource_));
    for (state::Cursor at = snapshot_->Seek(prefix, from_); at.Valid(); at.Next()) {
      if (++told > kObjectsAtOnce) {
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
      told_.reset();
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
  any |= told_ != up_to;
  told_ = up_to;
  return any;
}

}  // namespace berth::controllers
