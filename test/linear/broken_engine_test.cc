// Shows that the checks work: each built-in fault is found within a few runs by the checks that
// ought to find it, and nothing is found in a sound engine.
#include "linear/broken_engine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/testing/base_kit.h"
#include "linear/workload.h"
#include "store/memory_engine.h"

namespace berth::linear {
namespace {

/// The number of runs in which each check has found something.
struct Catches {
  size_t runs = 0;
  size_t strikes = 0;
  size_t history = 0;
  size_t values_only = 0;  // The history without the help of revisions.
  size_t watch = 0;
  std::string example = {};
};

Catches Hunt(Bug bug, size_t runs, uint64_t seed) {
  Catches catches{.runs = runs};
  const base::SystemClock clock;
  for (size_t i = 0; i < runs; ++i) {
    const auto sound = store::MemoryEngine::Make({}, clock);
    BrokenEngine engine(*sound, bug, seed + i);
    const Recording recording =
        RunWorkload({&engine}, {.keys = 5, .operations = 60, .seed = seed + i});
    const CheckResult result = Check(recording.history);
    const CheckResult values = Check(recording.history, {.revisions = false});
    const std::string watch = CheckWatch(recording.history, recording.watches.at(0));
    EXPECT_NE(result.verdict, Verdict::kUndecided) << result.explanation;
    EXPECT_NE(values.verdict, Verdict::kUndecided) << values.explanation;
    catches.strikes += engine.Strikes();
    catches.history += result.verdict == Verdict::kViolation ? 1 : 0;
    catches.values_only += values.verdict == Verdict::kViolation ? 1 : 0;
    catches.watch += watch.empty() ? 0 : 1;
    if (catches.example.empty()) catches.example = result.explanation + watch;
  }
  return catches;
}

struct Case {
  std::string name;
  Bug bug = Bug::kNone;
  // The checks that must find it.
  bool history = false;
  bool values_only = false;
  bool watch = false;
};

class BrokenEngineTest : public testing::TestWithParam<Case> {};

TEST_P(BrokenEngineTest, IsFound) {
  const Case& expected = GetParam();
  const uint64_t seed = base::TestSeed(1);
  const auto runs = static_cast<size_t>(base::LongCount(100));
  const Catches found = Hunt(expected.bug, runs, seed);
  fmt::print(
      "{}: {} runs, {} strikes; found by the history {}, by values alone {}, by watches {}\n{}",
      expected.name, found.runs, found.strikes, found.history, found.values_only, found.watch,
      found.example);
  ASSERT_GT(found.strikes, 0U);
  // If a check finds it in one run of two, ten runs never miss it.
  EXPECT_GE(found.history, expected.history ? runs / 2 : 0) << "BERTH_SEED=" << seed;
  EXPECT_GE(found.values_only, expected.values_only ? runs / 2 : 0) << "BERTH_SEED=" << seed;
  EXPECT_GE(found.watch, expected.watch ? runs / 2 : 0) << "BERTH_SEED=" << seed;
}

INSTANTIATE_TEST_SUITE_P(
    Bugs, BrokenEngineTest,
    testing::Values(
        Case{.name = "StaleRead", .bug = Bug::kStaleRead, .history = true, .values_only = true},
        Case{.name = "TornScan", .bug = Bug::kTornScan, .history = true},
        Case{.name = "IgnoredCompare",
             .bug = Bug::kIgnoredCompare,
             .history = true,
             .values_only = true},
        Case{.name = "FalseConflict",
             .bug = Bug::kFalseConflict,
             .history = true,
             .values_only = true},
        Case{.name = "HalfTxn", .bug = Bug::kHalfTxn, .history = true, .values_only = true},
        Case{.name = "LostWrite",
             .bug = Bug::kLostWrite,
             .history = true,
             .values_only = true,
             .watch = true},
        Case{.name = "DoubledApply", .bug = Bug::kDoubledApply, .history = true, .watch = true},
        Case{.name = "SameRevisionTwice",
             .bug = Bug::kSameRevisionTwice,
             .history = true,
             .watch = true},
        Case{.name = "WatchGap", .bug = Bug::kWatchGap, .watch = true},
        Case{.name = "WatchDouble", .bug = Bug::kWatchDouble, .watch = true}),
    [](const auto& test) { return test.param.name; });

TEST(SoundEngineTest, NothingIsFound) {
  const uint64_t seed = base::TestSeed(1);
  const auto runs = static_cast<size_t>(base::LongCount(100));
  const Catches found = Hunt(Bug::kNone, runs, seed);
  EXPECT_EQ(found.history, 0U) << found.example;
  EXPECT_EQ(found.values_only, 0U) << found.example;
  EXPECT_EQ(found.watch, 0U) << found.example;
}

}  // namespace
}  // namespace berth::linear
