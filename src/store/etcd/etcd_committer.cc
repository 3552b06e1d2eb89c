#include "store/etcd/etcd_committer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/go_text.h"
#include "store/check.h"
#include "store/etcd/explain.h"
#include "store/keys.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;

/// How many transactions that may not join a group are skipped to find others that may.
constexpr size_t kMaxPassedOver = 256;

/// Longest sleep of the thread while a job waits: it checks deadlines this often.
constexpr std::chrono::milliseconds kLook{100};

/// Returns a key of the transaction that cannot be stored in etcd, or null if all can.
const std::string* Uncovered(const Txn& txn) {
  for (const Compare& compare : txn.compares) {
    if (!KeyMap::Covers(compare.key)) return &compare.key;
  }
  for (const Put& put : txn.puts) {
    if (!KeyMap::Covers(put.key)) return &put.key;
  }
  for (const std::string& key : txn.deletes) {
    if (!KeyMap::Covers(key)) return &key;
  }
  return nullptr;
}

std::optional<base::Error> CheckForEtcd(const Txn& txn) {
  if (auto error = CheckTxn(txn)) return error;
  if (const std::string* key = Uncovered(txn)) {
    return base::Error{
        .reason = base::Reason::kBadRequest,
        .message = fmt::format("the key {} does not begin with {}", base::GoQuoted(*key), kPrefix)};
  }
  return std::nullopt;
}

}  // namespace

Committer::Committer(const Context& context, Epoch& epoch, const CommitterOptions& options,
                     const MarkerAt& marker, int64_t epoch_mod)
    : context_(context),
      epoch_(epoch),
      leases_(context),
      resolver_(context),
      options_(options),
      marker_key_(context.layout.keys.ToEtcd(kMarkerKey)),
      marker_text_(MarkerText(marker.marker)),
      lanes_(options.lanes),
      marker_mod_(marker.mod),
      epoch_mod_(epoch_mod) {
  for (size_t lane = lanes_.size(); lane > 0; --lane) free_.push_back(lane - 1);
  thread_ = std::thread([this] { Run(); });
}

Committer::~Committer() { End(); }

void Committer::Commit(Txn txn, std::function<void(TxnReply)> done) {
  auto job = std::make_unique<Job>();
  job->done = std::move(done);
  ++unsettled_;
  if (auto error = CheckForEtcd(txn)) return Refuse(std::move(job), *std::move(error));
  if (unsettled_ > options_.max_waiting) {
    return Refuse(std::move(job),
                  {.reason = base::Reason::kTooManyRequests,
                   .message = fmt::format("{} writes already wait for etcd; try again later",
                                          options_.max_waiting)});
  }
  if (auto error = context_.status.WriteStop()) return Refuse(std::move(job), *std::move(error));
  job->shape = ShapeOf(txn);
  job->txn = std::move(txn);
  job->deadline = context_.clock.Steady() + options_.timeout;
  Prepare(std::move(job));
}

/// Gets the leases that the job's puts need, one at a time because puts with a ttl are rare. Then
/// queues the job.
void Committer::Prepare(JobPtr job) {
  if (!job->shape.leased) return Enqueue(std::move(job));
  for (const Put& put : job->txn.puts) {
    if (put.ttl.count() == 0 || leases_.IsFresh(put.ttl, job->leases[put.ttl])) continue;
    const auto ttl = put.ttl;
    const auto keys =
        static_cast<size_t>(std::count_if(job->txn.puts.begin(), job->txn.puts.end(),
                                          [ttl](const Put& other) { return other.ttl == ttl; }));
    // std::function needs a copyable target.
    auto shared = std::make_shared<JobPtr>(std::move(job));
    leases_.Get(ttl, keys, [this, ttl, shared](CallResult<Lease> lease) {
      JobPtr waiting = std::move(*shared);
      if (!lease) return Refuse(std::move(waiting), ExplainWrite(lease.error(), context_));
      if (context_.clock.Steady() >= waiting->deadline) {
        return Refuse(std::move(waiting), {.reason = base::Reason::kTimeout,
                                           .message = "etcd grants leases too slowly"});
      }
      waiting->leases[ttl] = *lease;
      Prepare(std::move(waiting));
    });
    return;
  }
  Enqueue(std::move(job));
}

