// The model test with ranges that change during the writes: they are created, grow, shrink, are
// drained, deleted and become primary. Values are reserved, held and left to cool. It also runs the
// same Services on bitmaps, and while the store switches from one form of allocations to the other.
#include <gtest/gtest.h>

#include "model/services_seeds.h"

namespace berth::model {
namespace {

void WithRanges(Scene& scene, base::Random& random) {
  scene.habits.ranges = 3 + static_cast<int>(base::Uniform(random, 20));
  scene.habits.kept = static_cast<int>(base::Uniform(random, 25));
  scene.habits.cool_down = base::Uniform(random, 2) == 0 ? 0 : 4;
  scene.filled = scene.filled > 70 ? 40 : scene.filled;
}

void ExpectRanges(const Seen& seen) {
  ExpectAllClasses(seen);
  ExpectClasses(seen, {kReserved, kNotGiven, kBlocked, kRefused});
  if (!WholeRun()) return;
  EXPECT_GT(seen.ranges, 100);
  EXPECT_GT(seen.smaller, 20);
  EXPECT_GT(seen.kept_taken, 20);
  EXPECT_GT(seen.kept_again, 10);
  EXPECT_GT(seen.cooled, 20);
  EXPECT_GT(seen.expired, 20);
}

TEST(ServicesRangesTest, OneAfterTheOther) {
  const Seen seen = RunSeeds(500, 11'000'000, [](Scene& scene, base::Random& random) {
    WithRanges(scene, random);
    scene.steps = 600;
  });
  ExpectRanges(seen);
}

TEST(ServicesRangesTest, ManyAtOnce) {
  const Seen seen = RunSeeds(500, 12'000'000, [](Scene& scene, base::Random& random) {
    WithRanges(scene, random);
    scene.in_flight = 2 + base::Uniform(random, 11);
    scene.steps = 800;
  });
  ExpectRanges(seen);
}

TEST(ServicesRangesTest, FaultsOfTheStore) {
  const Seen seen = RunSeeds(500, 13'000'000, [](Scene& scene, base::Random& random) {
    WithRanges(scene, random);
    scene.in_flight = 1 + base::Uniform(random, 8);
    scene.steps = 800;
    scene.faults = 5 + static_cast<int>(base::Uniform(random, 30));
    scene.restarts = static_cast<int>(base::Uniform(random, 20));
    scene.lost = static_cast<int>(base::Uniform(random, 20));
  });
  ExpectRanges(seen);
}

TEST(ServicesRangesTest, TwoServersOnOneStore) {
  const Seen seen = RunSeeds(500, 14'000'000, [](Scene& scene, base::Random& random) {
    WithRanges(scene, random);
    scene.gates.resize(2);
    scene.in_flight = 2 + base::Uniform(random, 8);
    scene.steps = 800;
    scene.faults = static_cast<int>(base::Uniform(random, 20));
    scene.restarts = static_cast<int>(base::Uniform(random, 8));
    scene.lost = static_cast<int>(base::Uniform(random, 10));
  });
  ExpectRanges(seen);
}

/// At the end, the auditor finds and repairs what is damaged straight in the store.
TEST(ServicesDamageTest, IsFoundAndRepaired) {
  const Seen seen = RunSeeds(500, 15'000'000, [](Scene& scene, base::Random& random) {
    WithRanges(scene, random);
    scene.gates.resize(1 + base::Uniform(random, 2));
    scene.in_flight = 2 + base::Uniform(random, 8);
    scene.steps = 200;
    scene.damage = 30;
  });
  EXPECT_TRUE(!WholeRun() || seen.found > 1000);
}

/// Starts with bitmaps, which have no room for what users reserve.
void WithBitmaps(Scene& scene) {
  scene.bitmaps = true;
  scene.filled = 0;
}

void ExpectForms(const Seen& seen) {
  ExpectClasses(seen,
                {kOk, kExists, kMissing, kConflict, kInvalid, kTaken, kOutside, kFull, kRefused});
}

TEST(ServicesFormsTest, Bitmaps) {
  const Seen seen = RunSeeds(300, 21'000'000, [](Scene& scene, base::Random& random) {
    WithBitmaps(scene);
    scene.in_flight = 1 + base::Uniform(random, 12);
    scene.steps = 800;
  });
  ExpectForms(seen);
  EXPECT_TRUE(!WholeRun() || seen.merged > 100);
}

TEST(ServicesFormsTest, BitmapsOfTwoServersAndFaults) {
  const Seen seen = RunSeeds(300, 22'000'000, [](Scene& scene, base::Random& random) {
    WithBitmaps(scene);
    scene.gates.resize(2);
    scene.in_flight = 2 + base::Uniform(random, 8);
    scene.steps = 800;
    scene.faults = static_cast<int>(base::Uniform(random, 30));
    scene.restarts = static_cast<int>(base::Uniform(random, 10));
    scene.lost = static_cast<int>(base::Uniform(random, 10));
  });
  ExpectForms(seen);
}

TEST(ServicesFormsTest, ThereAndBack) {
  const Seen seen = RunSeeds(300, 23'000'000, [](Scene& scene, base::Random& random) {
    scene.filled = 0;
    scene.bitmaps = base::Uniform(random, 2) == 0;
    scene.gates.resize(1 + base::Uniform(random, 2));
    scene.in_flight = 1 + base::Uniform(random, 8);
    scene.steps = 600;
    scene.switches = 10;
  });
  ExpectForms(seen);
  EXPECT_TRUE(!WholeRun() || seen.switches > 10);
}

TEST(ServicesFormsTest, ThereAndBackWithFaults) {
  const Seen seen = RunSeeds(300, 24'000'000, [](Scene& scene, base::Random& random) {
    scene.filled = 0;
    scene.bitmaps = base::Uniform(random, 2) == 0;
    scene.gates.resize(2);
    scene.in_flight = 1 + base::Uniform(random, 8);
    scene.steps = 600;
    scene.switches = 10;
    scene.faults = static_cast<int>(base::Uniform(random, 20));
    scene.restarts = static_cast<int>(base::Uniform(random, 10));
    scene.lost = static_cast<int>(base::Uniform(random, 10));
  });
  ExpectForms(seen);
  EXPECT_TRUE(!WholeRun() || seen.switches > 10);
}

/// Objects that bitmaps have no room for come and go meanwhile, and prevent a switch.
TEST(ServicesFormsTest, ThereAndBackWhileRangesChange) {
  const Seen seen = RunSeeds(300, 25'000'000, [](Scene& scene, base::Random& random) {
    scene.filled = 0;
    scene.gates.resize(1 + base::Uniform(random, 2));
    scene.in_flight = 1 + base::Uniform(random, 8);
    scene.steps = 600;
    scene.switches = 20;
    scene.habits.ranges = 2 + static_cast<int>(base::Uniform(random, 4));
    scene.habits.kept = static_cast<int>(base::Uniform(random, 6));
    scene.habits.cool_down = base::Uniform(random, 3) == 0 ? 2 : 0;
    scene.habits.tidy = true;
  });
  ExpectForms(seen);
  EXPECT_TRUE(!WholeRun() || seen.switches > 3);
  EXPECT_TRUE(!WholeRun() || seen.ranges > 50);
}

}  // namespace
}  // namespace berth::model
