// Instruments that count while the server works. They are plain atomics, so that counting
// costs an add or two and never waits. The code that counts owns them, and obs/metrics.h
// reads them at a scrape.
//
// Threads: any, without any ordering. A reader of a histogram may see an observation in
// its count and not yet in its sum.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::obs {

/// A number that only grows.
class Counter {
 public:
  void Add(uint64_t by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  uint64_t Value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

/// A number that grows and shrinks.
class Gauge {
 public:
  void Add(int64_t by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  int64_t Value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

/// Counts how many observations lie below each of some bounds. Observations are whole numbers of a
/// unit: nanoseconds, which are shown as seconds, or counts of things.
class Histogram {
 public:
  enum class Unit : uint8_t { kSeconds, kThings };

  /// `bounds` are in the unit that is shown, in increasing order. Each is the largest value of its
  /// bucket. The array must outlive the histogram.
  explicit Histogram(std::span<const double> bounds, Unit unit = Unit::kSeconds);

  void Observe(std::chrono::nanoseconds took) { Note(took.count()); }
  void Observe(size_t things) { Note(static_cast<int64_t>(things)); }

  struct Reading {
    std::span<const double> bounds = {};
    std::vector<uint64_t> counts = {};  // One per bucket; there is one bucket more than bounds.
    double sum = 0;
  };
  Reading Read() const;

 private:
  void Note(int64_t value);

  const std::span<const double> bounds_;
  const double units_;                 // Units in one of what is shown.
  const std::vector<int64_t> limits_;  // The bounds in units.
  std::vector<std::atomic<uint64_t>> counts_;
  std::atomic<int64_t> sum_{0};
};

}  // namespace berth::obs
