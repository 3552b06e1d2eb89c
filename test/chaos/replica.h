// One replica of Berth as far as the store is concerned: an etcd engine that can be closed and
// opened again at any time, as a restarted process would be. Callers may use it all the time. While
// it is closed, reads fail and commits are refused. Watches end with an error and must be started
// again. The replies of commits are also recorded in a Journal.
//
// Threads: as for store::Engine; Open and Close are called one at a time.
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
#include "store/etcd/etcd_client.h"
#include "store/etcd/etcd_engine.h"

namespace berth::chaos {

/// The outcomes of the commits of all replicas, even if the caller does not wait for them any more.
/// Threads: any.
class Journal {
 public:
  using Clock = std::chrono::steady_clock;

  /// Forgets everything. The first gap begins.
  void Start() EXCLUDES(mutex_);

  void Called() EXCLUDES(mutex_);
  void Returned(const store::Txn& txn, const store::TxnReply& reply) EXCLUDES(mutex_);

  /// Waits until every commit is answered. Returns false if one is not answered within the limit.
  bool AwaitQuiet(std::chrono::milliseconds limit) EXCLUDES(mutex_);

  /// Returns the reply of the transaction whose first put this is, if it has one. Values are
  /// distinct.
  std::optional<store::TxnReply> ReplyOf(const store::Put& first) const EXCLUDES(mutex_);

  /// Returns the longest time without a commit of any replica.
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
  /// The arguments passed by reference must outlive the replica.
  Replica(store::etcd::ClientOptions client, store::etcd::EtcdOptions options, Journal& journal,
          base::Logger& log, const base::Clock& clock);
  ~Replica() override;

  base::Result<void> Open();
  void Close();
  bool IsOpen() const { return Now() != nullptr; }

  void Get(std::string key, store::Done<std::optional<store::Entry>> done) override;
  void Scan(store::ScanRequest request, store::Done<store::ScanPage> done) override;
  void Commit(store::Txn txn, std::function<void(store::TxnReply)> done) override;
  std::unique_ptr<store::Watch> Follow(store::Revision after, std::function<void()> wake) override;
  base::Result<store::WatchBatch> ReadHistory(const store::HistoryRequest& request) override;
  void Current(store::Done<store::Revision> done) override;
  void RequestProgress() override;
  void Compact(store::Revision upto, store::Done<void> done) override;
  store::Health GetHealth() const override;

 private:
  class ReplicaWatch;
  struct OpenWatch;
  using EnginePtr = std::shared_ptr<store::etcd::EtcdEngine>;

  /// Returns null while the replica is closed. The caller must release it when its call has
  /// returned.
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
