// Watches over the endpoints. It asks each for its status every two seconds (more often if it is in
// trouble), determines why an endpoint cannot be reached, and resumes or ends waiting calls.
//
// Threads: one of its own. Every function may be called from any thread.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "store/etcd/calls_dispatcher.h"
#include "store/etcd/calls_queue.h"
#include "store/etcd/channel_pool.h"
#include "store/etcd/tls_check.h"
#include "store/etcd/tls_probe.h"

namespace berth::store::etcd::wire {

class Prober {
 public:
  Prober(Pool& pool, CallQueue& queue, Dispatcher& dispatcher, const TlsFiles& files,
         std::chrono::milliseconds connect_timeout, const base::Clock& clock);
  /// Checks that are still in flight must have ended: CallQueue::AwaitIdle.
  ~Prober();
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  void Start();
  void Stop() EXCLUDES(mutex_);
  /// Wakes the thread, because work may be due earlier than it expected.
  void Wake() EXCLUDES(mutex_);

 private:
  class Check;
  /// One check of an endpoint, on all of its lines.
  struct Round {
    Endpoint* endpoint = nullptr;
    size_t open = 0;
    bool failed = false;
    bool sent = false;
    grpc::Status failure;
    etcdserverpb::StatusResponse status;
  };
  struct Diagnosis {
    TimePoint at{};
    Finding finding;
  };

  void Run() EXCLUDES(mutex_);
  void Begin(Endpoint& endpoint) EXCLUDES(mutex_);
  void Checked(Round& round, Check& check) EXCLUDES(mutex_);
  void Finish(const Round& round);
  Checkup Explained(const Round& round);

  Pool& pool_;
  CallQueue& queue_;
  Dispatcher& dispatcher_;
  const TlsFiles& files_;
  const std::chrono::milliseconds connect_timeout_;
  const base::Clock& clock_;

  base::Mutex mutex_;
  base::CondVar wake_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  bool woken_ GUARDED_BY(mutex_) = false;
  std::vector<std::shared_ptr<Round>> done_ GUARDED_BY(mutex_);
  absl::flat_hash_map<Endpoint*, Diagnosis> diagnoses_;  // Used only by the thread.
  std::thread thread_;
};

}  // namespace berth::store::etcd::wire
