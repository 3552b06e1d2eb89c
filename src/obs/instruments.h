// What is counted while the server works: plain atomics, so that counting costs an add or two and
// never waits. Whoever counts owns them; obs/metrics.h reads them when somebody asks.
//
// Threads: any; nothing is ordered. A histogram that is read while it is added to may show an
// observation in its count and not yet in its sum.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::obs {

/// Only grows.
class Counter {
 public:
  void Add(uint64_t by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  uint64_t Value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

/// Grows and shrinks.
class Gauge {
 public:
  void Add(int64_t by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  int64_t Value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

/// How many observations lie below each of some bounds. Observations are whole numbers of a unit:
/// nanoseconds that are shown as seconds, or things that are counted.
class Histogram {
 public:
  enum class Unit : uint8_t { kSeconds, kThings };

  /// `bounds` as they are shown, rising: each is the largest value of its bucket. They must outlive
  /// it.
  explicit Histogram(std::span<const double> bounds, Unit unit = Unit::kSeconds);

  void Observe(std::chrono::nanoseconds took) { Note(took.count()); }
  void Observe(size_t things) { Note(static_cast<int64_t>(things)); }

  struct Reading {
    std::span<const double> bounds = {};
    std::vector<uint64_t> counts = {};  // Per bucket; one more than there are bounds.
    double sum = 0;
  };
  Reading Read() const;

 private:
  void Note(int64_t value);

  const std::span<const double> bounds_;
  const double units_;                 // In one of what is shown.
  const std::vector<int64_t> limits_;  // The bounds in units.
  std::vector<std::atomic<uint64_t>> counts_;
  std::atomic<int64_t> sum_{0};
};

}  // namespace berth::obs