void Committer::Enqueue(JobPtr job) {
  {
    base::MutexLock lock(mutex_);
    if (!closing_) {
      incoming_.push_back(std::move(job));
      if (!turn_ && asleep_) wake_.NotifyAll();
      return;
    }
  }
  Refuse(std::move(job), ClosingError());
}

void Committer::Arrive(size_t lane, CallResult<pb::TxnResponse> reply) {
  {
    base::MutexLock lock(mutex_);
    arrived_.push_back({.lane = lane, .reply = std::move(reply)});
    if (turn_) return;  // The thread that has the turn looks again before it passes it on.
    turn_ = true;
  }
  Pump(/*may_wait=*/false);
}

void Committer::Finish(JobPtr job, TxnReply reply) {
  --unsettled_;
  job->done(std::move(reply));
}

void Committer::Refuse(JobPtr job, base::Error error) {
  TxnReply reply{.outcome = Outcome::kRefused};
  reply.error = std::move(error);
  Finish(std::move(job), std::move(reply));
}

void Committer::Drain(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  base::MutexLock lock(mutex_);
  closing_ = true;
  wake_.NotifyAll();
  while (!ended_ && std::chrono::steady_clock::now() < end) wake_.WaitFor(mutex_, kStopPoll);
}

void Committer::End() {
  {
    base::MutexLock lock(mutex_);
    closing_ = true;
    wake_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void Committer::Run() {
  while (AwaitTurn()) Pump(/*may_wait=*/true);
  SettleRest();
}

/// Waits until this thread has something to do. It then has the turn. Returns false at the end;
/// then this thread keeps the turn for good.
bool Committer::AwaitTurn() {
  base::MutexLock lock(mutex_);
  for (bool slept = false;; slept = true) {
    const bool work = !incoming_.empty() || !arrived_.empty() || slept || closing_;
    if (std::exchange(handed_, false) || (!turn_ && work)) break;
    asleep_ = true;
    if (closing_ || tend_) {
      wake_.WaitFor(mutex_, closing_ ? kStopPoll : kLook);
    } else {
      wake_.Wait(mutex_);
    }
    asleep_ = false;
  }
  turn_ = true;
  return !closing_ || (free_.size() < lanes_.size() && !context_.stop) || !arrived_.empty();
}

void Committer::Pump(bool may_wait) {
  do {
    Absorb();
    std::vector<Arrival> arrived;
    {
      base::MutexLock lock(mutex_);
      arrived.swap(arrived_);
    }
    for (Arrival& arrival : arrived) Take(std::move(arrival));
    if (Stuck()) {
      if (!may_wait) {
        base::MutexLock lock(mutex_);
        handed_ = true;
        wake_.NotifyAll();
        return;
      }
      Unstick();
    }
    if (closing_) RefuseAll(ClosingError());
    RefuseOverdue();
    Fill();
  } while (!PassTurn());
}

void Committer::Absorb() {
  base::MutexLock lock(mutex_);
  std::move(incoming_.begin(), incoming_.end(), std::back_inserter(queue_));
  incoming_.clear();
}

/// Refuses other jobs in time while the outcome of lost ones is being resolved.
void Committer::Meanwhile() {
  Absorb();
  if (closing_) RefuseAll(ClosingError());
  RefuseOverdue();
}

/// Returns false if there is more to do.
bool Committer::PassTurn() {
  base::MutexLock lock(mutex_);
  if (!incoming_.empty() || !arrived_.empty()) return false;
  turn_ = false;
  const bool tended = std::exchange(tend_, !queue_.empty() || Stuck());
  if ((tend_ && !tended) || closing_) wake_.NotifyAll();
  return true;
}

bool Committer::MaySend() const {
  return !queue_.empty() && !free_.empty() && !Stuck() && WorthATxn() &&
         context_.clock.Steady() >= paused_until_;
}

bool Committer::WorthATxn() const {
  return !options_.group ||
         queue_.size() >= std::min<size_t>(under_way_, context_.layout.max_txn_ops);
}

void Committer::Fill() {
  if (queue_.empty()) return;
  if (auto error = context_.status.WriteStop()) return RefuseAll(*error);
  while (MaySend()) {
    auto group = std::make_unique<Group>(context_.layout);
    Jobs taken;
    Form(*group, taken);
    if (taken.empty()) continue;  // All candidates were refused or wait for a lease.
    const size_t lane = free_.back();
    free_.pop_back();
    Send(lane, std::move(group), std::move(taken));
  }
}

void Committer::Form(Group& group, Jobs& taken) {
  Jobs passed_over;
  KeySet passed_keys;
  while (!queue_.empty() && !group.Full() && passed_over.size() < kMaxPassedOver) {
    JobPtr job = std::move(queue_.front());
    queue_.pop_front();
    const bool stale = std::any_of(job->leases.begin(), job->leases.end(), [this](const auto& of) {
      return !leases_.IsFresh(of.first, of.second);
    });
    if (stale) {
      Prepare(std::move(job));
      continue;
    }
    Group::Added added = Group::Added::kNoRoom;
    if (taken.empty() || (!job->alone && !passed_keys.Clashes(job->shape))) {
      added = group.Add(job->txn, job->shape, ModsOf(job->txn), job->leases);
    }
    if (added == Group::Added::kYes) {
      taken.push_back(std::move(job));
      if (!options_.group || taken.front()->alone) break;
    } else if (added == Group::Added::kNever) {
      Refuse(std::move(job), group.WhyNever());
    } else {
      passed_keys.Add(job->shape);
      passed_over.push_back(std::move(job));
    }
  }
  Requeue(std::move(passed_over));
}

/// Returns the mod_revisions to compare with in etcd; see known.h.
std::vector<int64_t> Committer::ModsOf(const Txn& txn) const {
  std::vector<int64_t> mods;
  mods.reserve(txn.compares.size());
  for (const Compare& compare : txn.compares) {
    if (!compare.revision) {
      mods.push_back(0);
      continue;
    }
    const EventPosition position = context_.layout.revisions.Of(compare.revision);
    const bool known = position.mod != 0 && position.slot < kFirstDeleteSlot &&
                       context_.known.Has(compare.key, compare.revision);
    mods.push_back(known ? position.mod : kNeverMod);
  }
  return mods;
}

void Committer::Send(size_t number, std::unique_ptr<Group> group, Jobs jobs) {
  Lane& lane = lanes_[number];
  lane.busy = true;
  lane.seen = context_.status.Seen();
  lane.sent = context_.clock.Steady();
  lane.envelope = {.marker_key = marker_key_,
                   .marker_mod = marker_mod_,
                   .epoch_key = epoch_.Key(),
                   .epoch_mod = epoch_mod_,
                   .receipt_key = epoch_.ReceiptKey(number),
                   .receipt = std::to_string(++lane.count)};
  lane.group = std::move(group);
  under_way_ += jobs.size();
  lane.jobs = std::move(jobs);
  context_.client.Txn(
      lane.group->TakeRequest(lane.envelope),
      [this, number](CallResult<pb::TxnResponse> reply) { Arrive(number, std::move(reply)); });
}

void Committer::Take(Arrival arrival) {
  Lane& lane = lanes_[arrival.lane];
  if (!arrival.reply) return Failed(lane, arrival.reply.error());
  const pb::TxnResponse& response = *arrival.reply;
  // A write has a revision of its own, above all that was seen before it was sent.
  const bool wrote = response.succeeded();
  const bool known = context_.status.Check(response.header(), lane.seen + (wrote ? 1 : 0));
  if (wrote && !known) return Disown(lane);
  const Unpacked unpacked = lane.group->Unpack(response, lane.envelope);
  switch (unpacked.kind) {
    case Unpacked::Kind::kDecided:
      context_.status.Fine(Status::Area::kWrites);
      backoff_.Reset();
      last_failure_.clear();
      Measure(lane);
      return Settle(lane, response.header().revision(), unpacked.members);
    case Unpacked::Kind::kEnvelope:
      return MeetEnvelope(lane, unpacked);
    case Unpacked::Kind::kMalformed:
      context_.log.Error("etcd's answer does not match the transaction");
      Lose(lane);
  }
}

void Committer::Measure(const Lane& lane) {
  if (options_.metrics == nullptr) return;
  options_.metrics->store.Observe(context_.clock.Steady() - lane.sent);
  options_.metrics->store_shared.Observe(lane.jobs.size());
}

Committer::Jobs Committer::Free(Lane& lane) {
  lane.busy = false;
  if (std::exchange(lane.lost, false)) --lost_;
  lane.settled.reset();
  lane.group.reset();
  free_.push_back(static_cast<size_t>(&lane - lanes_.data()));
  under_way_ -= lane.jobs.size();
  return std::exchange(lane.jobs, {});
}

void Committer::Settle(Lane& lane, int64_t mod, const std::vector<MemberResult>& results) {
  auto replies = lane.group->Replies(mod, results);
  NoteRevisions(*lane.group, results, replies);
  Jobs jobs = Free(lane);
  Jobs again;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (replies[i]) {
      Finish(std::move(jobs[i]), *std::move(replies[i]));
    } else {
      again.push_back(std::move(jobs[i]));
    }
  }
  Requeue(std::move(again));
}

void Committer::NoteRevisions(const Group& group, const std::vector<MemberResult>& results,
                              const std::vector<std::optional<TxnReply>>& replies) {
  for (size_t i = 0; i < results.size(); ++i) {
    for (const auto& kv : results[i].compared) {
      if (!kv) continue;
      const Entry entry = context_.layout.EntryOf(*kv);
      context_.known.Note(entry.key, entry.revision);
    }
    if (!replies[i]) continue;
    const std::vector<Put>& puts = group.Members()[i].txn->puts;
    for (size_t put = 0; put < replies[i]->puts.size(); ++put) {
      context_.known.Note(puts[put].key, replies[i]->puts[put]);
    }
  }
}

/// Ends the jobs of a Txn that was answered by another time line.
void Committer::Disown(Lane& lane) {
  const auto why = context_.status.ReadStop();
  for (JobPtr& job : Free(lane)) {
    TxnReply reply;
    if (why) reply.error = *why;
    Finish(std::move(job), std::move(reply));
  }
}

/// Puts jobs at the front of the queue in order, because they came before the waiting ones.
void Committer::Requeue(Jobs jobs) {
  queue_.insert(queue_.begin(), std::make_move_iterator(jobs.begin()),
                std::make_move_iterator(jobs.end()));
}

void Committer::RefuseOverdue() {
  const base::SteadyTime now = context_.clock.Steady();
  while (!queue_.empty() && queue_.front()->deadline <= now) {
    JobPtr job = std::move(queue_.front());
    queue_.pop_front();
    Refuse(std::move(job),
           {.reason = base::Reason::kTimeout,
            .message = fmt::format(
                "etcd did not take the write within {} s; it did not happen{}{}",
                std::chrono::duration_cast<std::chrono::seconds>(options_.timeout).count(),
                last_failure_.empty() ? "" : ". The last error was: ", last_failure_)});
  }
}

void Committer::RefuseAll(const base::Error& error) {
  for (JobPtr& job : std::exchange(queue_, {})) Refuse(std::move(job), error);
}

/// Settles the remaining jobs. The engine closes and can no longer learn their outcome.
void Committer::SettleRest() {
  std::deque<JobPtr> late;
  {
    base::MutexLock lock(mutex_);
    ended_ = true;
    late.swap(incoming_);  // They came before closing began.
    wake_.NotifyAll();
  }
  for (JobPtr& job : late) Refuse(std::move(job), ClosingError());
  for (Lane& lane : lanes_) {
    if (!lane.busy) continue;
    for (JobPtr& job : Free(lane)) {
      TxnReply reply;
      reply.error = {.reason = base::Reason::kTimeout,
                     .message = "the store closed before etcd said whether the write happened"};
      Finish(std::move(job), std::move(reply));
    }
  }
}

}  // namespace berth::store::etcd
