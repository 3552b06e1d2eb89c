// What becomes of a transaction: answered when it is applied, decided again after a conflict, found
// out when its outcome is unknown.
#include <algorithm>
#include <utility>

#include "commit/sequencer_impl.h"

namespace berth::commit {

base::Error ConflictsError() {
  return {.reason = base::Reason::kServerTimeout,
          .message = "the object is being changed by others all the time, please try again"};
}

base::Error UnknownError() {
  return {.reason = base::Reason::kTimeout,
          .message = "Timeout: it could not be found out whether the request took effect"};
}

void Sequencer::Impl::OnReply(const OpPtr& op, const store::TxnReply& reply) {
  switch (reply.outcome) {
    case store::Outcome::kCommitted:
      return OnCommitted(op, reply);
    case store::Outcome::kUnknown: {
      {
        base::MutexLock lock(mutex_);
        ++stats_.unknown;
      }
      return Resolve(op);
    }
    case store::Outcome::kConflict:
      return OnConflict(op, reply);
    case store::Outcome::kRefused:
      break;
  }
  Ops ready;
  Settle(*op, false);
  Finish(op, tl::unexpected(reply.error), ready);
  Dispatch(std::move(ready));
}

void Sequencer::Impl::OnCommitted(const OpPtr& op, const store::TxnReply& reply) {
  if (options_.metrics != nullptr) op->replied = follower_.Clock().Steady();
  const bool puts = op->decision.kind == Decision::Kind::kPut;
  op->revision = puts ? reply.puts[op->own_put].value : reply.deletes.front().value;
  int64_t last = op->revision;
  for (const store::Revision revision : reply.puts) last = std::max(last, revision.value);
  for (const store::Revision revision : reply.deletes) last = std::max(last, revision.value);
  AwaitApplied(op, last);
}

void Sequencer::Impl::AwaitApplied(const OpPtr& op, int64_t revision) {
  follower_.AwaitRevision(
      revision, base::SteadyTime::max(),
      [self = shared_from_this(), op, revision](const base::Result<state::SnapshotPtr>& snapshot) {
        self->Inside([&] {
          if (!snapshot) {  // Too many wait; the answer must wait all the same.
            return self->follower_.RunAt(
                self->follower_.Clock().Steady() + self->options_.retry,
                [self, op, revision] { self->Inside([&] { self->AwaitApplied(op, revision); }); });
          }
          Ops ready;
          self->OnApplied(op, **snapshot, ready);
          self->Dispatch(std::move(ready));
        });
      });
}

/// What many depend on (fences) may change all the time without anybody changing the object.
void Sequencer::Impl::OnConflict(const OpPtr& op, const store::TxnReply& reply) {
  const bool own = reply.conflicts.empty() ||
                   std::ranges::any_of(reply.conflicts, [&op](const store::Conflict& conflict) {
                     return conflict.compare < op->own_compares;
                   });
  DecideAgain(op, own ? op->conflicts : op->shared_conflicts);
}

bool Sequencer::Impl::IsTooMany(const Op& op) const {
  return op.conflicts > options_.max_conflicts ||
         op.shared_conflicts > options_.max_shared_conflicts;
}

/// Something it depends on has changed. The snapshot it was decided on may still be the newest one:
/// the store is asked how far it must be.
void Sequencer::Impl::DecideAgain(const OpPtr& op, int& conflicts) {
  Ops ready;
  Settle(*op, false);
  LeaveStore(op, ready);
  {
    base::MutexLock lock(mutex_);
    ++stats_.conflicts;
  }
  ++conflicts;
  if (IsTooMany(*op)) {
    Finish(op, tl::unexpected(ConflictsError()), ready);
  } else {
    Verify(op);
  }
  Dispatch(std::move(ready));
}

/// A lost reply: once the follower has passed what is current now, it has met the write or there
/// was none. (Engines say kUnknown only when nothing of it can still be on its way.)
void Sequencer::Impl::Resolve(const OpPtr& op) {
  follower_.CatchUp(base::SteadyTime::max(), [self = shared_from_this(), op](
                                                 const base::Result<state::SnapshotPtr>& snapshot) {
    self->Inside([&] {
      if (!snapshot) {
        return self->follower_.RunAt(self->follower_.Clock().Steady() + self->options_.retry,
                                     [self, op] { self->Inside([&] { self->Resolve(op); }); });
      }
      Ops ready;
      self->OnResolved(op, **snapshot, ready);
      self->Dispatch(std::move(ready));
    });
  });
}

void Sequencer::Impl::OnResolved(const OpPtr& op, const state::Snapshot& snapshot, Ops& ready) {
  state::Expectation& own = *op->expected.front();
  follower_.Forget(op->expected.front());  // From here on it does not change.
  if (own.revision != 0) {
    op->revision = own.revision;
    return OnApplied(op, snapshot, ready);
  }
  const state::ObjectPtr now = snapshot.Find(op->write.key);
  const bool untouched = (now ? now->Revision() : 0) == own.before;
  const bool created_and_deleted_unseen = own.missed && own.before == 0;
  if (own.missed && (!untouched || created_and_deleted_unseen)) {
    Settle(*op, false);
    return Finish(op, tl::unexpected(UnknownError()), ready);
  }
  DecideAgain(op, op->conflicts);
}

void Sequencer::Impl::OnApplied(const OpPtr& op, const state::Snapshot& snapshot, Ops& ready) {
  const state::Expectation& own = *op->expected.front();
  Settle(*op, true);
  Written written{.revision = op->revision};
  if (op->decision.kind == Decision::Kind::kDelete) {
    written.kind = Written::Kind::kDeleted;
    written.object = op->current;
  } else {
    written.kind = op->current ? Written::Kind::kUpdated : Written::Kind::kCreated;
    written.object = own.object;
    // The follower did not know it again, or another has written since.
    if (!written.object) written.object = snapshot.Find(op->write.key);
    const bool other = !written.object || written.object->Revision() != op->revision;
    if (other) written.object = MakeObject(*op, op->revision);
  }
  {
    base::MutexLock lock(mutex_);
    ++stats_.committed;
  }
  if (options_.metrics != nullptr) Measure(*op);
  Finish(op, std::move(written), ready);
}

void Sequencer::Impl::Measure(const Op& op) const {
  const base::SteadyTime now = follower_.Clock().Steady();
  options_.metrics->commit.Observe(now - op.came);
  const bool found_out = op.replied == base::SteadyTime();  // By following the store.
  if (!found_out) options_.metrics->apply.Observe(now - op.replied);
}

void Sequencer::Impl::Settle(Op& op, bool committed) {
  for (const state::ExpectationPtr& expectation : op.expected) follower_.Forget(expectation);
  if (!committed) op.expected.clear();
  if (const auto settle = std::exchange(op.decision.settle, nullptr)) settle(committed);
}

}  // namespace berth::commit
