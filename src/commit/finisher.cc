#include "commit/finisher.h"

#include <utility>

#include "commit/outcome.h"

namespace berth::commit {

Finisher::Finisher(const SequencerParts& parts, const SequencerOptions& options, GatePtr gate,
                   OpenWrites& writes, Runner& runner)
    : parts_(parts), options_(options), gate_(std::move(gate)), writes_(writes), runner_(runner) {}

void Finisher::EndAttempt(Op& op, bool committed) {
  Attempt& attempt = op.attempt;
  for (const state::ExpectationPtr& expectation : attempt.expected) {
    parts_.follower.Forget(expectation);
  }
  if (!committed) attempt.expected.clear();
  if (const auto on_outcome = std::exchange(attempt.decision.on_outcome, nullptr)) {
    on_outcome(committed);
  }
}

void Finisher::Abandon(Op& op) { EndAttempt(op, false); }

void Finisher::Fail(const OpPtr& op, base::Error error, Ops& ready) {
  EndAttempt(*op, false);
  writes_.Answer(op, tl::unexpected(std::move(error)), ready);
}

void Finisher::Succeed(const OpPtr& op, const state::Snapshot& snapshot, Ops& ready) {
  EndAttempt(*op, true);
  Written written = CommittedResult(op->write.key, op->attempt, snapshot, parts_.resources);
  committed_.fetch_add(1, std::memory_order_relaxed);
  if (options_.metrics != nullptr) Measure(*op);
  writes_.Answer(op, std::move(written), ready);
}

void Finisher::Measure(const Op& op) const {
  const base::SteadyTime now = parts_.clock.Steady();
  options_.metrics->commit.Observe(now - op.submitted_at);
  const bool reply_lost = op.replied_at == base::SteadyTime();
  if (!reply_lost) options_.metrics->apply.Observe(now - op.replied_at);
}

void Finisher::DecideAgain(const OpPtr& op, int& conflicts) {
  Ops ready;
  // The snapshot that the write was decided on may still be the newest one here.
  if (Withdraw(op, conflicts, ready)) DecideOnNewest(op);
  runner_.Dispatch(std::move(ready));
}

bool Finisher::Withdraw(const OpPtr& op, int& conflicts, Ops& ready) {
  EndAttempt(*op, false);
  writes_.LeaveStore(*op, ready);
  conflicts_.fetch_add(1, std::memory_order_relaxed);
  ++conflicts;
  const bool too_many = op->conflicts > options_.max_conflicts ||
                        op->shared_conflicts > options_.max_shared_conflicts;
  if (too_many) writes_.Answer(op, tl::unexpected(ConflictsError()), ready);
  return !too_many;
}

void Finisher::DecideOnNewest(const OpPtr& op) {
  EndAttempt(*op, false);
  auto on_snapshot = [this, op](const base::Result<state::SnapshotPtr>& snapshot) {
    Ops ready;
    op->verified = true;
    if (snapshot) {
      ready.push_back(op);
    } else {
      writes_.Answer(op, tl::unexpected(snapshot.error()), ready);
    }
    runner_.Dispatch(std::move(ready));
  };
  parts_.follower.CatchUp(op->write.deadline, Gated(gate_, std::move(on_snapshot)));
}

}  // namespace berth::commit
