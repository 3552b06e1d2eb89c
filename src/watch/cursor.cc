#include "watch/cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "watch/ring.h"

namespace berth::watch {
namespace {

/// The most events that one call looks at, so that it does not occupy its thread for long.
constexpr size_t kMaxLooks = 4096;

base::Error TooOldError(int64_t position, int64_t oldest) {
  return {.reason = base::Reason::kExpired,
          .message = fmt::format("too old resource version: {} ({})", position, oldest)};
}

}  // namespace

Cursor::Cursor(Hub& hub, Scope scope, int64_t after, Waker waker)
    : hub_(hub),
      ring_(*hub.rings_[scope.resource]),
      waker_(std::move(waker)),
      watched_(ring_.Join(std::move(scope), waker_)),
      start_(after),
      position_(after) {}

Cursor::~Cursor() { ring_.Leave(watched_, waker_); }

base::Result<Pull> Cursor::Next(size_t max) {
  Pull pull;
  const base::Result<Reached> reached =
      Read(max, [&pull](const EventPtr& event) { pull.events.push_back(event); });
  if (!reached) return tl::unexpected(reached.error());
  static_cast<Reached&>(pull) = *reached;
  return pull;
}

base::Result<Reached> Cursor::Read(size_t max, Take take) {
  if (expired_) return tl::unexpected(*expired_);
  Done done{.take = take, .max = std::max<size_t>(max, 1)};
  while (!done.caught_up && done.taken < done.max && done.looked_at < kMaxLooks) {
    // Read before the look, so that all events up to the head are in the ring by then.
    const int64_t head = hub_.Head();
    const Look look = past_ ? Look{.kind = Look::Kind::kBehind, .floor = past_until_}
                            : ring_.LookAt(*watched_, position_, next_);
    if (look.kind == Look::Kind::kBehind) {
      // Returns the events it already has before it waits for the past.
      if (done.taken > 0) break;
      const base::Result<void> read = ReadPast(look.floor, done);
      if (!read) return tl::unexpected(read.error());
      break;
    }
    if (look.kind == Look::Kind::kNothing) {
      done.caught_up = true;
    } else {
      TakeFrom(look, done);
    }
    if (done.caught_up) position_ = std::max(position_, head);
  }
  const int64_t head = hub_.Head();
  return Reached{.caught_up = done.caught_up, .progress = start_ > head ? head : position_};
}

/// Takes the events of the scope from a look.
void Cursor::TakeFrom(const Look& look, Done& done) {
  size_t place = look.begin;
  for (; place < look.end && done.taken < done.max; ++place) {
    const EventPtr& event = look.segment->events[place];
    if (event->Revision() <= position_) continue;  // The cursor starts in the future.
    position_ = event->Revision();
    if (!watched_->scope.Has(*event->Last())) continue;
    ++done.taken;
    done.take(event);
  }
  done.looked_at += place - look.begin;
  next_ = look.segment->first + place;
  if (place == look.end && look.all_until) {
    next_ = look.all_until;
    done.caught_up = true;
  }
}

/// Continues in the store's history, up to the revision at which the ring began when the cursor
/// last looked. Later events come from the ring, so that no event is returned before the published
/// snapshot shows it.
base::Result<void> Cursor::ReadPast(int64_t until, Done& done) {
  const Scope& scope = watched_->scope;
  if (!past_) {
    past_ = hub_.past_.Changes(scope.key, position_, until);
    past_until_ = until;
  }
  base::Result<state::PastBatch> batch = past_->Read(done.max);
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
      done.take(std::make_shared<const Event>(std::move(change)));
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
