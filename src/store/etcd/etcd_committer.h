// The path of a commit through etcd. Waiting transactions are put in order into one etcd Txn, as
// many as may share it (grouping.h). The Txn is sent on a free lane. Its reply is taken apart and
// handed out. A lane is one etcd Txn in flight, with its own receipt key. While Txns are in flight,
// the next one is sent once as many transactions wait as are in flight (or as fill a Txn), and at
// the latest when nothing is in flight. So the Txns grow with the load, and each costs etcd one
// sync however large it is.
//
// The outcome of a Txn is always resolved (epoch.h, resolver.h). Nothing else is sent meanwhile,
// because the epoch is about to change and etcd does not answer anyway.
//
// Order: of two waiting transactions that may not share a Txn, the earlier one is sent first. Txns
// that are in flight at the same time commit in etcd's order.
//
// Threads: Commit may be called from any thread. One thread at a time has the turn, and with it all
// the state below. When a reply comes, the client's thread takes the turn, so that the next Txn is
// sent without waking another thread. Work that would block is handed to the committer's own
// thread, which also starts the first Txn when nothing is in flight and watches the deadlines.
// Replies are called by the thread that has the turn, never on the thread of another caller (unless
// refused at once).
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
#include "store/etcd/epoch.h"
#include "store/etcd/etcd_context.h"
#include "store/etcd/grouping.h"
#include "store/etcd/leases.h"
#include "store/etcd/marker.h"
#include "store/etcd/resolver.h"

namespace berth::store::etcd {

/// The marker as it was read.
struct MarkerAt {
  Marker marker;
  int64_t mod = 0;
  int64_t created = 0;  // Nothing in the store is older than this.
};

struct CommitterOptions {
  bool group = true;
  size_t lanes = 1;
  size_t max_waiting = 65'536;
  /// A transaction that etcd has not accepted after this time is refused. A transaction whose
  /// outcome is unknown keeps waiting.
  std::chrono::milliseconds timeout{30'000};
  obs::WriteMetrics* metrics = nullptr;
};

class Committer {
 public:
  /// The arguments must outlive the committer. So must the client's pending replies.
  Committer(const Context& context, Epoch& epoch, const CommitterOptions& options,
            const MarkerAt& marker, int64_t epoch_mod);
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  void Commit(Txn txn, std::function<void(TxnReply)> done);

  /// Accepts no more transactions, refuses those that have not been sent, and waits up to `limit`
  /// for those in flight. Then the context's `stop` must be set, and End settles the rest.
  void Drain(std::chrono::milliseconds limit);
  void End();

 private:
  struct Job {
    Txn txn;
    std::function<void(TxnReply)> done;
    Shape shape;
    TxnLeases leases;
    base::SteadyTime deadline;
    bool alone = false;  // A group with this job was refused.
  };
  using JobPtr = std::unique_ptr<Job>;
  using Jobs = std::vector<JobPtr>;

  struct Lane {
    bool busy = false;
    bool lost = false;  // The reply was lost, so the outcome must be resolved.
    /// Set if the reply was lost but nothing is in flight any more, so that a read is enough.
    std::optional<CallError> settled;
    int64_t seen = 0;  // Status::Seen when the Txn was sent.
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

  // These run on any thread.
  void Prepare(JobPtr job);
  void Enqueue(JobPtr job);
  void Arrive(size_t lane, CallResult<etcdserverpb::TxnResponse> reply);
  void Finish(JobPtr job, TxnReply reply);
  void Refuse(JobPtr job, base::Error error);

  // These run on the committer's own thread.
  void Run();
  bool AwaitTurn();

  // These need the turn.
  void Pump(bool may_wait);
  void Absorb();
  void Meanwhile();
  bool PassTurn();
  bool Stuck() const { return lost_ > 0 || epoch_gone_; }
  void Unstick();
  bool MaySend() const;
  bool WorthATxn() const;
  void Fill();
  void Form(Group& group, Jobs& taken);
  void Send(size_t lane, std::unique_ptr<Group> group, Jobs jobs);
  std::vector<int64_t> ModsOf(const Txn& txn) const;
  void Take(Arrival arrival);
  void Disown(Lane& lane);
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
  Epoch& epoch_;
  Leases leases_;
  const Resolver resolver_;
  const CommitterOptions options_;
  const std::string marker_key_;
  const std::string marker_text_;

  std::atomic<size_t> unsettled_ = 0;
  std::atomic<bool> closing_ = false;

  base::Mutex mutex_;
  base::CondVar wake_;
  bool turn_ GUARDED_BY(mutex_) = false;    // A thread has the turn.
  bool handed_ GUARDED_BY(mutex_) = false;  // The committer's own thread must take over the turn.
  bool tend_ GUARDED_BY(mutex_) = false;    // A job waits for which no reply may come.
  bool asleep_ GUARDED_BY(mutex_) = false;
  bool ended_ GUARDED_BY(mutex_) = false;
  std::deque<JobPtr> incoming_ GUARDED_BY(mutex_);
  std::vector<Arrival> arrived_ GUARDED_BY(mutex_);

  // State of the thread that has the turn.
  std::deque<JobPtr> queue_;
  std::vector<Lane> lanes_;
  std::vector<size_t> free_;
  int64_t marker_mod_;
  int64_t epoch_mod_;     // The current epoch.
  size_t under_way_ = 0;  // Number of transactions in flight.
  size_t lost_ = 0;       // Number of lanes whose reply was lost.
  bool epoch_gone_ = false;
  base::SteadyTime paused_until_{};
  Backoff backoff_;
  std::string last_failure_;

  std::thread thread_;
};

}  // namespace berth::store::etcd
