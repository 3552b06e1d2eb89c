// The story of a write: Submit, Run (decide), Send, OnReply (await), and the answer. Writes with
// shared puts leave it at Send: Merger sends, awaits and answers them.
#include "commit/sequencer.h"

#include <optional>
#include <utility>

#include "commit/attempt.h"
#include "commit/finisher.h"
#include "commit/gate.h"
#include "commit/merger.h"
#include "commit/op.h"
#include "commit/open_writes.h"
#include "commit/outcome.h"
#include "commit/runner.h"
#include "commit/snapshot_waits.h"

namespace berth::commit {

class Sequencer::Impl {
 public:
  Impl(const SequencerParts& parts, SequencerOptions options)
      : parts_(parts),
        options_(std::move(options)),
        writes_(parts.clock, parts.timers, options_, gate_),
        runner_(options_, gate_, [this](const OpPtr& op, Ops& ready) { Run(op, ready); }),
        finisher_(parts_, options_, gate_, writes_, runner_),
        waits_(parts_, gate_, options_.retry),
        merger_(parts_, options_, gate_, writes_, runner_, finisher_, waits_) {}

  void Submit(Write write, Done done);
  void Close();
  Stats GetStats() const;

 private:
  void Run(const OpPtr& op, Ops& ready);
  bool GuardChanged(const Attempt& attempt) const;
  std::function<void()> Resumption(const OpPtr& op);
  void AnswerUncommitted(const OpPtr& op, std::optional<Refusal> refusal, Ops& ready);
  void Send(const OpPtr& op);
  void OnReply(const OpPtr& op, const store::TxnReply& reply);
  void OnCommitted(const OpPtr& op, const store::TxnReply& reply);
  void OnUnknown(const OpPtr& op);
  void Succeed(const OpPtr& op, const state::Snapshot& snapshot);
  void Fail(const OpPtr& op, base::Error error);

