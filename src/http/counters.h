// The counters of one io thread. That thread alone writes them, and any thread may read them. They
// order no other memory access.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace berth::http {

class Counter {
 public:
  /// Needs no locked instruction, since there is a single writer.
  void Add(uint64_t by = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  void Subtract(uint64_t by = 1) {
    value_.store(value_.load(std::memory_order_relaxed) - by, std::memory_order_relaxed);
  }
  uint64_t Get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

/// The members have the names of those in Stats.
struct alignas(64) Counters {
  Counter connections_now;
  Counter connections;
  Counter handshakes_failed;
  Counter requests_http1;
  Counter requests_http2;
  Counter requests_bad;
  Counter streams_now;
  Counter streams;
  Counter bytes_read;
  Counter bytes_written;
  Counter timeouts;
  Counter h2_abuses;
};

/// A budget of memory for bodies that are being read or that wait for clients to take them. All
/// connections of a server share it.
class BodyBudget {
 public:
  explicit BodyBudget(size_t limit) : limit_(limit) {}

  /// Takes bytes from the budget. Returns false, and takes nothing, if not enough are left.
  bool Take(size_t bytes) {
    if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit_) return true;
    Give(bytes);
    return false;
  }
  void Give(size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const size_t limit_;
  std::atomic<size_t> used_{0};
};

}  // namespace berth::http
