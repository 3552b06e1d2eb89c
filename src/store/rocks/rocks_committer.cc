#include "store/rocks/rocks_committer.h"

#include <rocksdb/perf_level.h>

#include <algorithm>
#include <utility>

#include "store/check.h"
#include "store/rocks/rocks_layout.h"

namespace berth::store::rocks {
namespace {

base::Error ClosingError() {
  return {.reason = base::Reason::kServiceUnavailable, .message = "the store is being closed"};
}

std::vector<KeyHash> HashKeys(const KeyIndex& index, const Txn& txn) {
  std::vector<KeyHash> hashes;
  hashes.reserve(txn.compares.size() + txn.puts.size() + txn.deletes.size());
  for (const Compare& compare : txn.compares) hashes.push_back(index.Hash(compare.key));
  for (const Put& put : txn.puts) hashes.push_back(index.Hash(put.key));
  for (const std::string& key : txn.deletes) hashes.push_back(index.Hash(key));
  return hashes;
}

TxnReply Refused(base::Error error) {
  return TxnReply{.outcome = Outcome::kRefused, .error = std::move(error)};
}

}  // namespace

Committer::Committer(Options options, const Parts& parts, Revision last, uint64_t history_bytes)
    : options_(std::move(options)),
      parts_(parts),
      group_(options_.database.directory, parts.index),
      next_{last.value + 1},
      next_history_step_(history_bytes + options_.history_step),
      history_bytes_(history_bytes),
      thread_([this] { Run(); }) {}

// Called by other threads.

void Committer::Commit(Txn txn, std::function<void(TxnReply)> done) {
  if (auto broken = CheckTxn(txn)) {
    done(Refused(std::move(*broken)));
    return;
  }
  Waiting waiting{.txn = std::move(txn), .done = std::move(done)};
  waiting.hashes = HashKeys(parts_.index, waiting.txn);
  base::MutexLock lock(mutex_);
  auto error = WhyNot();
  if (!error && queue_.size() >= options_.max_waiting) {
    error = base::Error{.reason = base::Reason::kTooManyRequests,
                        .message = "too many writes wait for the disk; try again later"};
  }
  if (error) {
    lock.Unlock();
    waiting.done(Refused(std::move(*error)));
    return;
  }
  queue_.push_back(std::move(waiting));
  if (idle_) work_.NotifyOne();
}

void Committer::Do(Chore chore) {
  base::MutexLock lock(mutex_);
  if (auto error = WhyNot()) {
    lock.Unlock();
    chore.done(tl::unexpected(std::move(*error)));
    return;
  }
  chores_.push_back(std::move(chore));
  if (idle_) work_.NotifyOne();
}

/// Returns why nothing more is taken. Returns nullopt if writes are taken.
std::optional<base::Error> Committer::WhyNot() const {
  if (stop_) return ClosingError();
  if (refusing_) return trouble_;
  return std::nullopt;
}

void Committer::RaiseHorizon(Revision upto, Fill also, Done<void> done) {
  Do({.fill =
          [this, upto, also = std::move(also)](const Database& database,
                                               rocksdb::WriteBatch& batch) {
            const Number note = EncodeRevision(std::max(upto, parts_.horizon.Get()));
            batch.Put(database.Handle(Family::kNotes), std::string(kCompactedNote), View(note));
            if (also) also(database, batch);
          },
      .done =
          [this, upto, done = std::move(done)](base::Result<void> written) {
            if (written) {
              parts_.horizon.Raise(upto);
              parts_.ring.SetCompacted(upto);
            }
            done(std::move(written));
          }});
}

void Committer::WakeWatches() {
  base::MutexLock lock(mutex_);
  wake_watches_ = true;
  if (idle_) work_.NotifyOne();
}

void Committer::NoteBackgroundError(const rocksdb::Status& status) {
  base::MutexLock lock(mutex_);
  if (!background_error_) background_error_ = status;
  if (idle_) work_.NotifyOne();
}

Health Committer::GetHealth() const {
  auto error = Trouble();
  if (!error) error = parts_.disk.Refusal();
  if (!error) return Health{};
  return Health{.writable = false, .why = error->message};
}

void Committer::Stop() {
  {
    base::MutexLock lock(mutex_);
    stop_ = true;
    work_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

// Run by the thread.

void Committer::Run() {
  // Berth does not use RocksDB's counters, and RocksDB would count each comparison of keys.
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  while (TakeWork()) WorkOff();
  RefuseAll(ClosingError());
  if (unsealed_) Seal();
}

/// Waits for something to do. Returns false when it is time to stop.
bool Committer::TakeWork() {
  base::MutexLock lock(mutex_);
  while (!stop_ && queue_.empty() && chores_.empty() && !wake_watches_ && !background_error_) {
    idle_ = true;
    work_.Wait(mutex_);
  }
  idle_ = false;
  if (stop_) return false;
  // Swapping keeps the capacity of both vectors.
  taken_.clear();
  taken_.swap(queue_);
  next_taken_ = 0;
  if (!chores_.empty()) {
    chore_ = std::move(chores_.front());
    chores_.pop_front();
  }
  wake_now_ = std::exchange(wake_watches_, false);
  background_ = std::exchange(background_error_, std::nullopt);
  return true;
}

void Committer::WorkOff() {
  if (background_) {
    group_.Begin(parts_.gate.Get(), next_, 0);
    Recover(*std::exchange(background_, std::nullopt));
  }
  while (next_taken_ < taken_.size() || chore_) RunGroup();
  if (wake_now_) parts_.ring.Append({}, parts_.index.Published(), true);
  if (unsealed_ && NothingWaits()) Seal();
}

void Committer::RunGroup() {
  if (auto trouble = Trouble()) {
    RefuseAll(*trouble);
    return;
  }
  if (const auto full = parts_.disk.Refusal()) {
    for (; next_taken_ < taken_.size(); ++next_taken_) taken_[next_taken_].done(Refused(*full));
    if (parts_.disk.IsExhausted()) FailChore(*full);
  }
  FillGroup();
  if (group_.Batch().Count() > 0) {
    const rocksdb::Status status = WriteGroup();
    if (!status.ok()) {
      Recover(status);
      return;
    }
    unsealed_ = options_.sync;
    Publish();
  }
  group_.Reply();
  if (chore_) std::exchange(chore_, std::nullopt)->done({});
}

rocksdb::Status Committer::WriteGroup() {
  rocksdb::WriteOptions options;
  options.sync = options_.sync;
  const base::SteadyTime began = parts_.clock.Steady();
  const rocksdb::Status status = parts_.gate.Get().Db().Write(options, &group_.Batch());
  if (options_.metrics != nullptr) {
    options_.metrics->store.Observe(parts_.clock.Steady() - began);
    if (group_.HasReplies()) options_.metrics->store_shared.Observe(group_.Transactions());
  }
  return status;
}

void Committer::FillGroup() {
  group_.Begin(parts_.gate.Get(), next_, NowMillis(parts_.clock));
  if (chore_) chore_->fill(parts_.gate.Get(), group_.Batch());
  while (next_taken_ < taken_.size() && !group_.IsFull()) {
    group_.Add(std::move(taken_[next_taken_++]));
  }
  group_.Finish();
  next_ = group_.Next();
}

/// Makes a durable group visible to readers and watches.
void Committer::Publish() {
  if (!group_.HasEvents()) return;
  const Revision last{group_.Next().value - 1};
  parts_.index.Publish(group_.Changes(), last);
  parts_.ring.AppendShared(group_.TakeEvents(), last);
  const uint64_t bytes = history_bytes_.load(std::memory_order_relaxed) + group_.HistoryBytes();
  history_bytes_.store(bytes, std::memory_order_relaxed);
  if (bytes < next_history_step_ || !options_.on_history_step) return;
  next_history_step_ = bytes + options_.history_step;
  options_.on_history_step();
}

void Committer::Seal() {
  unsealed_ = false;
  rocksdb::WriteBatch seal;
  seal.PutLogData("seal");
  const rocksdb::Status status = parts_.gate.Get().Db().Write(rocksdb::WriteOptions(), &seal);
  if (status.ok()) return;
  group_.Begin(parts_.gate.Get(), next_, 0);
  Recover(status);
}

bool Committer::NothingWaits() const {
  base::MutexLock lock(mutex_);
  return queue_.empty() && chores_.empty();
}

void Committer::FailChore(const base::Error& error) {
  if (chore_) std::exchange(chore_, std::nullopt)->done(tl::unexpected(error));
}

/// Refuses everything that was taken and everything that waits, except the group.
void Committer::RefuseAll(const base::Error& error) {
  std::vector<Waiting> queue;
  std::deque<Chore> chores;
  {
    base::MutexLock lock(mutex_);
    queue.swap(queue_);
    chores.swap(chores_);
  }
  for (; next_taken_ < taken_.size(); ++next_taken_) taken_[next_taken_].done(Refused(error));
  FailChore(error);
  for (Waiting& waiting : queue) waiting.done(Refused(error));
  for (Chore& chore : chores) chore.done(tl::unexpected(error));
}

}  // namespace berth::store::rocks
