// Runs the model test with many seeds: how a run starts, and what all runs have seen.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/testing/base_kit.h"
#include "model/services_run.h"

namespace berth::model {

/// Returns ranges small enough to be full now and then: with and without bands, of one family and
/// of two.
inline Ranges SomeRanges(base::Random& random) {
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

inline Scene SomeScene(base::Random& random) {
  static const int kFilled[] = {0, 0, 40, 70, 85, 95};
  Scene scene{.ranges = SomeRanges(random)};
  scene.filled = kFilled[base::Uniform(random, 6)];
  scene.habits.names = 3 + base::Uniform(random, 35);
  scene.habits.growth = 40 + static_cast<int>(base::Uniform(random, 30));
  scene.habits.finalizers = static_cast<int>(base::Uniform(random, 50));
  scene.habits.given = 10 + static_cast<int>(base::Uniform(random, 60));
  return scene;
}

inline registry::Gates SomeGates(base::Random& random) {
  const auto flip = [&random] { return base::Uniform(random, 2) == 0; };
  return {
      .static_ips = flip(), .static_ports = flip(), .lb_node_ports = flip(), .dual_stack = flip()};
}

/// Runs with seeds from `first` on. Returns what the runs have seen.
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

inline bool WholeRun() {
  return std::getenv("BERTH_SEED") == nullptr && !testing::Test::HasFailure();
}

/// Checks that each outcome has occurred, because a test cannot fail in a case that never occurs.
inline void ExpectClasses(const Seen& seen, const std::vector<Classes>& classes) {
  if (!WholeRun()) return;
  for (const Classes each : classes) {
    const auto found = seen.classes.find(each);
    EXPECT_TRUE(found != seen.classes.end() && found->second >= 3) << ClassesText(each);
  }
}

inline void ExpectAllClasses(const Seen& seen) {
  if (!WholeRun()) return;
  ExpectClasses(seen,
                {kOk, kExists, kMissing, kConflict, kInvalid, kTaken, kOutside, kFull, kHealth});
  EXPECT_GT(seen.spilled, 10);
  EXPECT_GT(seen.dry_runs, 100);
  EXPECT_GT(seen.given_back, 100);
}

}  // namespace berth::model
