// What becomes of a transaction of several writes with shared puts: all of it happens or nothing
// does, and each write gets its own answer.
#include <algorithm>
#include <span>
#include <utility>

#include "commit/sequencer_impl.h"

namespace berth::commit {

void Sequencer::Impl::OnMergedReply(const MergedPtr& merged, const store::TxnReply& reply) {
  switch (reply.outcome) {
    case store::Outcome::kCommitted:
      return OnMergedCommitted(merged, reply);
    case store::Outcome::kUnknown: {
      {
        base::MutexLock lock(mutex_);
        ++stats_.unknown;
      }
      return ResolveMerged(merged);
    }
    case store::Outcome::kConflict:
      return OnMergedConflict(merged, reply);
    case store::Outcome::kRefused:
      return OnMergedRefused(merged, reply.error);
  }
}

void Sequencer::Impl::OnMergedCommitted(const MergedPtr& merged, const store::TxnReply& reply) {
  for (size_t i = 0; i < merged->ops.size(); ++i) {
    Op& op = *merged->ops[i];
    const MergedTxn::Part& part = merged->parts[i];
    if (options_.metrics != nullptr) op.replied = follower_.Clock().Steady();
    const bool puts = op.decision.kind == Decision::Kind::kPut;
    op.revision = puts ? reply.puts[part.own_put].value : reply.deletes[part.first_delete].value;
  }
  int64_t last = 0;
  for (const store::Revision revision : reply.puts) last = std::max(last, revision.value);
  for (const store::Revision revision : reply.deletes) last = std::max(last, revision.value);
  AwaitMergedApplied(merged, last);
}

void Sequencer::Impl::AwaitMergedApplied(const MergedPtr& merged, int64_t revision) {
  follower_.AwaitRevision(
      revision, base::SteadyTime::max(),
      [self = shared_from_this(), merged,
       revision](const base::Result<state::SnapshotPtr>& snapshot) {
        self->Inside([&] {
          if (!snapshot) {  // Too many wait; the answers must wait all the same.
            return self->follower_.RunAt(
                self->follower_.Clock().Steady() + self->options_.retry, [self, merged, revision] {
                  self->Inside([&] { self->AwaitMergedApplied(merged, revision); });
                });
          }
          Ops ready;
          self->Leave(*merged);  // First, so that the next one is under way meanwhile.
          for (const OpPtr& op : merged->ops) self->OnApplied(op, **snapshot, ready);
          self->Dispatch(std::move(ready));
        });
      });
}

/// Those whom a failed compare belongs to do not get into the others' way any more. If it was that
/// of a shared key, or of what many depend on, nobody is to blame.
void Sequencer::Impl::OnMergedConflict(const MergedPtr& merged, const store::TxnReply& reply) {
  std::vector<bool> failed(merged->first_shared_compare, reply.conflicts.empty());
  for (const store::Conflict& conflict : reply.conflicts) {
    if (conflict.compare < failed.size()) failed[conflict.compare] = true;
  }
  Ops ready;
  for (size_t i = 0; i < merged->ops.size(); ++i) {
    const OpPtr& op = merged->ops[i];
    const auto compares = std::span(merged->parts[i].compares).first(op->own_compares);
    const bool own =
        std::ranges::any_of(compares, [&failed](size_t compare) { return failed[compare]; });
    op->alone = op->alone || own;
    ++(own ? op->conflicts : op->shared_conflicts);
    TakeOut(op, ready);
  }
  VerifyMerged(merged, std::move(ready));
}

/// Nothing happened, and it is not said to which of them that is due.
void Sequencer::Impl::OnMergedRefused(const MergedPtr& merged, const base::Error& error) {
  Ops ready;
  const bool one = merged->ops.size() == 1;
  for (const OpPtr& op : merged->ops) {
    Settle(*op, false);
    if (one) {
      Finish(op, tl::unexpected(error), ready);
      continue;
    }
    op->alone = true;
    LeaveStore(op, ready);
    ready.push_back(op);
  }
  GoOn(merged, std::move(ready));
}

/// Out of a transaction that did not happen, to be decided again, unless that was too often.
void Sequencer::Impl::TakeOut(const OpPtr& op, Ops& ready) {
  Settle(*op, false);
  LeaveStore(op, ready);
  {
    base::MutexLock lock(mutex_);
    ++stats_.conflicts;
  }
  if (IsTooMany(*op)) return Finish(op, tl::unexpected(ConflictsError()), ready);
  ready.push_back(op);
}

/// Goes on with these on a snapshot that shows what was in their way.
void Sequencer::Impl::VerifyMerged(const MergedPtr& merged, Ops ready) {
  CatchUpFor([self = shared_from_this(), merged,
              ready = std::move(ready)](const state::Snapshot& /*snapshot*/) mutable {
    for (const OpPtr& op : ready) op->verified = true;
    self->GoOn(merged, std::move(ready));
  });
}

/// Decides these while the keys are still taken, so that they go together again.
void Sequencer::Impl::GoOn(const MergedPtr& merged, Ops ready) {
  auto go_on = [self = shared_from_this(), merged, ready = std::move(ready)]() mutable {
    self->Drive(std::move(ready));
    self->Leave(*merged);
  };
  if (!options_.run) return go_on();
  options_.run([self = shared_from_this(), go_on = std::move(go_on)]() mutable {
    self->Inside([&go_on] { go_on(); });
  });
}

/// Calls back with a snapshot that shows all that is in the store now, as soon as it can be had.
void Sequencer::Impl::CatchUpFor(std::function<void(const state::Snapshot&)> call) {
  follower_.CatchUp(
      base::SteadyTime::max(), [self = shared_from_this(), call = std::move(call)](
                                   const base::Result<state::SnapshotPtr>& snapshot) mutable {
        self->Inside([&] {
          if (snapshot) return call(**snapshot);
          self->follower_.RunAt(self->follower_.Clock().Steady() + self->options_.retry,
                                [self, call = std::move(call)]() mutable {
                                  self->Inside([&] { self->CatchUpFor(std::move(call)); });
                                });
        });
      });
}

void Sequencer::Impl::ResolveMerged(const MergedPtr& merged) {
  CatchUpFor([self = shared_from_this(), merged](const state::Snapshot& snapshot) {
    self->OnMergedResolved(merged, snapshot);
  });
}

/// As for one write (OnResolved), but one of them that did not happen proves it for all. One that
/// seems to have happened does not: another server may have deleted the same object. What the
/// shared keys hold is no proof either, since others may have put the same there.
void Sequencer::Impl::OnMergedResolved(const MergedPtr& merged, const state::Snapshot& snapshot) {
  const auto untouched = [&snapshot](const std::string& key, int64_t before) {
    const state::ObjectPtr now = snapshot.Find(key);
    return before != 0 && now && now->Revision() == before;
  };
  bool none = std::ranges::any_of(merged->keys, [&untouched](const MergedTxn::Key& key) {
    return untouched(key.key, key.before);
  });
  for (const OpPtr& op : merged->ops) {
    const state::Expectation& own = *op->expected.front();
    follower_.Forget(op->expected.front());  // From here on it does not change.
    if (own.revision == 0) {
      none = none || !own.missed || untouched(op->write.key, own.before);
    }
  }
  Ops ready;
  for (const OpPtr& op : merged->ops) {
    if (none) {
      ++op->conflicts;
      TakeOut(op, ready);
    } else if (op->expected.front()->revision != 0) {
      op->revision = op->expected.front()->revision;
      OnApplied(op, snapshot, ready);
    } else {
      Settle(*op, false);
      Finish(op, tl::unexpected(UnknownError()), ready);
    }
  }
  GoOn(merged, std::move(ready));
}

}  // namespace berth::commit
