// Shared by tests of the client: a log that can be read, short forms of requests, and waiting for
// replies.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "store/etcd/etcd_client.h"

namespace berth::store::etcd::testing {

/// Long enough for a busy machine. What a test waits for normally takes milliseconds.
inline constexpr std::chrono::seconds kPatience{30};

/// A logger whose lines can be read.
class LogCapture {
 public:
  LogCapture() : logger_({.sink = [this](std::string_view line) { Take(line); }}, clock_) {}

  base::Logger& Logger() { return logger_; }
  const base::Clock& Clock() const { return clock_; }

  /// Waits until a line contains `part`, because other threads write the lines. Returns whether one
  /// does.
  bool Contains(std::string_view part, std::chrono::milliseconds limit = kPatience) {
    const auto end = std::chrono::steady_clock::now() + limit;
    for (;;) {
      {
        base::MutexLock lock(mutex_);
        if (text_.find(part) != std::string::npos) return true;
      }
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  /// Returns how often `part` has been logged so far.
  int Count(std::string_view part) {
    base::MutexLock lock(mutex_);
    int count = 0;
    for (size_t at = text_.find(part); at != std::string::npos; at = text_.find(part, at + 1)) {
      ++count;
    }
    return count;
  }

 private:
  void Take(std::string_view line) {
    base::MutexLock lock(mutex_);
    text_ += line;
  }

  const base::SystemClock clock_;
  base::Mutex mutex_;
  std::string text_ GUARDED_BY(mutex_);
  base::Logger logger_;
};

template <typename T>
using Answer = tl::expected<T, CallError>;

/// Starts a call by passing its reply callback to `start`, and does not wait for the reply.
template <typename T>
std::future<Answer<T>> Begin(const std::function<void(Reply<T>)>& start) {
  auto promise = std::make_shared<std::promise<Answer<T>>>();
  std::future<Answer<T>> future = promise->get_future();
  start([promise](Answer<T> answer) { promise->set_value(std::move(answer)); });
  return future;
}

inline std::future<Answer<etcdserverpb::RangeResponse>> BeginGet(Client& client,
                                                                 const std::string& key) {
  etcdserverpb::RangeRequest request;
  request.set_key(key);
  return Begin<etcdserverpb::RangeResponse>([&](Reply<etcdserverpb::RangeResponse> reply) {
    client.Range(std::move(request), std::move(reply));
  });
}

inline Answer<etcdserverpb::RangeResponse> Get(Client& client, const std::string& key) {
  return BeginGet(client, key).get();
}

inline std::future<Answer<etcdserverpb::TxnResponse>> BeginTxn(Client& client,
                                                               etcdserverpb::TxnRequest request) {
  return Begin<etcdserverpb::TxnResponse>([&](Reply<etcdserverpb::TxnResponse> reply) {
    client.Txn(std::move(request), std::move(reply));
  });
}

inline etcdserverpb::TxnRequest PutRequest(const std::string& key, const std::string& value) {
  etcdserverpb::TxnRequest request;
  etcdserverpb::PutRequest* put = request.add_success()->mutable_request_put();
  put->set_key(key);
  put->set_value(value);
  return request;
}

inline Answer<etcdserverpb::TxnResponse> PutNow(Client& client, const std::string& key,
                                                const std::string& value) {
  return BeginTxn(client, PutRequest(key, value)).get();
}

}  // namespace berth::store::etcd::testing
