// Histories of concurrent clients on the memory engine, also while it loses replies and writes,
// fails, and delays and reorders replies.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/testing/base_kit.h"
#include "linear/workload.h"
#include "store/memory_engine.h"

namespace berth::linear {
namespace {

/// Chooses the outcomes of commits at random.
class Faults {
 public:
  explicit Faults(uint64_t seed) : random_(seed) {}

  store::Fault Next() EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    const uint64_t dice = base::Uniform(random_, 100);
    if (dice < 4) return store::Fault::kLoseReply;
    if (dice < 8) return store::Fault::kLoseWrite;
    if (dice < 10) return store::Fault::kFail;
    if (dice < 25) return store::Fault::kHold;
    return store::Fault::kNone;
  }

 private:
  base::Mutex mutex_;
  base::SeededRandom random_ GUARDED_BY(mutex_);
};

/// Releases held replies in any order, for its own lifetime.
class Releaser {
 public:
  Releaser(store::MemoryEngine& engine, uint64_t seed)
      : thread_([this, &engine, seed] {
          base::SeededRandom random(seed);
          while (!over_.load()) {
            if (engine.Held() != 0) engine.Release(random);
            std::this_thread::sleep_for(std::chrono::microseconds(base::Uniform(random, 300)));
          }
        }) {}
  ~Releaser() {
    over_.store(true);
    thread_.join();
  }
  Releaser(const Releaser&) = delete;
  Releaser& operator=(const Releaser&) = delete;

 private:
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

/// Runs `count` histories and checks them with and without the help of revisions.
Counts RunHistories(int64_t count, bool faults, uint64_t seed) {
  Counts counts;
  Counts values_only;
  const base::SystemClock clock;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t own_seed = seed + static_cast<uint64_t>(i);
    Faults chance(own_seed);
    store::MemoryOptions options;
    if (faults) options.fault = [&chance](const store::Txn&) { return chance.Next(); };
    const auto engine = store::MemoryEngine::Make(options, clock);
    Recording recording;
    {
      const Releaser releaser(*engine, own_seed);
      recording = RunWorkload({engine.get()}, {.keys = 5 + own_seed % 4, .seed = own_seed});
    }
    EXPECT_EQ(CheckAll(recording, &counts), "") << "BERTH_SEED=" << own_seed;
    EXPECT_EQ(CheckAll(recording, &values_only, {.revisions = false}), "")
        << "without revisions, BERTH_SEED=" << own_seed;
    if (testing::Test::HasFailure()) break;
  }
  fmt::print("memory{}: {}\n  without revisions: longest search {} configurations\n",
             faults ? " with faults" : "", Describe(counts), values_only.longest_search);
  return counts;
}

TEST(LinearMemoryTest, Histories) {
  const Counts counts = RunHistories(base::LongCount(200), false, base::TestSeed(1));
  // The clients interfered with each other: a test without conflicts would show nothing.
  EXPECT_GT(counts.committed, counts.operations / 5);
  EXPECT_GT(counts.conflicts, counts.operations / 20);
  EXPECT_EQ(counts.unknown, 0U);
}

TEST(LinearMemoryTest, HistoriesWithFaults) {
  const Counts counts = RunHistories(base::LongCount(200), true, base::TestSeed(1000));
  EXPECT_GT(counts.committed, counts.operations / 5);
  EXPECT_GT(counts.conflicts, counts.operations / 20);
  EXPECT_GT(counts.unknown, counts.operations / 50);
  EXPECT_GT(counts.refused, 0U);
}

}  // namespace
}  // namespace berth::linear
