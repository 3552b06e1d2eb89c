// History is compacted right after each write while watchers lag. Watchers that cannot continue
// must start over, and no watcher misses an event without an error.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/base_kit.h"
#include "chaos/mirror.h"
#include "chaos/scenario.h"
#include "store/blocking.h"
#include "store/testing/contract_fixture.h"

namespace berth::chaos {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kDuration{4};

/// Compacts all but the newest history, again and again, for its own lifetime.
class Compactor {
 public:
  explicit Compactor(store::Engine& engine) : thread_([this, &engine] { Run(engine); }) {}
  ~Compactor() {
    stop_ = true;
    thread_.join();
  }
  Compactor(const Compactor&) = delete;
  Compactor& operator=(const Compactor&) = delete;

 private:
  void Run(store::Engine& engine) {
    while (!stop_) {
      const auto current = store::CurrentNow(engine);
      if (current) store::CompactNow(engine, {current->value - 1});
      std::this_thread::sleep_for(300ms);
    }
  }

  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

struct CompactionOutcome {
  linear::Counts counts = {};
  std::vector<size_t> lists = {};  // Number of lists of each replica's mirror.
  size_t events = 0;
};

class CompactionTest : public testing::Test {
 protected:
  /// Runs a round with a mirror on each replica. The workload writes through `writers` of the
  /// replicas.
  CompactionOutcome RunRound(Arena& arena, uint64_t seed, size_t writers, const Fault& fault,
                             std::chrono::milliseconds nap) {
    const std::string prefix = fmt::format("/registry/chaos/{}/", seed);
    CompactionOutcome outcome;
    std::vector<std::unique_ptr<Mirror>> mirrors;
    for (int i = 0; i < Arena::kReplicas; ++i) {
      const bool slow = i == Arena::kReplicas - 1;
      mirrors.push_back(std::make_unique<Mirror>(arena.At(i), prefix, slow ? nap : 20ms, seed));
    }
    const linear::Recording recording = Work(arena, prefix, seed, writers, fault);
    const std::string faults = linear::CheckAll(recording, &outcome.counts);
    EXPECT_EQ(faults, "");
    const auto current = store::CurrentNow(arena.At(0));
    const auto raw = ReadEtcd(arena, prefix);
    EXPECT_TRUE(current && raw);
    if (!current || !raw) return outcome;
    for (int i = 0; i < Arena::kReplicas; ++i) {
      Mirror& mirror = *mirrors[static_cast<size_t>(i)];
      const std::string name = fmt::format("the mirror on replica {}", i);
      EXPECT_EQ(mirror.Finish(recording.history, *current), "") << name << arena.Logs();
      EXPECT_EQ(CompareStates(name, mirror.Shown(), *raw), "");
      outcome.lists.push_back(mirror.Lists());
      outcome.events += mirror.Events();
    }
    return outcome;
  }

  static linear::Recording Work(Arena& arena, const std::string& prefix, uint64_t seed,
                                size_t writers, const Fault& fault) {
    const Compactor compactor(arena.At(0));
    std::thread nemesis([&] {
      base::SeededRandom random(seed);
      const auto end = std::chrono::steady_clock::now() + kDuration;
      while (std::chrono::steady_clock::now() < end) fault(arena, random);
      EXPECT_TRUE(arena.Heal());
    });
    std::vector<store::Engine*> engines = arena.Engines();
    engines.resize(writers);
    const linear::Recording recording =
        linear::RunWorkload(engines, {.prefix = prefix,
                                      .clients = 6,
                                      .operations = 1'000'000,
                                      .duration = kDuration,
                                      .patience = 1s,
                                      .jitter = 20ms,
                                      .seed = seed,
                                      .encode = store::contract::MakeValue,
                                      .decode = store::contract::Payload,
                                      .watch = false});
    nemesis.join();
    return recording;
  }

  /// Runs the rounds. The last mirror must have listed again at least once; otherwise nothing was
  /// shown.
  void Run(const std::string& name, const ArenaOptions& options, size_t writers, const Fault& fault,
           std::chrono::milliseconds nap) {
    auto arena = Arena::Make(options);
    ASSERT_TRUE(arena) << arena.error().message;
    CompactionOutcome all;
    size_t relists = 0;
    size_t lists_of_others = 0;
    for (uint64_t i = 0; i < static_cast<uint64_t>(Rounds()); ++i) {
      const uint64_t seed = base::TestSeed(1) + i;
      const CompactionOutcome outcome = RunRound(**arena, seed, writers, fault, nap);
      if (HasFailure()) {
        FAIL() << "BERTH_SEED=" << seed;
      }
      all.counts += outcome.counts;
      all.events += outcome.events;
      relists += outcome.lists.back() - 1;
      lists_of_others += outcome.lists[0] - 1 + outcome.lists[1] - 1;
    }
    fmt::print("{}: {}; {} events watched; new lists: {} by the slow mirror, {} by the others\n",
               name, linear::Describe(all.counts), all.events, relists, lists_of_others);
    EXPECT_GT(relists, 0U);
  }
};

TEST_F(CompactionTest, WatcherThatDoesNotPoll) {
  Run(
      "compaction under a slow watcher", {.ring_bytes = size_t{16} << 10}, 3,
      [](Arena&, base::Random&) { std::this_thread::sleep_for(100ms); }, 2500ms);
}

TEST_F(CompactionTest, WhileFollowersAreKilled) {
  Run("compaction and followers killed", {.ring_bytes = size_t{16} << 10}, 3, KillFollower, 2500ms);
}

TEST_F(CompactionTest, ReplicaThatIsCutOff) {
  if (TestNetwork() == nullptr) GTEST_SKIP() << WhyNoNetwork();
  Run(
      "compaction while a replica is cut off", {.network = TestNetwork(), .impatient = true}, 2,
      [](Arena& arena, base::Random& random) {
        for (int member = 0; member < Arena::kMembers; ++member) {
          arena.Net().CutRequests(Arena::kReplicas - 1, member);
          arena.Net().CutReplies(Arena::kReplicas - 1, member);
        }
        // Otherwise the members would later send what they still have in their connections.
        RestartCluster(arena, random);
        std::this_thread::sleep_for(700ms);
        arena.Net().Heal();
        std::this_thread::sleep_for(1000ms);
      },
      20ms);
}

}  // namespace
}  // namespace berth::chaos
