#include "commit/sequencer.h"

#include <algorithm>
#include <utility>

#include "commit/sequencer_impl.h"

namespace berth::commit {
namespace {

base::Error TimeoutError() {
  return {.reason = base::Reason::kTimeout,
          .message = "Timeout: request did not complete within the allotted timeout"};
}

}  // namespace

void Sequencer::Impl::Submit(Write write, Done done) {
  auto op = std::make_shared<Op>();
  op->write = std::move(write);
  op->done = std::move(done);
  if (options_.metrics != nullptr) op->came = follower_.Clock().Steady();
  bool first = false;
  if (std::optional<base::Error> refused = Enqueue(op, first)) {
    op->done(tl::unexpected(std::move(*refused)));
    return;
  }
  ScheduleTick(op->write.deadline);
  if (first) Inside([&] { Drive({op}); });
}

/// Nothing: it waits, or is the first of its object.
std::optional<base::Error> Sequencer::Impl::Enqueue(const OpPtr& op, bool& first) {
  base::MutexLock lock(mutex_);
  if (closed_) return base::ShuttingDown();
  if (waiting_ >= options_.max_waiting) return base::TooManyRequests();
  Lane& lane = lanes_[op->write.key];
  if (lane.queue.size() >= options_.max_waiting_per_key) return base::TooManyRequests();
  first = lane.queue.empty();
  lane.queue.push_back(op);
  ++waiting_;
  if (op->write.deadline != base::SteadyTime::max()) deadlines_.emplace(op->write.deadline, op);
  return std::nullopt;
}

/// Deadlines share a timer: the next tick is that of the earliest.
void Sequencer::Impl::ScheduleTick(base::SteadyTime at) {
  {
    base::MutexLock lock(mutex_);
    if (at >= tick_at_) return;
    tick_at_ = at;
  }
  follower_.RunAt(at, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Inside([&self] { self->Tick(); });
  });
}

void Sequencer::Impl::Tick() {
  std::vector<Done> late;
  base::SteadyTime next = base::SteadyTime::max();
  {
    base::MutexLock lock(mutex_);
    const base::SteadyTime now = follower_.Clock().Steady();
    for (; !deadlines_.empty() && deadlines_.begin()->first <= now;
         deadlines_.erase(deadlines_.begin())) {
      late.push_back(std::exchange(deadlines_.begin()->second->done, nullptr));
    }
    tick_at_ = base::SteadyTime::max();
    if (!deadlines_.empty()) next = deadlines_.begin()->first;
  }
  ScheduleTick(next);
  for (const Done& done : late) done(tl::unexpected(TimeoutError()));
}

void Sequencer::Impl::Drive(Ops ready) {
  // Those that are added while it runs belong behind what is ready already.
  for (size_t i = 0; i < ready.size(); ++i) {
    const OpPtr op = ready[i];
    Attempt(op, ready);
  }
}

void Sequencer::Impl::Dispatch(Ops ready) {
  if (ready.empty()) return;
  if (!options_.run) return Drive(std::move(ready));
  options_.run([self = shared_from_this(), ready = std::move(ready)]() mutable {
    self->Inside([&] { self->Drive(std::move(ready)); });
  });
}

/// Those that are resumed while others are driven wait for these: nobody is driven inside another,
/// and they keep their order.
void Sequencer::Impl::Resume(const OpPtr& op) {
  {
    base::MutexLock lock(mutex_);
    resumed_.push_back(op);
    if (std::exchange(resuming_, true)) return;
  }
  if (!options_.run) return DriveResumed();
  options_.run([self = shared_from_this()] { self->Inside([&self] { self->DriveResumed(); }); });
}

void Sequencer::Impl::DriveResumed() {
  for (;;) {
    Ops ready;
    {
      base::MutexLock lock(mutex_);
      ready.swap(resumed_);
      if (ready.empty()) {
        resuming_ = false;
        return;
      }
    }
    Drive(std::move(ready));
  }
}

void Sequencer::Impl::Finish(const OpPtr& op, base::Result<Written> result, Ops& ready) {
  Done done;
  {
    base::MutexLock lock(mutex_);
    const auto found = lanes_.find(op->write.key);
    Lane& lane = found->second;
    std::move(lane.waiting.begin(), lane.waiting.end(), std::back_inserter(ready));
    lane.waiting.clear();
    lane.in_store = false;
    lane.queue.pop_front();
    if (lane.queue.empty()) {
      lanes_.erase(found);
    } else {
      ready.push_back(lane.queue.front());
    }
    --waiting_;
    deadlines_.erase({op->write.deadline, op});
    done = std::exchange(op->done, nullptr);
  }
  if (done) done(std::move(result));
}

void Sequencer::Impl::LeaveStore(const OpPtr& op, Ops& ready) {
  base::MutexLock lock(mutex_);
  Lane& lane = lanes_.find(op->write.key)->second;
  lane.in_store = false;
  std::move(lane.waiting.begin(), lane.waiting.end(), std::back_inserter(ready));
  lane.waiting.clear();
}

bool Sequencer::Impl::Answered(const Op& op) const {
  base::MutexLock lock(mutex_);
  return !op.done;
}

void Sequencer::Impl::Close() {
  std::vector<Done> open;
  Ops unsent;
  {
    base::MutexLock lock(mutex_);
    closed_ = true;
    while (inside_ > 0) left_.Wait(mutex_);
    unsent.swap(to_merge_);
    for (const Unmerged& unmerged : std::exchange(unmerged_, {})) unsent.push_back(unmerged.op);
    for (auto& [key, lane] : lanes_) {
      for (const OpPtr& op : lane.queue) {
        if (op->done) open.push_back(std::exchange(op->done, nullptr));
      }
    }
    lanes_.clear();
    deadlines_.clear();
  }
  for (const OpPtr& op : unsent) Settle(*op, false);
  for (const Done& done : open) done(tl::unexpected(base::ShuttingDown()));
}

Sequencer::Stats Sequencer::Impl::GetStats() const {
  base::MutexLock lock(mutex_);
  Stats stats = stats_;
  stats.waiting = waiting_;
  return stats;
}

Sequencer::Sequencer(state::Follower& follower, SequencerOptions options)
    : impl_(std::make_shared<Impl>(follower, std::move(options))) {}

Sequencer::~Sequencer() { impl_->Close(); }

void Sequencer::Close() { impl_->Close(); }

void Sequencer::Submit(Write write, Done done) { impl_->Submit(std::move(write), std::move(done)); }

state::Follower& Sequencer::GetFollower() const { return impl_->GetFollower(); }

Sequencer::Stats Sequencer::GetStats() const { return impl_->GetStats(); }

}  // namespace berth::commit
