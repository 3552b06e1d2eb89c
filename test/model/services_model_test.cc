// Random requests about Services and addresses against all of the way of a write, beside a small
// model of what must become of them. Every answer and every transaction must agree; a failure names
// the seed, and BERTH_SEED=<seed> repeats it (with --gtest_filter for the test).
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/testing.h"
#include "model/services_run.h"

namespace berth::model {
namespace {

/// Ranges small enough to be full now and then: with bands and without, of one family and of two.
Ranges SomeRanges(base::Random& random) {
  static const std::vector<std::vector<std::string>> kFamilies = {
      {"IPv4"}, {"IPv6"}, {"IPv4", "IPv6"}, {"IPv4", "IPv6"}, {"IPv6", "IPv4"}};
  static const int kSmaller[] = {0, 0, 0, 1, 2};
  static const int64_t kPorts[] = {24, 24, 48, 17, 8};
  const int smaller = kSmaller[base::Uniform(random, 5)];
  return {.families = kFamilies[base::Uniform(random, kFamilies.size())],
          .bits_v4 = 27 + smaller,
          .bits_v6 = 123 + smaller,
          .last_port = 30000 + kPorts[base::Uniform(random, 5)] - 1};
}

Scene SomeScene(base::Random& random) {
  static const int kFilled[] = {0, 0, 40, 70, 85, 95};
  Scene scene{.ranges = SomeRanges(random)};
  scene.filled = kFilled[base::Uniform(random, 6)];
  scene.habits.names = 3 + base::Uniform(random, 35);
  scene.habits.growth = 40 + static_cast<int>(base::Uniform(random, 30));
  scene.habits.finalizers = static_cast<int>(base::Uniform(random, 50));
  scene.habits.given = 10 + static_cast<int>(base::Uniform(random, 60));
  return scene;
}

registry::Gates SomeGates(base::Random& random) {
  const auto flip = [&random] { return base::Uniform(random, 2) == 0; };
  return {
      .static_ips = flip(), .static_ports = flip(), .lb_node_ports = flip(), .dual_stack = flip()};
}

/// Runs with seeds from `first` on, and what they have seen.
template <typename Change>
Seen RunSeeds(int64_t full_count, uint64_t first, const Change& change) {
  const bool repeats = std::getenv("BERTH_SEED") != nullptr;
  const uint64_t begin = base::TestSeed(first);
  const auto count = static_cast<uint64_t>(repeats ? 1 : base::LongCount(full_count));
  Seen seen;
  for (uint64_t seed = begin; seed < begin + count; ++seed) {
    base::SeededRandom random(seed);
    Scene scene = SomeScene(random);
    change(scene, random);
    Run run(scene, seed);
    const std::string failure = run.Go();
    seen.Add(run.seen());
    if (failure.empty()) continue;
    ADD_FAILURE() << failure;
    break;
  }
  std::printf("seeds %llu to %llu: %s\n", static_cast<unsigned long long>(begin),
              static_cast<unsigned long long>(begin + count - 1), seen.ToText().c_str());
  return seen;
}

bool WholeRun() { return std::getenv("BERTH_SEED") == nullptr && !testing::Test::HasFailure(); }

/// A test that never met the case cannot fail in it.
void ExpectAllClasses(const Seen& seen) {
  if (!WholeRun()) return;
  for (const Classes each :
       {kOk, kExists, kMissing, kConflict, kInvalid, kTaken, kOutside, kFull, kHealth}) {
    const auto found = seen.classes.find(each);
    EXPECT_TRUE(found != seen.classes.end() && found->second >= 3) << ClassesText(each);
  }
  EXPECT_GT(seen.spilled, 10);
  EXPECT_GT(seen.dry_runs, 100);
  EXPECT_GT(seen.given_back, 100);
}

TEST(ServicesModelTest, OneAfterTheOther) {
  const Seen seen = RunSeeds(500, 1'000'000, [](Scene&, base::Random&) {});
  ExpectAllClasses(seen);
}

TEST(ServicesModelTest, ManyAtOnce) {
  const Seen seen = RunSeeds(500, 2'000'000, [](Scene& scene, base::Random& random) {
    scene.in_flight = 2 + base::Uniform(random, 11);
    scene.steps = 800;
  });
  ExpectAllClasses(seen);
  EXPECT_TRUE(!WholeRun() || seen.overlapping > 10);
}

TEST(ServicesModelTest, FaultsOfTheStore) {
  const Seen seen = RunSeeds(500, 3'000'000, [](Scene& scene, base::Random& random) {
    scene.in_flight = 1 + base::Uniform(random, 8);
    scene.steps = 800;
    scene.faults = 10 + static_cast<int>(base::Uniform(random, 40));
    scene.restarts = static_cast<int>(base::Uniform(random, 20));
    scene.lost = static_cast<int>(base::Uniform(random, 20));
  });
  ExpectAllClasses(seen);
  EXPECT_TRUE(!WholeRun() || seen.faults > 100);
  EXPECT_TRUE(!WholeRun() || seen.restarts > 100);
}

TEST(ServicesModelTest, TwoServersOnOneStore) {
  const Seen seen = RunSeeds(500, 4'000'000, [](Scene& scene, base::Random& random) {
    scene.gates.resize(2);
    scene.in_flight = 2 + base::Uniform(random, 8);
    scene.steps = 800;
    scene.faults = static_cast<int>(base::Uniform(random, 20));
    scene.restarts = static_cast<int>(base::Uniform(random, 5));
    scene.lost = static_cast<int>(base::Uniform(random, 10));
  });
  ExpectAllClasses(seen);
  EXPECT_TRUE(!WholeRun() || seen.conflicts > 100);
}

TEST(ServicesModelTest, GatesAreSwitched) {
  const Seen seen = RunSeeds(500, 5'000'000, [](Scene& scene, base::Random& random) {
    for (registry::Gates& gates : scene.gates) gates = SomeGates(random);
    scene.switch_gates = true;
    scene.restarts = 15;
    scene.in_flight = 1 + base::Uniform(random, 4);
    scene.steps = 600;
  });
  ExpectAllClasses(seen);
}

TEST(ServicesModelTest, ServersWithOtherGates) {
  const Seen seen = RunSeeds(500, 6'000'000, [](Scene& scene, base::Random& random) {
    scene.gates = {SomeGates(random), SomeGates(random)};
    scene.switch_gates = base::Uniform(random, 2) == 0;
    scene.restarts = 5;
    scene.in_flight = 2 + base::Uniform(random, 6);
    scene.steps = 600;
  });
  ExpectAllClasses(seen);
}

}  // namespace
}  // namespace berth::model
