// One attempt at a write: decide it on the current snapshot, and send it.
#include <algorithm>
#include <iterator>
#include <utility>

#include "codec/slot.h"
#include "commit/sequencer_impl.h"

namespace berth::commit {
namespace {

int64_t RevisionOf(const state::ObjectPtr& object) { return object ? object->Revision() : 0; }

/// A transaction compares a key once. The first word on a key counts: it is the object's own, then
/// the guards', and all of them come from one snapshot.
void AddCompare(store::Txn& txn, std::string key, int64_t revision) {
  const bool known = std::any_of(txn.compares.begin(), txn.compares.end(),
                                 [&key](const store::Compare& have) { return have.key == key; });
  if (!known) txn.compares.push_back({.key = std::move(key), .revision = {revision}});
}

/// Moves the puts of keys that have a place of their own behind all others, in the order of these;
/// `own` goes with the put that it is the place of, if there is one.
void PutInPlace(std::vector<store::Put>& puts, size_t& own) {
  const auto slot_of = [](const store::Put& put) { return codec::FixedSlot(put.key).value_or(0); };
  const bool in_place =
      std::ranges::none_of(puts, [&](const store::Put& put) { return slot_of(put) != 0; });
  if (in_place) return;
  const std::string key = own < puts.size() ? puts[own].key : "";
  std::vector<store::Put> first;
  std::vector<store::Put> fixed;
  for (store::Put& put : puts) (slot_of(put) != 0 ? fixed : first).push_back(std::move(put));
  std::ranges::sort(fixed, {}, slot_of);
  std::ranges::move(fixed, std::back_inserter(first));
  puts = std::move(first);
  const auto now = std::ranges::find(puts, key, &store::Put::key);
  own = static_cast<size_t>(now - puts.begin());
}

}  // namespace

void Sequencer::Impl::Attempt(const OpPtr& op, Ops& ready) {
  for (;;) {
    if (Answered(*op)) return Finish(op, Written{}, ready);  // Its time was up.
    bool by_guard = false;
    std::optional<Refusal> refusal = Decide(*op, *follower_.Current(), by_guard);
    if (by_guard) {
      Settle(*op, false);
      if (WaitsForGuard(op)) return;
      if (GuardChanged(*op)) continue;  // By a write that was finished meanwhile.
    }
    if (refusal && refusal->wait) {
      if (WaitsForOthers(op, *refusal)) return;
      continue;
    }
    const bool to_send =
        !refusal && op->decision.kind != Decision::Kind::kNothing && !op->write.dry_run;
    if (to_send) return Send(op);
    // Nothing will compare what this answer depends on, so it must be current.
    const bool may_be_old = follower_.AsksStore() || !follower_.Ready();
    if (may_be_old && !op->verified) return Verify(op);
    if (refusal && refusal->answered && !op->write.dry_run) refusal->answered();
    base::Result<Written> result =
        refusal ? base::Result<Written>(tl::unexpected(std::move(refusal->error))) : Foresee(*op);
    Settle(*op, false);
    return Finish(op, std::move(result), ready);
  }
}

std::optional<Refusal> Sequencer::Impl::Decide(Op& op, const state::Snapshot& snapshot,
                                               bool& by_guard) {
  op.decision = {};
  op.guarded.clear();
  op.current = snapshot.Find(op.write.key);
  const auto ask = [&](const std::vector<Guard>& guards) -> std::optional<base::Error> {
    for (const Guard& guard : guards) {
      op.guarded.push_back({.key = &guard.key, .object = snapshot.Find(guard.key)});
      std::optional<base::Error> refusal = guard.check(op.guarded.back().object);
      by_guard = refusal.has_value();
      if (refusal) return refusal;
    }
    return std::nullopt;
  };
  if (auto refusal = ask(op.write.guards)) return refusal;
  if (!op.current && follower_.IsUndecodable(op.write.key)) {
    return base::Error{.reason = base::Reason::kInternalError,
                       .message = "what is stored under " + op.write.key + " cannot be decoded"};
  }
  tl::expected<Decision, Refusal> decision = op.write.transform(op.current);
  if (!decision) return std::move(decision.error());
  op.decision = std::move(*decision);
  const bool gone = op.decision.kind == Decision::Kind::kDelete && !op.current;
  if (gone) op.decision.kind = Decision::Kind::kNothing;
  return ask(op.decision.guards);
}

/// Whether it does; else what it would have waited for has happened meanwhile.
bool Sequencer::Impl::WaitsForOthers(const OpPtr& op, const Refusal& refusal) {
  return refusal.wait([self = shared_from_this(), op] { self->Inside([&] { self->Resume(op); }); });
}

/// Whether the guard that refused it may be changed by a write that is in the store: then it is
/// decided again when that one is done. Writes that wait themselves are not waited for, so nobody
/// waits in a circle.
bool Sequencer::Impl::WaitsForGuard(const OpPtr& op) {
  base::MutexLock lock(mutex_);
  const auto lane = lanes_.find(*op->guarded.back().key);
  if (lane == lanes_.end() || !lane->second.in_store) return false;
  lane->second.waiting.push_back(op);
  return true;
}

bool Sequencer::Impl::GuardChanged(const Op& op) const {
  const Op::Guarded& last = op.guarded.back();
  return RevisionOf(follower_.Current()->Find(*last.key)) != RevisionOf(last.object);
}

/// Decides again on a snapshot that shows all that was acknowledged before now, anywhere.
void Sequencer::Impl::Verify(const OpPtr& op) {
  Settle(*op, false);
  follower_.CatchUp(op->write.deadline, [self = shared_from_this(),
                                         op](const base::Result<state::SnapshotPtr>& snapshot) {
    self->Inside([&] {
      Ops ready;
      op->verified = true;
      if (snapshot) {
        ready.push_back(op);
      } else {
        self->Finish(op, tl::unexpected(snapshot.error()), ready);
      }
      self->Dispatch(std::move(ready));
    });
  });
}

/// What the write comes to without the store.
Written Sequencer::Impl::Foresee(const Op& op) const {
  Written written{.object = op.current, .revision = RevisionOf(op.current)};
  if (op.decision.kind == Decision::Kind::kDelete) written.kind = Written::Kind::kDeleted;
  if (op.decision.kind == Decision::Kind::kPut) {
    written.kind = op.current ? Written::Kind::kUpdated : Written::Kind::kCreated;
    written.object = MakeObject(op, written.revision);
  }
  return written;
}

void Sequencer::Impl::Send(const OpPtr& op) {
  if (!op->decision.shared.empty()) return SendShared(op);
  store::Txn txn = MakeTxn(*op);
  {
    base::MutexLock lock(mutex_);
    lanes_.find(op->write.key)->second.in_store = true;
  }
  follower_.Engine().Commit(std::move(txn),
                            [self = shared_from_this(), op](const store::TxnReply& reply) {
                              self->Inside([&] { self->OnReply(op, reply); });
                            });
}

/// Records that are taken come before the object and get lower revisions; what is given back comes
/// behind it.
store::Txn Sequencer::Impl::MakeTxn(Op& op) {
  store::Txn txn;
  Decision& decision = op.decision;
  const int64_t before = RevisionOf(op.current);
  txn.compares.reserve(1 + op.guarded.size() + decision.puts.size() + decision.deletes.size() +
                       decision.compares.size());
  txn.puts.reserve(1 + decision.puts.size());
  op.expected.reserve(1 + decision.puts.size());
  AddCompare(txn, op.write.key, before);
  for (const Op::Guarded& guarded : op.guarded) {
    AddCompare(txn, *guarded.key, RevisionOf(guarded.object));
  }
  const bool puts = decision.kind == Decision::Kind::kPut;
  Expect(op, {.key = op.write.key,
              .stored = decision.stored,
              .deletes = !puts,
              .before = before,
              .wire = decision.wire});
  for (ExtraPut& extra : decision.puts) {
    if (extra.expected) AddCompare(txn, extra.key, *extra.expected);
    Expect(op, {.key = extra.key, .stored = extra.stored, .wire = std::move(extra.wire)});
    txn.puts.push_back(
        {.key = std::move(extra.key), .value = std::move(extra.stored), .ttl = extra.ttl});
  }
  op.own_put = txn.puts.size();
  if (puts) {
    txn.puts.push_back(
        {.key = op.write.key, .value = std::move(decision.stored), .ttl = decision.ttl});
  } else {
    txn.deletes.push_back(op.write.key);
  }
  PutInPlace(txn.puts, op.own_put);
  for (ExtraDelete& extra : decision.deletes) {
    if (extra.expected) AddCompare(txn, extra.key, *extra.expected);
    txn.deletes.push_back(std::move(extra.key));
  }
  op.own_compares = txn.compares.size();
  for (Compare& compare : decision.compares) {
    AddCompare(txn, std::move(compare.key), compare.revision);
  }
  return txn;
}

void Sequencer::Impl::Expect(Op& op, state::Expectation expectation) {
  op.expected.push_back(std::make_shared<state::Expectation>(std::move(expectation)));
  follower_.Expect(op.expected.back());
}

state::ObjectPtr Sequencer::Impl::MakeObject(const Op& op, int64_t revision) const {
  const auto identity = follower_.GetResources().Find(op.write.key);
  return identity ? state::Object::Make(*identity, revision, op.decision.wire) : nullptr;
}

}  // namespace berth::commit
