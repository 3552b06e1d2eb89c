#include "state/follower.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "state/follower_impl.h"

namespace berth::state {
namespace {

/// Returns the error for a resourceVersion that the store has not reached, worded as Kubernetes
/// words it. Clients look at the cause.
base::Error NotReachedError(int64_t wanted, int64_t current) {
  return {.reason = base::Reason::kTimeout,
          .message =
              fmt::format("Timeout: Too large resource version: {}, current: {}", wanted, current),
          .causes = {{.reason = "ResourceVersionTooLarge",
                      .message = "Too large resource version",
                      .field = ""}},
          .details = base::Details{.retry_after_seconds = 1}};
}

}  // namespace

Follower::Impl::Impl(store::Engine& engine, const Resources& resources,
                     std::vector<Listener*> listeners, FollowerOptions options,
                     const base::Clock& clock, base::Logger& log)
    : engine_(engine),
      resources_(resources),
      listeners_(std::move(listeners)),
      options_(std::move(options)),
      clock_(clock),
      log_(log) {}

void Follower::Impl::Start() {
  assert(!thread_.joinable());
  thread_ = std::thread([this] { Run(); });
}

void Follower::Impl::Stop() {
  stopping_ = true;
  Wake();
  if (thread_.joinable()) thread_.join();
  watch_.reset();

  Waiters waiters;
  std::vector<Catcher> catchers;
  std::multimap<base::SteadyTime, std::function<void()>> timers;
  {
    base::MutexLock lock(mutex_);
    stopped_ = true;
    deadlines_.clear();
    waiters.swap(waiters_);
    catchers.swap(catchers_);
    timers.swap(timers_);
  }
  for (auto& [revision, waiter] : waiters) waiter.done(tl::unexpected(base::ShuttingDown()));
  for (Catcher& catcher : catchers) catcher.done(tl::unexpected(base::ShuttingDown()));
}

void Follower::Impl::Wake() {
  base::MutexLock lock(mutex_);
  woken_ = true;
  work_.NotifyOne();
}

void Follower::Impl::WakeIfDueBefore(base::SteadyTime at) {
  if (at >= sleeps_until_) return;
  woken_ = true;
  work_.NotifyOne();
}

bool Follower::Impl::WaitReady(std::chrono::nanoseconds limit) const {
  const auto end = std::chrono::steady_clock::now() + limit;
  base::MutexLock lock(mutex_);
  while (!ready_) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= std::chrono::nanoseconds{0} || stopping_) return false;
    became_ready_.WaitFor(mutex_, left);
  }
  return true;
}

SnapshotPtr Follower::Impl::Current() const {
  base::MutexLock lock(mutex_);
  return current_;
}

bool Follower::Impl::TooMany() const {
  return waiters_.size() + catchers_.size() >= options_.max_waiting;
}

std::optional<base::Error> Follower::Impl::Refusal() const {
  base::MutexLock lock(mutex_);
  if (stopped_) return base::ShuttingDown();
  if (TooMany()) return base::TooManyRequests();
  return std::nullopt;
}

void Follower::Impl::AwaitRevision(int64_t revision, base::SteadyTime deadline, Await done) {
  base::Result<SnapshotPtr> now;
  {
    base::MutexLock lock(mutex_);
    if (stopped_) {
      now = tl::unexpected(base::ShuttingDown());
    } else if (told_ >= revision) {
      now = current_;
    } else if (TooMany()) {
      now = tl::unexpected(base::TooManyRequests());
    } else {
      const auto waiter =
          waiters_.emplace(revision, Waiter{.done = std::move(done), .deadline = deadline});
      if (deadline != base::SteadyTime::max()) {
        deadlines_.emplace(deadline, waiter);
        WakeIfDueBefore(deadline);
      }
      if (options_.shared_store && !ask_progress_at_) {
        ask_progress_at_ = clock_.Steady() + options_.ask_progress;
        WakeIfDueBefore(*ask_progress_at_);
      }
      return;
    }
  }
  done(std::move(now));
}

void Follower::Impl::CatchUp(base::SteadyTime deadline, Await done) {
  if (std::optional<base::Error> refusal = Refusal()) {
    return done(tl::unexpected(std::move(*refusal)));
  }
  std::vector<Catcher> ask;
  {
    base::MutexLock lock(mutex_);
    catchers_.push_back({.done = std::move(done), .deadline = deadline});
    // The answer to a question that is under way may be older than this call.
    if (asking_) return;
    asking_ = true;
    ask.swap(catchers_);
  }
  AskStore(std::move(ask));
}

void Follower::Impl::AskStore(std::vector<Catcher> catchers) {
  auto shared = std::make_shared<std::vector<Catcher>>(std::move(catchers));
  engine_.Current([self = shared_from_this(), shared](base::Result<store::Revision> revision) {
    for (Catcher& catcher : *shared) {
      if (revision) {
        self->AwaitRevision(revision->value, catcher.deadline, std::move(catcher.done));
      } else {
        catcher.done(tl::unexpected(revision.error()));
      }
    }
    std::vector<Catcher> next;
    {
      base::MutexLock lock(self->mutex_);
      next.swap(self->catchers_);
      if (next.empty()) self->asking_ = false;
    }
    if (!next.empty()) self->AskStore(std::move(next));
  });
}

void Follower::Impl::Expect(ExpectationPtr expectation) {
  base::MutexLock lock(expected_mutex_);
  const bool full = expected_.size() >= options_.max_expected;
  if (full || !expected_.try_emplace(expectation->key, expectation).second) {
    expectation->missed = true;
  }
}

