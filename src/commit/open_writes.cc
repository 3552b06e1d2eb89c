#include "commit/open_writes.h"

#include <utility>
#include <vector>

#include "commit/outcome.h"

namespace berth::commit {

OpenWrites::OpenWrites(const base::Clock& clock, base::Timers& timers,
                       const SequencerOptions& options, GatePtr gate)
    : clock_(clock),
      timers_(timers),
      gate_(std::move(gate)),
      lanes_(options.max_waiting, options.max_waiting_per_key) {}

std::optional<base::Error> OpenWrites::Enter(const OpPtr& op, bool& first) {
  std::optional<base::SteadyTime> timer;
  {
    base::MutexLock lock(mutex_);
    if (closed_) return base::ShuttingDown();
    const Lanes::Entered entered = lanes_.Enter(op);
    if (entered == Lanes::Entered::kFull) return base::TooManyRequests();
    first = entered == Lanes::Entered::kFirst;
    deadlines_.Add(op);
    timer = deadlines_.NextTimer();
  }
  SetTimer(timer);
  return std::nullopt;
}

void OpenWrites::SetTimer(std::optional<base::SteadyTime> at) {
  if (at) timers_.RunAt(*at, Gated(gate_, [this] { AnswerLate(); }));
}

void OpenWrites::AnswerLate() {
  std::vector<Done> late;
  std::optional<base::SteadyTime> next;
  {
    base::MutexLock lock(mutex_);
    for (const OpPtr& op : deadlines_.TakeLate(clock_.Steady())) {
      late.push_back(std::exchange(op->done, nullptr));
    }
    next = deadlines_.NextTimer();
  }
  SetTimer(next);
  for (const Done& done : late) done(tl::unexpected(DeadlineError()));
}

void OpenWrites::EnterStore(const Op& op) {
  base::MutexLock lock(mutex_);
  lanes_.EnterStore(op);
}

void OpenWrites::EnterStore(const Ops& ops) {
  base::MutexLock lock(mutex_);
  for (const OpPtr& op : ops) lanes_.EnterStore(*op);
}

void OpenWrites::LeaveStore(const Op& op, Ops& ready) {
  base::MutexLock lock(mutex_);
  lanes_.LeaveStore(op, ready);
}

bool OpenWrites::WaitForStore(const std::string& key, const OpPtr& op) {
  base::MutexLock lock(mutex_);
  return lanes_.WaitForStore(key, op);
}

bool OpenWrites::IsAnswered(const Op& op) const {
  base::MutexLock lock(mutex_);
  return !op.done;
}

void OpenWrites::Answer(const OpPtr& op, base::Result<Written> result, Ops& ready) {
  Done done;
  {
    base::MutexLock lock(mutex_);
    lanes_.Leave(*op, ready);
    deadlines_.Remove(op);
    done = std::exchange(op->done, nullptr);
  }
  if (done) done(std::move(result));
}

size_t OpenWrites::Size() const {
  base::MutexLock lock(mutex_);
  return lanes_.Size();
}

void OpenWrites::Close() {
  base::MutexLock lock(mutex_);
  closed_ = true;
}

void OpenWrites::AnswerAll() {
  std::vector<Done> open;
  {
    base::MutexLock lock(mutex_);
    for (const OpPtr& op : lanes_.Clear()) {
      if (op->done) open.push_back(std::exchange(op->done, nullptr));
    }
    deadlines_.Clear();
  }
  for (const Done& done : open) done(tl::unexpected(base::ShuttingDown()));
}

}  // namespace berth::commit
