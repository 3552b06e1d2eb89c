// The sequencer's insides: who waits for whom (sequencer.cc), how a write is decided and sent
// (sequencer_attempt.cc), what becomes of it (sequencer_outcome.cc), and both for writes with
// shared puts (sequencer_shared.cc, sequencer_shared_outcome.cc). Internal to commit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "commit/merged_txn.h"
#include "commit/sequencer.h"
#include "state/text_map.h"
#include "store/types.h"

namespace berth::commit {

/// A write on its way. One thread at a time has it, but for what the sequencer's mutex guards.
struct Op {
  Write write = {};

  // The attempt under way.
  state::ObjectPtr current = {};
  /// What a guard was shown. Its key is the guard's own.
  struct Guarded {
    const std::string* key = nullptr;
    state::ObjectPtr object = {};
  };
  std::vector<Guarded> guarded = {};  // Of each that was asked.
  Decision decision = {};
  std::vector<state::ExpectationPtr> expected = {};  // The object's own comes first.
  size_t own_compares = 0;  // These come first; those behind them are of what many depend on.
  size_t own_put = 0;       // Its place in the transaction, if the object is put.
  int64_t revision = 0;     // Committed: of the object's event.

  base::SteadyTime came = {};     // Only when it is measured: when it was submitted,
  base::SteadyTime replied = {};  // and when the store said that it is durable.

  int conflicts = 0;
  int shared_conflicts = 0;  // That were not its own.
  bool alone = false;        // Is not merged with others any more.
  uint64_t turn = 0;         // Its place among those with shared puts; 0: it has none yet.
  bool verified = false;     // The snapshot shows all that was acknowledged before the write came.

  // Guarded by the sequencer's mutex.
  Done done = {};  // Empty: answered.
};

using OpPtr = std::shared_ptr<Op>;
using Ops = std::vector<OpPtr>;

base::Error ConflictsError();
base::Error UnknownError();

class Sequencer::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(state::Follower& follower, SequencerOptions options)
      : follower_(follower), options_(std::move(options)) {}

  void Submit(Write write, Done done);
  void Close();
  Stats GetStats() const;
  state::Follower& GetFollower() const { return follower_; }

 private:
  /// The writes of one object; the first is under way.
  struct Lane {
    std::deque<OpPtr> queue = {};
    bool in_store = false;
    Ops waiting = {};  // Writes of other objects that were refused for what this one may change.
  };
  using Deadlines = std::set<std::pair<base::SteadyTime, OpPtr>>;

  // Who waits for whom.
  std::optional<base::Error> Enqueue(const OpPtr& op, bool& first) EXCLUDES(mutex_);
  void ScheduleTick(base::SteadyTime at) EXCLUDES(mutex_);
  void Tick() EXCLUDES(mutex_);
  /// Runs these on, here, until each waits for something.
  void Drive(Ops ready) EXCLUDES(mutex_);
  /// The same where transforms may run; for threads that are not the writer's own.
  void Dispatch(Ops ready) EXCLUDES(mutex_);
  /// Goes on with a write that waited for others, in the order in which these are called.
  void Resume(const OpPtr& op) EXCLUDES(mutex_);
  void DriveResumed() EXCLUDES(mutex_);
  /// Answers, and adds those that can go on now to `ready`.
  void Finish(const OpPtr& op, base::Result<Written> result, Ops& ready) EXCLUDES(mutex_);
  void LeaveStore(const OpPtr& op, Ops& ready) EXCLUDES(mutex_);
  bool Answered(const Op& op) const EXCLUDES(mutex_);

  // One attempt.
  void Attempt(const OpPtr& op, Ops& ready);
  /// Fills in the attempt. What refuses it, and whether that is the guard that was asked last.
  std::optional<Refusal> Decide(Op& op, const state::Snapshot& snapshot, bool& by_guard);
  bool WaitsForOthers(const OpPtr& op, const Refusal& refusal);
  bool WaitsForGuard(const OpPtr& op) EXCLUDES(mutex_);
  bool GuardChanged(const Op& op) const;
  void Verify(const OpPtr& op);
  Written Foresee(const Op& op) const;
  void Send(const OpPtr& op);
  store::Txn MakeTxn(Op& op);
  void Expect(Op& op, state::Expectation expectation);

