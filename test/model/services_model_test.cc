// Sends random requests about Services and addresses through the whole write path, and compares the
// outcomes with a small model. Every answer and every transaction must agree. A failure names the
// seed, and BERTH_SEED=<seed> repeats it (with --gtest_filter for the test).
#include <gtest/gtest.h>

#include "model/services_seeds.h"

namespace berth::model {
namespace {

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
