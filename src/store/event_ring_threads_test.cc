// Tests the ring with several threads: no wake is lost and none comes late. Most useful under
// ThreadSanitizer.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/testing/base_kit.h"
#include "store/event_ring.h"

namespace berth::store {
namespace {

Event EventAt(int64_t revision, std::string key) {
  return {.type = Event::Type::kPut, .key = std::move(key), .revision = {revision}};
}

std::vector<int64_t> PollRevisions(Watch& watch, size_t max) {
  const auto batch = watch.Poll(max);
  EXPECT_TRUE(batch.has_value()) << batch.error().message;
  std::vector<int64_t> revisions;
  if (!batch) return revisions;
  for (const EventPtr& event : batch->events) revisions.push_back(event->revision.value);
  return revisions;
}

/// Lets a reader sleep until it is woken.
class Bell {
 public:
  void Ring() {
    base::MutexLock lock(mutex_);
    rung_ = true;
    bell_.NotifyOne();
  }
  /// Waits for a ring. Returns false after a minute without one.
  bool Wait() {
    base::MutexLock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!rung_) {
      const auto left = deadline - std::chrono::steady_clock::now();
      if (left <= std::chrono::nanoseconds(0)) return false;
      bell_.WaitFor(mutex_, left);
    }
    rung_ = false;
    return true;
  }

 private:
  base::Mutex mutex_;
  base::CondVar bell_;
  bool rung_ GUARDED_BY(mutex_) = false;
};

TEST(EventRingThreads, NoWakeIsLost) {
  // The reader polls only when woken, so it would wait forever after a lost wake.
  const int64_t last = base::LongCount(200'000);
  EventRing ring({}, size_t{64} << 20, nullptr);
  Bell bell;
  const auto watch = ring.Follow({}, [&] { bell.Ring(); });
  std::jthread writer([&] {
    for (int64_t i = 1; i <= last; ++i) ring.Append({EventAt(i, "a")}, {i});
  });
  int64_t reached = 0;
  while (reached < last) {
    const std::vector<int64_t> revisions = PollRevisions(*watch, 100);
    for (const int64_t revision : revisions) ASSERT_EQ(revision, ++reached);
    if (revisions.empty() && !bell.Wait()) {
      ADD_FAILURE() << "not woken";
      break;
    }
  }
  writer.join();
  EXPECT_EQ(reached, last);
}

TEST(EventRingThreads, EveryReaderSeesEveryEvent) {
  const int64_t last = base::LongCount(20'000);
  EventRing ring({}, size_t{64} << 20, nullptr);
  std::vector<std::jthread> readers;
  for (int r = 0; r < 6; ++r) {
    readers.emplace_back([&ring, last] {
      Bell bell;
      const auto watch = ring.Follow({}, [&] { bell.Ring(); });
      int64_t seen = 0;
      while (seen < last) {
        const std::vector<int64_t> revisions = PollRevisions(*watch, 50);
        for (const int64_t revision : revisions) ASSERT_EQ(revision, ++seen);
        ASSERT_TRUE(!revisions.empty() || bell.Wait());
      }
    });
  }
  for (int64_t i = 1; i <= last; ++i) ring.Append({EventAt(i, "a")}, {i});
  for (std::jthread& reader : readers) reader.join();
}

/// A history in which the n-th event is a put of "a".
class EndlessHistory final : public History {
 public:
  base::Result<WatchBatch> ReadHistory(const HistoryRequest& request) override {
    WatchBatch batch{.progress = request.after};
    while (batch.progress < request.upto && batch.events.size() < request.max) {
      ++batch.progress.value;
      batch.events.push_back(std::make_shared<const Event>(EventAt(batch.progress.value, "a")));
    }
    return batch;
  }
};

TEST(EventRingThreads, SlowReadersMissNothing) {
  // One Append replaces most of the ring, so readers fall out of it all the time.
  constexpr int64_t kAtOnce = 300;
  const int64_t last = kAtOnce * base::LongCount(5000);
  EndlessHistory history;
  EventRing ring({}, 400 * (sizeof(Event) + 65), &history);
  std::vector<std::jthread> readers;
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&ring, last] {
      Bell bell;
      const auto watch = ring.Follow({}, [&] { bell.Ring(); });
      int64_t seen = 0;
      while (seen < last) {
        const std::vector<int64_t> revisions = PollRevisions(*watch, 1000);
        for (const int64_t revision : revisions) ASSERT_EQ(revision, ++seen);
        ASSERT_TRUE(!revisions.empty() || bell.Wait());
      }
    });
  }
  for (int64_t next = 1; next <= last;) {
    std::vector<Event> events;
    for (int64_t i = 0; i < kAtOnce; ++i) events.push_back(EventAt(next++, "a"));
    ring.Append(std::move(events), {next - 1});
  }
}

TEST(EventRingThreads, WatchesEndWhileTheyAreWoken) {
  // The data that a wake uses is freed right after the watch, so a late wake would touch freed
  // memory.
  const int64_t rounds = base::LongCount(20'000);
  EventRing ring({}, size_t{1} << 16, nullptr);
  std::atomic<bool> stop = false;
  std::jthread writer([&] {
    for (int64_t i = 1; !stop; ++i) ring.Append({EventAt(i, "a")}, {i}, i % 5 == 0);
  });
  std::vector<std::jthread> readers;
  for (int r = 0; r < 3; ++r) {
    readers.emplace_back([&ring, rounds] {
      for (int64_t i = 0; i < rounds; ++i) {
        auto wakes = std::make_unique<int>(0);
        auto watch = ring.Follow(ring.Head(), [&wakes] { ++*wakes; });
        for (int64_t polls = i % 3; polls > 0; --polls) std::ignore = watch->Poll(1000);
        watch.reset();
        wakes.reset();
      }
    });
  }
  for (std::jthread& reader : readers) reader.join();
  stop = true;
  writer.join();
}

TEST(EventRingThreads, BreaksAndFailuresReachTheWaiting) {
  for (int round = 0; round < 50; ++round) {
    EventRing ring({}, size_t{1} << 20, nullptr);
    Bell bell;
    const auto watch = ring.Follow({}, [&] { bell.Ring(); });
    std::jthread breaker([&ring, round] {
      if (round % 2 == 0) {
        ring.Break({5});
      } else {
        ring.Fail({.reason = base::Reason::kServiceUnavailable, .message = "closing"});
      }
    });
    for (;;) {
      const auto batch = watch->Poll(1);
      if (!batch) break;
      if (bell.Wait()) continue;
      ADD_FAILURE() << "not woken";
      break;
    }
    breaker.join();
  }
}

}  // namespace
}  // namespace berth::store