void Follower::Impl::Forget(const ExpectationPtr& expectation) {
  base::MutexLock lock(expected_mutex_);
  const auto found = expected_.find(expectation->key);
  if (found != expected_.end() && found->second == expectation) expected_.erase(found);
}

void Follower::Impl::RunAt(base::SteadyTime at, std::function<void()> call) {
  base::MutexLock lock(mutex_);
  if (stopped_) return;
  timers_.emplace(at, std::move(call));
  WakeIfDueBefore(at);
}

base::SteadyTime Follower::Impl::NextDue() const {
  base::SteadyTime due = base::SteadyTime::max();
  if (!timers_.empty()) due = timers_.begin()->first;
  if (!deadlines_.empty()) due = std::min(due, deadlines_.begin()->first);
  if (ask_progress_at_) due = std::min(due, *ask_progress_at_);
  return due;
}

/// Calls all timers and deadlines that are due. Returns false if none was due.
bool Follower::Impl::RunDue() {
  std::vector<std::function<void()>> calls;
  bool ask = false;
  {
    base::MutexLock lock(mutex_);
    const base::SteadyTime now = clock_.Steady();
    if (NextDue() > now) return false;
    for (; !timers_.empty() && timers_.begin()->first <= now; timers_.erase(timers_.begin())) {
      calls.push_back(std::move(timers_.begin()->second));
    }
    for (; !deadlines_.empty() && deadlines_.begin()->first <= now;
         deadlines_.erase(deadlines_.begin())) {
      const Waiters::iterator late = deadlines_.begin()->second;
      calls.push_back([done = std::move(late->second.done),
                       error = NotReachedError(late->first, current_->Revision())] {
        done(tl::unexpected(error));
      });
      waiters_.erase(late);
    }
    if (ask_progress_at_ && *ask_progress_at_ <= now) {
      ask_progress_at_.reset();
      ask = !waiters_.empty();
    }
  }
  if (ask) engine_.RequestProgress();
  for (const auto& call : calls) call();
  return true;
}

/// Notes that listeners have been notified up to `revision`, and calls the callbacks that waited
/// for it.
void Follower::Impl::Told(int64_t revision, size_t events) {
  std::vector<Await> met;
  SnapshotPtr snapshot;
  {
    base::MutexLock lock(mutex_);
    told_ = revision;
    stats_.events += events;
    ++stats_.batches;
    snapshot = current_;
    const auto end = waiters_.upper_bound(revision);
    for (auto waiter = waiters_.begin(); waiter != end; ++waiter) {
      met.push_back(std::move(waiter->second.done));
      const auto [from, to] = deadlines_.equal_range(waiter->second.deadline);
      const auto mine = std::find_if(
          from, to, [waiter](const auto& deadline) { return deadline.second == waiter; });
      if (mine != to) deadlines_.erase(mine);
    }
    waiters_.erase(waiters_.begin(), end);
  }
  for (const Await& done : met) done(snapshot);
}

Follower::Follower(store::Engine& engine, const Resources& resources,
                   std::vector<Listener*> listeners, FollowerOptions options,
                   const base::Clock& clock, base::Logger& log)
    : impl_(std::make_shared<Impl>(engine, resources, std::move(listeners), std::move(options),
                                   clock, log)) {}

Follower::~Follower() { impl_->Stop(); }

void Follower::Start() { impl_->Start(); }
void Follower::Stop() { impl_->Stop(); }
bool Follower::Pump() { return impl_->Pump(); }

bool Follower::Ready() const {
  base::MutexLock lock(impl_->mutex_);
  return impl_->ready_;
}

bool Follower::WaitReady(std::chrono::nanoseconds limit) const { return impl_->WaitReady(limit); }
SnapshotPtr Follower::Current() const { return impl_->Current(); }

void Follower::AwaitRevision(int64_t revision, base::SteadyTime deadline, Await done) {
  impl_->AwaitRevision(revision, deadline, std::move(done));
}

void Follower::ReadCurrent(base::SteadyTime deadline, Await done) {
  if (AsksStore()) return impl_->CatchUp(deadline, std::move(done));
  impl_->AwaitRevision(0, deadline, std::move(done));  // Waits for the first snapshot only.
}

void Follower::CatchUp(base::SteadyTime deadline, Await done) {
  impl_->CatchUp(deadline, std::move(done));
}

bool Follower::AsksStore() const { return impl_->options_.shared_store; }

void Follower::Expect(ExpectationPtr expectation) { impl_->Expect(std::move(expectation)); }
void Follower::Forget(const ExpectationPtr& expectation) { impl_->Forget(expectation); }

void Follower::RunAt(base::SteadyTime at, std::function<void()> call) {
  impl_->RunAt(at, std::move(call));
}

bool Follower::IsUndecodable(std::string_view key) const {
  base::MutexLock lock(impl_->mutex_);
  return impl_->undecodable_.contains(key);
}

std::vector<Follower::UndecodableKey> Follower::Undecodable(size_t limit) const {
  std::vector<UndecodableKey> keys;
  {
    base::MutexLock lock(impl_->mutex_);
    keys.reserve(impl_->undecodable_.size());
    for (const auto& [key, error] : impl_->undecodable_) {
      keys.push_back({.key = key, .error = error});
    }
  }
  std::ranges::sort(keys, {}, &UndecodableKey::key);
  if (keys.size() > limit) keys.resize(limit);
  return keys;
}

Follower::Stats Follower::GetStats() const {
  base::MutexLock lock(impl_->mutex_);
  Stats stats = impl_->stats_;
  stats.undecodable = impl_->undecodable_.size();
  return stats;
}

}  // namespace berth::state
