// One replica of Berth as far as the store is concerned: an etcd engine that can be closed and
// opened again in the middle of everything, as a restarted process would. Callers keep talking to
// it: while it is closed, reads fail and commits are refused; watches end with an error and have to
// be started again. What commits are told goes to a Journal as well.
//
// Threads: as store::Engine says; Open and Close one at a time.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "store/engine.h"
#include "store/etcd/client.h"
#include "store/etcd/etcd_engine.h"

namespace berth::chaos {

/// What becomes of the commits of all replicas, also of those that nobody waits for any more.
/// Threads: any.
class Journal {
 public:
  using Clock = std::chrono::steady_clock;

  /// Forgets everything; the gap begins.
  void Start() EXCLUDES(mutex_);

  void Called() EXCLUDES(mutex_);
  void Returned(const store::Txn& txn, const store::TxnReply& reply) EXCLUDES(mutex_);

  /// False when a commit is still not answered after so long.
  bool AwaitQuiet(std::chrono::milliseconds limit) EXCLUDES(mutex_);

  /// The reply of the transaction that put this first, if there is one. Values are distinct.
  std::optional<store::TxnReply> ReplyOf(const store::Put& first) const EXCLUDES(mutex_);

  /// The longest time without a commit, whichever replica it came from.
  std::chrono::milliseconds LongestGap() const EXCLUDES(mutex_);

 private:
  mutable base::Mutex mutex_;
  base::CondVar quiet_;
  size_t open_ GUARDED_BY(mutex_) = 0;
  std::map<std::pair<std::string, std::string>, store::TxnReply> replies_ GUARDED_BY(mutex_);
  Clock::time_point last_commit_ GUARDED_BY(mutex_);
  Clock::duration longest_gap_ GUARDED_BY(mutex_){};
};

class Replica final : public store::Engine {
 public:
  /// What it is given by reference must outlive it.
  Replica(store::etcd::ClientOptions client, store::etcd::EtcdOptions options, Journal& journal,
          base::Logger& log, const base::Clock& clock);
  ~Replica() override;

  base::Result<void> Open();
  void Close();
  bool IsOpen() const { return Now() != nullptr; }

  void Get(std::string key, store::Done<std::optional<store::Entry>> done) override;
  void Scan(store::ScanRequest request, store::Done<store::ScanPage> done) override;
  void Commit(store::Txn txn, std::function<void(store::TxnReply)> done) override;
  std::unique_ptr<store::Watch> StartWatch(store::WatchRequest request,
                                           std::function<void()> wake) override;
  void Current(store::Done<store::Revision> done) override;
  void RequestProgress() override;
  void Compact(store::Revision upto, store::Done<void> done) override;
  store::Health GetHealth() const override;

 private:
  class ReplicaWatch;
  struct OpenWatch;
  using EnginePtr = std::shared_ptr<store::etcd::EtcdEngine>;

  /// Null while it is closed. To be let go of when the call has returned.
  EnginePtr Now() const EXCLUDES(mutex_);

  const store::etcd::ClientOptions client_;
  const store::etcd::EtcdOptions options_;
  Journal& journal_;
  base::Logger& log_;
  const base::Clock& clock_;

  mutable base::Mutex mutex_;
  EnginePtr engine_ GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<OpenWatch>> watches_ GUARDED_BY(mutex_);
};

}  // namespace berth::chaos
