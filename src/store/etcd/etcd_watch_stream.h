// One watch on its own gRPC stream, with its own thread. A slow callback delays no other stream.
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
#include "store/etcd/etcd_client.h"

namespace berth::store::etcd::wire {

/// Joins the fragments that etcd has cut, so that the events of a revision stay together. Returns
/// whole revisions as soon as they are complete. It keeps only the rest of the last revision, not
/// all of a long catch-up.
class FragmentJoiner {
 public:
  /// Adds a response. Returns the response to deliver, or nullopt if there is nothing to deliver
  /// yet.
  std::optional<etcdserverpb::WatchResponse> Add(etcdserverpb::WatchResponse response);

 private:
  google::protobuf::RepeatedPtrField<etcdserverpb::Event> kept_;
};

class Stream;

/// The streams of a client. The client may be destroyed before its streams.
class StreamSet {
 public:
  void Enter(Stream& stream) EXCLUDES(mutex_);
  void Leave(Stream& stream) EXCLUDES(mutex_);
  /// Cancels a stream unless it has ended. If it has, the client may no longer exist.
  void Cancel(Stream& stream) EXCLUDES(mutex_);
  /// Cancels all streams and waits for their last callbacks.
  void CancelAll() EXCLUDES(mutex_);

 private:
  base::Mutex mutex_;
  base::CondVar left_;
  std::unordered_set<Stream*> streams_ GUARDED_BY(mutex_);
};

class Stream final : public WatchStream {
 public:
  /// The pool and the dispatcher must live until the stream has left the set.
  Stream(etcdserverpb::WatchCreateRequest request, WatchCallbacks callbacks, Pool& pool,
         Dispatcher& dispatcher, std::shared_ptr<StreamSet> set,
         std::chrono::milliseconds open_timeout);
  ~Stream() override;

  /// May be called only while the stream is in the set.
  void Cancel() EXCLUDES(mutex_);

 private:
  /// The way an attempt to watch ended.
  struct End {
    CallError error;
    bool created = false;  // The watch had begun, so the caller has to resume it.
    bool again = false;    // Nothing has been delivered, and another attempt may succeed.
    bool log_in = false;   // The same, with a new token.
  };
  class Session;

  void Run();
  /// Makes attempts until the watch has begun or the time is over. Returns why it ended.
  CallError Follow();
  End Attempt(Endpoint& endpoint, TimePoint deadline, bool may_log_in, uint64_t* login);
  /// Delivers one response. Returns false if it is the last one.
  bool Take(etcdserverpb::WatchResponse response, Endpoint& endpoint, FragmentJoiner& joiner,
            bool may_log_in, End* end);
  /// Records that the stream has broken.
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
  grpc::ClientContext* context_ GUARDED_BY(mutex_) = nullptr;  // Context of the current attempt.
  std::thread thread_;
};

}  // namespace berth::store::etcd::wire
