// One watch on a gRPC stream of its own, with a thread of its own: a callback that takes its time
// holds up nobody else.
//
// Threads: callbacks come on the stream's thread. Cancel may be called from any thread.
#pragma once

#include <grpcpp/client_context.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_set>

#include "base/mutex.h"
#include "store/etcd/calls_dispatcher.h"
#include "store/etcd/channel_pool.h"
#include "store/etcd/client.h"

namespace berth::store::etcd::wire {

/// Puts together what etcd has cut into fragments, so that the events of a revision stay together.
/// Hands out whole revisions as soon as they are complete: only what is left of the last one is
/// kept, not the whole of a long catch-up.
class FragmentJoiner {
 public:
  /// The response to hand on, if there is something to.
  std::optional<etcdserverpb::WatchResponse> Add(etcdserverpb::WatchResponse response);

 private:
  google::protobuf::RepeatedPtrField<etcdserverpb::Event> kept_;
};

class Stream;

/// The streams of a client, which ends before they are destroyed if need be.
class StreamSet {
 public:
  void Enter(Stream& stream) EXCLUDES(mutex_);
  void Leave(Stream& stream) EXCLUDES(mutex_);
  /// Cancels a stream unless it is over; then the client may be gone already.
  void Cancel(Stream& stream) EXCLUDES(mutex_);
  /// Cancels all and waits for their last callbacks.
  void CancelAll() EXCLUDES(mutex_);

 private:
  base::Mutex mutex_;
  base::CondVar left_;
  std::unordered_set<Stream*> streams_ GUARDED_BY(mutex_);
};

class Stream final : public WatchStream {
 public:
  /// Pool and dispatcher must live until the stream has left the set.
  Stream(etcdserverpb::WatchCreateRequest request, WatchCallbacks callbacks, Pool& pool,
         Dispatcher& dispatcher, std::shared_ptr<StreamSet> set,
         std::chrono::milliseconds open_timeout);
  ~Stream() override;

  /// Only while it is in the set.
  void Cancel() EXCLUDES(mutex_);

 private:
  /// How an attempt to watch ended.
  struct End {
    CallError error;
    bool created = false;  // The watch had begun: somebody has to resume it.
    bool again = false;    // Nothing has been handed on, and another attempt may do better.
    bool log_in = false;   // Likewise, with a new token.
  };
  class Session;

  void Run();
  /// Attempts until the watch has begun or time is over.
  CallError Follow();
  End Attempt(Endpoint& endpoint, TimePoint deadline, bool may_log_in, uint64_t* login);
  /// Hands on one response; false: that is the end.
  bool Take(etcdserverpb::WatchResponse response, Endpoint& endpoint, FragmentJoiner& joiner,
            bool may_log_in, End* end);
  /// The stream has broken.
  void Lost(const grpc::Status& status, bool sent, Endpoint& endpoint, bool may_log_in, End* end);
  bool RenewToken(uint64_t stale, CallError* error);

  const etcdserverpb::WatchCreateRequest request_;
  const WatchCallbacks callbacks_;
  Pool& pool_;
  Dispatcher& dispatcher_;
  const std::shared_ptr<StreamSet> set_;
  const std::chrono::milliseconds open_timeout_;

  std::atomic<bool> stop_{false};
  base::Mutex mutex_;
  grpc::ClientContext* context_ GUARDED_BY(mutex_) = nullptr;  // Of the attempt under way.
  std::thread thread_;
};

}  // namespace berth::store::etcd::wire