  // What became of it.
  void OnReply(const OpPtr& op, const store::TxnReply& reply);
  void OnCommitted(const OpPtr& op, const store::TxnReply& reply);
  void AwaitApplied(const OpPtr& op, int64_t revision);
  void OnConflict(const OpPtr& op, const store::TxnReply& reply);
  void DecideAgain(const OpPtr& op, int& conflicts);
  bool IsTooMany(const Op& op) const;
  void Resolve(const OpPtr& op);
  void OnResolved(const OpPtr& op, const state::Snapshot& snapshot, Ops& ready);
  void OnApplied(const OpPtr& op, const state::Snapshot& snapshot, Ops& ready);
  void Measure(const Op& op) const;
  /// The attempt is over. Nothing of it is expected any more, and what it took is settled.
  void Settle(Op& op, bool committed);
  state::ObjectPtr MakeObject(const Op& op, int64_t revision) const;

  // Writes with shared puts.
  struct Unmerged {
    OpPtr op = {};
    std::optional<store::Txn> txn = {};  // From the first time that it was tried.
  };
  /// A transaction in the store.
  struct Merged {
    Ops ops = {};
    std::vector<MergedTxn::Part> parts = {};  // Of each.
    std::vector<MergedTxn::Key> keys = {};
    size_t first_shared_compare = 0;
  };
  using MergedPtr = std::shared_ptr<const Merged>;

  void SendShared(const OpPtr& op) EXCLUDES(mutex_);
  /// Sends what can be sent, unless somebody is at it.
  void Merge() EXCLUDES(mutex_);
  void DispatchMerge() EXCLUDES(mutex_);
  void Enter(OpPtr op);
  bool MergeNext(Ops& ready);
  bool AllBlocked(const state::TextSet& blocked) const;
  bool IsBlocked(const Op& op, state::TextSet& blocked) const;
  std::list<Unmerged>::iterator Remove(std::list<Unmerged>::iterator at);
  void SendMerged(Ops ops, MergedTxn::Taken taken);
  void OnMergedReply(const MergedPtr& merged, const store::TxnReply& reply);
  void OnMergedCommitted(const MergedPtr& merged, const store::TxnReply& reply);
  void OnMergedConflict(const MergedPtr& merged, const store::TxnReply& reply);
  void OnMergedRefused(const MergedPtr& merged, const base::Error& error);
  void AwaitMergedApplied(const MergedPtr& merged, int64_t revision);
  void TakeOut(const OpPtr& op, Ops& ready);
  void VerifyMerged(const MergedPtr& merged, Ops ready);
  void GoOn(const MergedPtr& merged, Ops ready);
  void ResolveMerged(const MergedPtr& merged);
  void OnMergedResolved(const MergedPtr& merged, const state::Snapshot& snapshot);
  void CatchUpFor(std::function<void(const state::Snapshot&)> call);
  /// Its keys are free for the next one.
  void Leave(const Merged& merged) EXCLUDES(mutex_);

  /// Calls it unless the sequencer is closed, and keeps it from being closed meanwhile.
  template <typename Call>
  void Inside(Call&& call) EXCLUDES(mutex_) {
    {
      base::MutexLock lock(mutex_);
      if (closed_) return;
      ++inside_;
    }
    call();
    base::MutexLock lock(mutex_);
    if (--inside_ == 0) left_.NotifyAll();
  }

  state::Follower& follower_;
  const SequencerOptions options_;

  mutable base::Mutex mutex_;
  base::CondVar left_;
  bool closed_ GUARDED_BY(mutex_) = false;
  size_t inside_ GUARDED_BY(mutex_) = 0;
  state::TextMap<Lane> lanes_ GUARDED_BY(mutex_);
  size_t waiting_ GUARDED_BY(mutex_) = 0;
  Ops resumed_ GUARDED_BY(mutex_);
  bool resuming_ GUARDED_BY(mutex_) = false;                  // Somebody is at them.
  Ops to_merge_ GUARDED_BY(mutex_);                           // New ones,
  std::vector<MergedTxn::Key> keys_left_ GUARDED_BY(mutex_);  // and keys that have become free.
  bool merging_ GUARDED_BY(mutex_) = false;                   // Somebody is at them.
  Deadlines deadlines_ GUARDED_BY(mutex_);
  base::SteadyTime tick_at_ GUARDED_BY(mutex_) = base::SteadyTime::max();
  Stats stats_ GUARDED_BY(mutex_);

  // Of whoever is merging.
  std::list<Unmerged> unmerged_;  // By turn.
  uint64_t turns_ = 0;
  state::TextMap<size_t> wanted_;  // How many of them want each shared key.
  state::TextSet busy_;            // Shared keys of transactions in the store.
};

}  // namespace berth::commit