  const SequencerParts parts_;
  const SequencerOptions options_;
  const GatePtr gate_ = std::make_shared<Gate>();
  OpenWrites writes_;
  Runner runner_;
  Finisher finisher_;
  SnapshotWaits waits_;
  Merger merger_;
};

void Sequencer::Impl::Submit(Write write, Done done) {
  auto op = std::make_shared<Op>();
  op->write = std::move(write);
  op->done = std::move(done);
  if (options_.metrics != nullptr) op->submitted_at = parts_.clock.Steady();
  bool first = false;
  if (std::optional<base::Error> refused = writes_.Enter(op, first)) {
    return op->done(tl::unexpected(std::move(*refused)));
  }
  if (first) gate_->Inside([&] { runner_.Drive({op}); });
}

/// Decides the write, and sends it, answers it, or lets it wait for what it has to wait for. Called
/// by the runner whenever the write can go on.
void Sequencer::Impl::Run(const OpPtr& op, Ops& ready) {
  for (;;) {
    if (writes_.IsAnswered(*op)) {  // Its deadline has passed.
      return writes_.Answer(op, Written{}, ready);
    }
    Attempt& attempt = op->attempt;
    std::optional<Refusal> refusal =
        Decide(op->write, *parts_.follower.Current(), parts_.follower, attempt);
    if (attempt.refused_by_guard) {
      finisher_.Abandon(*op);
      if (writes_.WaitForStore(*attempt.guarded.back().key, op)) return;
      if (GuardChanged(attempt)) continue;  // By a write that was finished meanwhile.
    }
    if (refusal && refusal->step) return refusal->step(Resumption(op));
    if (refusal && refusal->wait) {
      if (refusal->wait(Resumption(op))) return;
      continue;
    }
    const bool to_send =
        !refusal && attempt.decision.kind != Decision::Kind::kNothing && !op->write.dry_run;
    if (to_send) return Send(op);
    // No transaction will compare what this answer depends on, so the snapshot must be current.
    const bool may_be_old = parts_.follower.AsksStore() || !parts_.follower.Ready();
    if (may_be_old && !op->verified) return finisher_.DecideOnNewest(op);
    return AnswerUncommitted(op, std::move(refusal), ready);
  }
}

/// Says whether the object of the guard that refused the write is no longer the one it was shown.
bool Sequencer::Impl::GuardChanged(const Attempt& attempt) const {
  const Attempt::Guarded& last = attempt.guarded.back();
  return state::RevisionOf(parts_.follower.Current()->Find(*last.key)) !=
         state::RevisionOf(last.object);
}

/// Returns the callback for a refusal: it has the write decided again.
std::function<void()> Sequencer::Impl::Resumption(const OpPtr& op) {
  return Gated(gate_, [this, op] { runner_.Resume(op); });
}

/// Answers a write that is refused, has nothing to do, or is a dry-run.
void Sequencer::Impl::AnswerUncommitted(const OpPtr& op, std::optional<Refusal> refusal,
                                        Ops& ready) {
  if (refusal && refusal->answered && !op->write.dry_run) refusal->answered();
  base::Result<Written> result =
      refusal ? base::Result<Written>(tl::unexpected(std::move(refusal->error)))
              : UncommittedResult(op->write.key, op->attempt, parts_.resources);
  finisher_.Abandon(*op);
  writes_.Answer(op, std::move(result), ready);
}

void Sequencer::Impl::Send(const OpPtr& op) {
  if (!op->attempt.decision.shared.empty()) return merger_.Send(op);
  store::Txn txn = MakeExpectedTxn(op->write.key, op->attempt, parts_.follower);
  writes_.EnterStore(*op);
  parts_.engine.Commit(std::move(txn), Gated(gate_, [this, op](const store::TxnReply& reply) {
                         OnReply(op, reply);
                       }));
}

void Sequencer::Impl::OnReply(const OpPtr& op, const store::TxnReply& reply) {
  switch (reply.outcome) {
    case store::Outcome::kCommitted:
      return OnCommitted(op, reply);
    case store::Outcome::kConflict:
      if (auto error = UndecodableConflict(reply, parts_.follower)) return Fail(op, *error);
      return finisher_.DecideAgain(
          op, IsOwnConflict(op->attempt, reply) ? op->conflicts : op->shared_conflicts);
    case store::Outcome::kRefused:
      return Fail(op, reply.error);
    case store::Outcome::kUnknown:
      return OnUnknown(op);
  }
}

void Sequencer::Impl::OnCommitted(const OpPtr& op, const store::TxnReply& reply) {
  if (options_.metrics != nullptr) op->replied_at = parts_.clock.Steady();
  Attempt& attempt = op->attempt;
  const bool puts = attempt.decision.kind == Decision::Kind::kPut;
  attempt.revision = puts ? reply.puts[attempt.object_put].value : reply.deletes.front().value;
  waits_.AwaitRevision(LastRevision(reply),
                       [this, op](const state::Snapshot& snapshot) { Succeed(op, snapshot); });
}

/// The reply was lost. Once the follower has passed the store's current revision, it has seen the
/// write, or the write was not committed: engines reply kUnknown only when nothing of the
/// transaction can still happen.
void Sequencer::Impl::OnUnknown(const OpPtr& op) {
  finisher_.CountLostReply();
  waits_.CatchUp([this, op](const state::Snapshot& snapshot) {
    Attempt& attempt = op->attempt;
    parts_.follower.Forget(attempt.expected.front());  // From here on it does not change.
    switch (Resolve(op->write.key, attempt, snapshot)) {
      case Resolution::kCommitted:
        attempt.revision = attempt.expected.front()->revision;
        return Succeed(op, snapshot);
      case Resolution::kNotCommitted:
        return finisher_.DecideAgain(op, op->conflicts);
      case Resolution::kUnknown:
        return Fail(op, UnknownError());
    }
  });
}

void Sequencer::Impl::Succeed(const OpPtr& op, const state::Snapshot& snapshot) {
  Ops ready;
  finisher_.Succeed(op, snapshot, ready);
  runner_.Dispatch(std::move(ready));
}

void Sequencer::Impl::Fail(const OpPtr& op, base::Error error) {
  Ops ready;
  finisher_.Fail(op, std::move(error), ready);
  runner_.Dispatch(std::move(ready));
}

void Sequencer::Impl::Close() {
  writes_.Close();
  gate_->Close();
  for (const OpPtr& op : merger_.TakeUnsent()) finisher_.Abandon(*op);
  writes_.AnswerAll();
}

Sequencer::Stats Sequencer::Impl::GetStats() const {
  return {.waiting = writes_.Size(),
          .committed = finisher_.Committed(),
          .conflicts = finisher_.Conflicts(),
          .unknown = finisher_.LostReplies()};
}

Sequencer::Sequencer(const SequencerParts& parts, SequencerOptions options)
    : impl_(std::make_unique<Impl>(parts, std::move(options))) {}

Sequencer::~Sequencer() { impl_->Close(); }

void Sequencer::Close() { impl_->Close(); }

void Sequencer::Submit(Write write, Done done) { impl_->Submit(std::move(write), std::move(done)); }

Sequencer::Stats Sequencer::GetStats() const { return impl_->GetStats(); }

}  // namespace berth::commit
