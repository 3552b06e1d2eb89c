#include "chaos/scenario.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "base/testing/base_kit.h"

namespace berth::chaos {
namespace {

/// Makes the network before the first test, while there is one thread. gRPC's threads live as long
/// as the process, and all must be in the same namespace.
class NetworkEnvironment final : public testing::Environment {
 public:
  void SetUp() override {
    auto made = Network::Make();
    if (made) {
      network = std::move(*made);
    } else {
      why_not = made.error().message;
    }
  }

  std::unique_ptr<Network> network;
  std::string why_not;
};

// Owned by the test framework.
NetworkEnvironment* const kEnvironment = [] {
  auto* environment = new NetworkEnvironment;
  testing::AddGlobalTestEnvironment(environment);
  return environment;
}();

}  // namespace

Network* TestNetwork() { return kEnvironment->network.get(); }
const std::string& WhyNoNetwork() { return kEnvironment->why_not; }

bool Within(std::chrono::seconds limit, const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

namespace {

/// Minimum number of commits per round, below which a scenario shows too little.
constexpr size_t kEnoughCommits = 10;

/// Returns whether a scenario needs one more round after `done` rounds. A slow machine commits
/// little while its cluster is down, so it gets further rounds until enough has been committed.
bool NeedsMore(int64_t done, const Tally& tally) {
  constexpr int64_t kMostExtra = 10;
  if (done < Rounds()) return true;
  const bool enough = tally.counts.committed > kEnoughCommits * static_cast<size_t>(Rounds());
  return !enough && done < Rounds() + kMostExtra;
}

}  // namespace

int64_t Rounds() { return std::max<int64_t>(1, base::LongCount(10)); }

Tally RunScenario(const std::string& name, const ArenaOptions& options, const Fault& fault) {
  Tally tally;
  auto arena = Arena::Make(options);
  EXPECT_TRUE(arena) << arena.error().message;
  if (!arena) return tally;
  const uint64_t seed = base::TestSeed(1);
  for (int64_t i = 0; NeedsMore(i, tally); ++i) {
    const RoundOptions round{.fault = fault,
                             .seed = seed + static_cast<uint64_t>(i),
                             .prefix = fmt::format("/registry/chaos/{}/", i)};
    const std::string faults = RunRound(**arena, round, tally);
    EXPECT_EQ(faults, "") << "BERTH_SEED=" << round.seed << "\n" << (*arena)->Logs();
    if (testing::Test::HasFailure()) break;
  }
  fmt::print("{}: {}\n", name, Describe(tally));
  // A round without a fault or without a commit would show nothing.
  EXPECT_GT(tally.faults, 0U);
  EXPECT_GT(tally.counts.committed, kEnoughCommits * static_cast<size_t>(Rounds()));
  return tally;
}

}  // namespace berth::chaos
