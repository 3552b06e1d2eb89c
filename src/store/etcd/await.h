// Waiting for a call of the client, for the engine's own threads. Must not run on a client's
// thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "store/etcd/etcd_client.h"

namespace berth::store::etcd {

template <typename T>
using CallResult = tl::expected<T, CallError>;

/// How often a wait checks whether it has to stop.
inline constexpr std::chrono::milliseconds kStopPoll{20};

/// How long to wait for an attempt that can be repeated freely. A member that lost its leader may
/// hold the call for seconds, while the next attempt finds the new leader.
inline constexpr std::chrono::milliseconds kAttempt{1000};

/// Starts a call by passing its reply callback to `start`, and waits for the reply. Returns nullopt
/// if `stop` is set or `limit` passes first. The reply may still come later.
template <typename Response, typename Start>
std::optional<CallResult<Response>> Await(const std::atomic<bool>& stop, Start&& start,
                                          std::chrono::milliseconds limit = std::chrono::hours(1)) {
  struct Slot {
    base::Mutex mutex;
    base::CondVar set;
    std::optional<CallResult<Response>> value GUARDED_BY(mutex);
  };
  const auto slot = std::make_shared<Slot>();
  start([slot](CallResult<Response> result) {
    base::MutexLock lock(slot->mutex);
    slot->value.emplace(std::move(result));
    slot->set.NotifyOne();
  });
  const auto end = std::chrono::steady_clock::now() + limit;
  base::MutexLock lock(slot->mutex);
  while (!slot->value) {
    if (stop.load() || std::chrono::steady_clock::now() >= end) return std::nullopt;
    slot->set.WaitFor(slot->mutex, kStopPoll);
  }
  return std::move(slot->value);
}

inline std::optional<CallResult<etcdserverpb::TxnResponse>> AwaitTxn(
    Client& client, const std::atomic<bool>& stop, etcdserverpb::TxnRequest request,
    std::chrono::milliseconds limit = std::chrono::hours(1)) {
  return Await<etcdserverpb::TxnResponse>(
      stop,
      [&](Reply<etcdserverpb::TxnResponse> reply) {
        client.Txn(std::move(request), std::move(reply));
      },
      limit);
}

inline std::optional<CallResult<etcdserverpb::RangeResponse>> AwaitRange(
    Client& client, const std::atomic<bool>& stop, etcdserverpb::RangeRequest request,
    std::chrono::milliseconds limit = std::chrono::hours(1)) {
  return Await<etcdserverpb::RangeResponse>(
      stop,
      [&](Reply<etcdserverpb::RangeResponse> reply) {
        client.Range(std::move(request), std::move(reply));
      },
      limit);
}

/// Growing pauses between attempts, up to two seconds.
class Backoff {
 public:
  std::chrono::milliseconds Next() {
    const auto wait = next_;
    next_ = std::min(next_ * 2, std::chrono::milliseconds(2000));
    return wait;
  }
  void Reset() { next_ = kFirst; }

  /// Sleeps for the next pause. Returns false if `stop` was set.
  bool Sleep(const std::atomic<bool>& stop) {
    for (auto left = Next(); left.count() > 0 && !stop.load(); left -= kStopPoll) {
      std::this_thread::sleep_for(std::min(left, kStopPoll));
    }
    return !stop.load();
  }

 private:
  static constexpr std::chrono::milliseconds kFirst{25};
  std::chrono::milliseconds next_ = kFirst;
};

}  // namespace berth::store::etcd
