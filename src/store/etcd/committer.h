// The way of a commit through etcd: transactions that wait are put, in order and as many as may
// share it, into one etcd Txn (grouping.h), which is sent on a free lane; its reply is taken apart
// and handed out. A lane is one etcd Txn under way, with a receipt key of its own. While
// some are under way, the next is sent once as many transactions wait as are under way (or as fill
// it), at the latest when nothing is under way any more: the busier, the larger the Txns, and each
// costs etcd a sync however much is in it.
//
// What became of a Txn is always found out (fence.h, resolver.h); nothing else is sent meanwhile,
// because the epoch is about to change and etcd does not answer anyway.
//
// Order: of two transactions that wait and may not share a Txn the earlier is sent first. What is
// under way at the same time commits in etcd's order.
//
// Threads: Commit may be called from any thread. One thread at a time has the turn, and with it all
// the state below. When a reply comes, the client's thread takes the turn, so that the next Txn is
// on its way without waking anybody; what would have to wait is handed to the committer's own
// thread, which also begins when nothing is under way and watches the deadlines. Replies are called
// by whoever has the turn, never on the thread of another caller (unless refused at once).
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "obs/write_metrics.h"
#include "store/etcd/await.h"
#include "store/etcd/context.h"
#include "store/etcd/fence.h"
#include "store/etcd/grouping.h"
#include "store/etcd/leases.h"
#include "store/etcd/marker.h"
#include "store/etcd/resolver.h"

namespace berth::store::etcd {

/// The marker as it was read.
struct MarkerAt {
  Marker marker;
  int64_t mod = 0;
  int64_t created = 0;  // Nothing of the store is older than this.
};

struct CommitterOptions {
  bool group = true;
  size_t lanes = 1;
  size_t max_waiting = 65'536;
  /// A transaction that etcd has not taken after so long is refused; one whose outcome is unknown
  /// waits on.
  std::chrono::milliseconds timeout{30'000};
  obs::WriteMetrics* metrics = nullptr;
};

class Committer {
 public:
  /// The others must outlive it, and so must what the client still has to reply to.
  Committer(const Context& context, Fence& fence, const CommitterOptions& options,
            const MarkerAt& marker, int64_t epoch);
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  void Commit(Txn txn, std::function<void(TxnReply)> done);

  /// Takes no more, refuses what has not been sent, and gives what is under way a moment. Then the
  /// context's `stop` must be set, and End settles the rest.
  void Drain(std::chrono::milliseconds limit);
  void End();

 private:
  struct Job {
    Txn txn;
    std::function<void(TxnReply)> done;
    Shape shape;
    TxnLeases leases;
    base::SteadyTime deadline;
    bool alone = false;  // A group it was in was refused.
  };
  using JobPtr = std::unique_ptr<Job>;
  using Jobs = std::vector<JobPtr>;

  struct Lane {
    bool busy = false;
    bool lost = false;  // The reply, so that it has to be found out.
    std::optional<CallError>
        settled;       // Lost, but nothing is under way any more: reading is enough.
    int64_t seen = 0;  // Status::Seen when it was sent.
    uint64_t count = 0;
    base::SteadyTime sent = {};
    Envelope envelope;
    std::unique_ptr<Group> group;
    Jobs jobs;
  };

  struct Arrival {
    size_t lane = 0;
    CallResult<etcdserverpb::TxnResponse> reply;
  };

  // On any thread.
  void Prepare(JobPtr job);
  void Enqueue(JobPtr job);
  void Arrive(size_t lane, CallResult<etcdserverpb::TxnResponse> reply);
  void Finish(JobPtr job, TxnReply reply);
  void Refuse(JobPtr job, base::Error error);

  // On the committer's own.
  void Run();
  bool AwaitTurn();

  // With the turn.
  void Pump(bool may_wait);
  void Absorb();
  void Meanwhile();
  bool PassTurn();
  bool Stuck() const { return lost_ > 0 || fence_gone_; }
  void Unstick();
  bool MaySend() const;
  bool WorthATxn() const;
  void Fill();
  void Form(Group& group, Jobs& taken);
  void Send(size_t lane, std::unique_ptr<Group> group, Jobs jobs);
  std::vector<int64_t> ModsOf(const Txn& txn) const;
  void Take(Arrival arrival);
  void Measure(const Lane& lane);
  void Settle(Lane& lane, int64_t mod, const std::vector<MemberResult>& results);
  void NoteRevisions(const Group& group, const std::vector<MemberResult>& results,
                     const std::vector<std::optional<TxnReply>>& replies);
  void MeetEnvelope(Lane& lane, const Unpacked& unpacked);
  void Failed(Lane& lane, const CallError& error);
  void Lose(Lane& lane);
  void ResolveLost();
  void Resolved(Lane& lane, const Verdict& verdict);
  void Requeue(Jobs jobs);
  Jobs Free(Lane& lane);
  void RefuseOverdue();
  void RefuseAll(const base::Error& error);
  void SettleRest();

  const Context& context_;
  Fence& fence_;
  Leases leases_;
  const Resolver resolver_;
  const CommitterOptions options_;
  const std::string marker_key_;
  const std::string marker_text_;

  std::atomic<size_t> unsettled_ = 0;
  std::atomic<bool> closing_ = false;

  base::Mutex mutex_;
  base::CondVar wake_;
  bool turn_ GUARDED_BY(mutex_) = false;    // Somebody has it.
  bool handed_ GUARDED_BY(mutex_) = false;  // ...and it is for the own thread to go on.
  bool tend_ GUARDED_BY(mutex_) = false;    // Something waits that no reply may come for.
  bool asleep_ GUARDED_BY(mutex_) = false;
  bool ended_ GUARDED_BY(mutex_) = false;
  std::deque<JobPtr> incoming_ GUARDED_BY(mutex_);
  std::vector<Arrival> arrived_ GUARDED_BY(mutex_);

  // Of whoever has the turn.
  std::deque<JobPtr> queue_;
  std::vector<Lane> lanes_;
  std::vector<size_t> free_;
  int64_t marker_mod_;
  int64_t epoch_;
  size_t under_way_ = 0;  // Transactions.
  size_t lost_ = 0;       // Lanes whose reply is.
  bool fence_gone_ = false;
  base::SteadyTime paused_until_{};
  Backoff backoff_;
  std::string last_failure_;

  std::thread thread_;
};

}  // namespace berth::store::etcd
