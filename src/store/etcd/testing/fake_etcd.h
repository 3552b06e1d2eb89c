// A model of etcd in memory, and a client of it that can lose requests and replies as a network
// does. For tests of everything that a healthy etcd never shows.
//
// The model has the Txn semantics of etcd that the engine relies on: compares of all levels see the
// state before the Txn, a key that is put twice is refused, operations are counted level by level,
// and the events of a revision are in the order of the operations.
//
// Threads: any. Replies and watch responses come on a thread of the client.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "store/etcd/etcd_client.h"
#include "store/etcd/worker.h"

namespace berth::store::etcd::testing {

class FakeEtcd {
 public:
  explicit FakeEtcd(size_t max_txn_ops = 128) : max_txn_ops_(max_txn_ops) {}

  template <typename T>
  using Answer = tl::expected<T, std::string>;  // Or etcd's error text.

  Answer<etcdserverpb::TxnResponse> Txn(const etcdserverpb::TxnRequest& request);
  Answer<etcdserverpb::RangeResponse> Range(const etcdserverpb::RangeRequest& request);
  Answer<etcdserverpb::CompactionResponse> Compact(int64_t revision);
  int64_t Grant(int64_t ttl);
  std::optional<int64_t> GrantedTtl(int64_t lease);
  /// Deletes the lease's keys in one revision.
  void Expire(int64_t lease);

  /// Returns the events of a revision in a key range. Compacted events are missing.
  std::vector<etcdserverpb::Event> Events(int64_t revision, const std::string& begin,
                                          const std::string& end, bool prev_kv);
  int64_t Revision();
  int64_t Compacted();
  /// Simulates a restore from a backup: everything after the revision never happened.
  void GoBackTo(int64_t revision);

 private:
  struct Version {
    etcdserverpb::KeyValue kv;
    bool deleted = false;
  };
  /// The branches that a Txn takes, decided before any of it is done.
  struct Path {
    bool succeeded = false;
    std::vector<Path> nested;  // Of the branch taken, in order.
  };

  std::optional<std::string> Check(const etcdserverpb::TxnRequest& request, size_t ops) const;
  Path Decide(const etcdserverpb::TxnRequest& request) REQUIRES(mutex_);
  bool Holds(const etcdserverpb::Compare& compare) REQUIRES(mutex_);
  void Run(const etcdserverpb::TxnRequest& request, const Path& path,
           etcdserverpb::TxnResponse& response) REQUIRES(mutex_);
  void Put(const etcdserverpb::PutRequest& put) REQUIRES(mutex_);
  int64_t Delete(const std::string& begin, const std::string& end) REQUIRES(mutex_);
  void Read(const etcdserverpb::RangeRequest& request, etcdserverpb::RangeResponse& response)
      REQUIRES(mutex_);
  const Version* At(const std::string& key, int64_t revision) const REQUIRES(mutex_);
  void Fill(etcdserverpb::ResponseHeader& header) REQUIRES(mutex_);

  const size_t max_txn_ops_;
  base::Mutex mutex_;
  std::map<std::string, std::vector<Version>> keys_ GUARDED_BY(mutex_);
  std::map<int64_t, std::vector<etcdserverpb::Event>> log_ GUARDED_BY(mutex_);
  std::map<int64_t, int64_t> leases_ GUARDED_BY(mutex_);
  int64_t last_lease_ GUARDED_BY(mutex_) = 1000;
  int64_t revision_ GUARDED_BY(mutex_) = 1;
  int64_t compacted_ GUARDED_BY(mutex_) = 0;
  bool wrote_ GUARDED_BY(mutex_) = false;  // The running Txn has an event.
};

/// The outcome of one Txn call.
struct Fate {
  enum class Kind : uint8_t {
    kAnswer,
    kLoseRequest,  // Does not happen; the caller gets an ambiguous error.
    kLoseReply,    // Happens; the caller gets an ambiguous error.
    kLate,         // The caller gets an ambiguous error; it happens when Deliver is called.
    kRefuse,       // Does not happen; the error is `text`.
    kNoConnection,
    kSilence,  // Happens; there is no reply before the client is destroyed.
  };
  Kind kind = Kind::kAnswer;
  std::string text = {};
};

/// What a test decides about the network, shared by the clients it makes.
class Network {
 public:
  using FateOf = std::function<Fate(const etcdserverpb::TxnRequest&)>;

  /// Sets the function that is asked for every Txn that writes, in order, one at a time. If unset,
  /// all are answered.
  void SetFate(FateOf fate) {
    base::MutexLock lock(mutex_);
    fate_ = std::move(fate);
  }
  Fate Ask(const etcdserverpb::TxnRequest& request) {
    base::MutexLock lock(mutex_);
    return fate_ ? fate_(request) : Fate{};
  }

  std::atomic<bool> reads_fail = false;
  std::atomic<bool> leases_fail = false;

 private:
  base::Mutex mutex_;
  FateOf fate_ GUARDED_BY(mutex_);
};

/// Sets a fate for its own lifetime. What the function refers to must be declared before it.
class FateScope {
 public:
  FateScope(Network& network, Network::FateOf fate) : network_(network) {
    network_.SetFate(std::move(fate));
  }
  ~FateScope() { network_.SetFate(nullptr); }
  FateScope(const FateScope&) = delete;
  FateScope& operator=(const FateScope&) = delete;

 private:
  Network& network_;
};

class FakeClient final : public Client {
 public:
  /// Both arguments must outlive the client.
  FakeClient(FakeEtcd& etcd, Network& network) : etcd_(etcd), network_(network) {}
  ~FakeClient() override;

  /// Lets the oldest late Txn happen. Returns false if none is left.
  bool Deliver();
  /// Ends all watches, as a member that stops does.
  void BreakWatches();

  void Range(etcdserverpb::RangeRequest request, Reply<etcdserverpb::RangeResponse> reply) override;
  void Txn(etcdserverpb::TxnRequest request, Reply<etcdserverpb::TxnResponse> reply) override;
  void Compact(etcdserverpb::CompactionRequest request,
               Reply<etcdserverpb::CompactionResponse> reply) override;
  void LeaseGrant(etcdserverpb::LeaseGrantRequest request,
                  Reply<etcdserverpb::LeaseGrantResponse> reply) override;
  void LeaseRevoke(etcdserverpb::LeaseRevokeRequest request,
                   Reply<etcdserverpb::LeaseRevokeResponse> reply) override;
  void LeaseTimeToLive(etcdserverpb::LeaseTimeToLiveRequest request,
                       Reply<etcdserverpb::LeaseTimeToLiveResponse> reply) override;
  void LeaseKeepAlive(etcdserverpb::LeaseKeepAliveRequest request,
                      Reply<etcdserverpb::LeaseKeepAliveResponse> reply) override;
  std::unique_ptr<WatchStream> Watch(etcdserverpb::WatchCreateRequest request,
                                     WatchCallbacks callbacks) override;
  std::string ServerVersion() const override { return "3.5.99"; }

 private:
  class Stream;

  template <typename T>
  void Answer(FakeEtcd::Answer<T> answer, Reply<T> reply);
  template <typename T>
  void Fail(Reply<T> reply, CallError error);
  void Pump();

  FakeEtcd& etcd_;
  Network& network_;
  base::Mutex mutex_;
  std::vector<etcdserverpb::TxnRequest> late_ GUARDED_BY(mutex_);
  std::vector<Reply<etcdserverpb::TxnResponse>> silent_ GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Stream>> streams_ GUARDED_BY(mutex_);
  Worker worker_;  // Declared last because its tasks use the others.
};

}  // namespace berth::store::etcd::testing
