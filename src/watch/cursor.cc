#include "watch/cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "watch/ring.h"

namespace berth::watch {
namespace {

/// How many events of others one call looks at, so that it does not keep its thread for long.
constexpr size_t kMaxLooks = 4096;

base::Error TooOldError(int64_t position, int64_t oldest) {
  return {.reason = base::Reason::kExpired,
          .message = fmt::format("too old resource version: {} ({})", position, oldest)};
}

}  // namespace

Cursor::Cursor(Hub& hub, Scope scope, int64_t after, std::function<void()> notify)
    : hub_(hub),
      ring_(*hub.rings_[scope.resource]),
      subscription_(std::make_shared<Subscription>(std::move(scope), std::move(notify))),
      start_(after),
      position_(after) {
  ring_.Join(*subscription_);
}

Cursor::~Cursor() { ring_.Leave(*subscription_); }

base::Result<Pull> Cursor::Next(size_t max) {
  if (expired_) return tl::unexpected(*expired_);
  Pull pull;
  max = std::max<size_t>(max, 1);
  size_t looks = 0;
  while (pull.events.size() < max && looks < kMaxLooks) {
    const int64_t head = hub_.Head();  // Before the look: all events up to it are in the ring.
    const Look look = past_ ? Look{.kind = Look::Kind::kBehind, .floor = past_until_}
                            : ring_.LookAt(subscription_, position_, next_);
    if (look.kind == Look::Kind::kBehind) {
      // What it has may go out before it waits for the past.
      if (!pull.events.empty()) break;
      const base::Result<void> read = ReadPast(max, look.floor, pull);
      if (!read) return tl::unexpected(read.error());
      break;
    }
    if (look.kind == Look::Kind::kNothing) {
      position_ = std::max(position_, head);
      pull.caught_up = true;
      break;
    }
    looks += TakeFrom(look, max, pull);
  }
  const int64_t head = hub_.Head();
  pull.progress = start_ > head ? head : position_;
  return pull;
}

/// Takes what is in the scope; how many events it looked at.
size_t Cursor::TakeFrom(const Look& look, size_t max, Pull& pull) {
  size_t place = look.begin;
  for (; place < look.end && pull.events.size() < max; ++place) {
    const EventPtr& event = look.segment->events[place];
    if (event->Revision() <= position_) continue;  // A start in the future.
    position_ = event->Revision();
    if (subscription_->scope.Has(*event->Last())) pull.events.push_back(event);
  }
  next_ = look.segment->first + place;
  return place - look.begin;
}

/// Reads on in the store's history, up to where the ring began when it was found out of reach; what
/// lies behind that comes from the ring, so that nothing is told before it is in the picture.
base::Result<void> Cursor::ReadPast(size_t max, int64_t until, Pull& pull) {
  const Scope& scope = subscription_->scope;
  if (!past_) {
    past_ = hub_.past_.Changes(scope.key, position_);
    past_until_ = until;
  }
  base::Result<state::PastBatch> batch = past_->Read(max);
  if (!batch) {
    past_.reset();
    if (batch.error().reason != base::Reason::kExpired) return tl::unexpected(batch.error());
    expired_ = TooOldError(position_, until);
    return tl::unexpected(*expired_);
  }
  const bool more = batch->progress > position_ && batch->progress < until;
  for (state::Change& change : batch->changes) {
    if (change.revision <= position_ || change.revision > until) continue;
    if (scope.Has(*change.Last())) {
      pull.events.push_back(std::make_shared<const Event>(std::move(change)));
    }
  }
  position_ = more ? batch->progress : until;
  if (!more) {
    past_.reset();
    next_.reset();
  }
  return {};
}

}  // namespace berth::watch
