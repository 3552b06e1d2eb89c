#include "chaos/scenario.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "base/testing.h"

namespace berth::chaos {
namespace {

/// Made before the first test, while there is one thread: gRPC's threads live as long as the
/// process, and all have to be in the same namespace.
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

int64_t Rounds() { return std::max<int64_t>(1, base::LongCount(10)); }

Tally RunScenario(const std::string& name, const ArenaOptions& options, const Fault& fault) {
  Tally tally;
  auto arena = Arena::Make(options);
  EXPECT_TRUE(arena) << arena.error().message;
  if (!arena) return tally;
  const uint64_t seed = base::TestSeed(1);
  for (uint64_t i = 0; i < static_cast<uint64_t>(Rounds()); ++i) {
    const RoundOptions round{
        .fault = fault, .seed = seed + i, .prefix = fmt::format("/registry/chaos/{}/", i)};
    const std::string faults = RunRound(**arena, round, tally);
    EXPECT_EQ(faults, "") << "BERTH_SEED=" << round.seed << "\n" << (*arena)->Logs();
    if (testing::Test::HasFailure()) break;
  }
  fmt::print("{}: {}\n", name, Describe(tally));
  // A round in which nothing was broken or nothing was written would show nothing.
  EXPECT_GT(tally.faults, 0U);
  EXPECT_GT(tally.counts.committed, tally.counts.histories * 10);
  return tally;
}

}  // namespace berth::chaos
