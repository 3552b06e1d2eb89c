// Power cuts: unsynced data is lost at any moment, above all around syncs. The last write may be
// torn, and a sync may fail. libfaultfs.so simulates the disk.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "base/testing/base_kit.h"
#include "crash/rounds.h"

namespace crash {
namespace {

using berth::base::LongCount;
using berth::base::TestSeed;
using berth::base::Uniform;

constexpr std::chrono::seconds kPatience{60};

/// Makes a round with a writer on a disk that loses its power at `cut`.
Round Cut(Rounds& rounds, const std::string& cut) {
  Round round{.arguments = {},
              .environment = {{"LD_PRELOAD", FAULTFS},
                              {"FAULTFS_DIR", rounds.DataDirectory()},
                              {"FAULTFS_LOG", rounds.LogPath()},
                              {"FAULTFS_SEED", std::to_string(rounds.Random().Next())},
                              {"FAULTFS_CUT", cut}},
              .end = [](Child& writer) { static_cast<void>(writer.Wait(kPatience)); }};
  if (Uniform(rounds.Random(), 2) == 0) round.arguments.emplace("buffer", "200000");
  round.arguments["writers"] = std::to_string(1 + Uniform(rounds.Random(), 16));
  return round;
}

/// Returns a random cut. Some only kill the program; then the power cut comes while the next one
/// runs.
std::string RandomCut(berth::base::Random& random, uint64_t changes) {
  const bool sync = Uniform(random, 2) == 0;
  return fmt::format(
      "{}:{}:{}{}", sync ? "sync" : "change", 1 + Uniform(random, sync ? changes / 2 : changes),
      Uniform(random, 2) == 0 ? "before" : "after", Uniform(random, 4) == 0 ? ":kill" : "");
}

bool HasFault(const OpLog& log, std::string_view beginning) {
  return std::ranges::any_of(
      log.faults, [&](const std::string& fault) { return fault.starts_with(beginning); });
}
bool WasCut(const OpLog& log) { return HasFault(log, "cut ") || HasFault(log, "kill "); }
bool SyncFailed(const OpLog& log) { return HasFault(log, "sync "); }

TEST(PowerCut, EveryAcknowledgedWriteSurvives) {
  Rounds rounds(CRASH_WRITER, TempDir::Medium::kMemory, TestSeed(20261116));
  for (int64_t i = 0; i < LongCount(300); ++i) {
    const auto faults = rounds.Run(Cut(rounds, RandomCut(rounds.Random(), 500)));
    ASSERT_TRUE(faults.empty()) << Join(faults);
    ASSERT_TRUE(WasCut(rounds.LastLog())) << "round " << i;
  }
  const auto faults = rounds.Look();
  EXPECT_TRUE(faults.empty()) << Join(faults);
  EXPECT_GT(rounds.GetCounts().acknowledged, 0);
  std::printf("%s\n", rounds.Describe().c_str());
}

TEST(PowerCut, AStoreThatIsBeingMade) {
  Rounds rounds(CRASH_WRITER, TempDir::Medium::kMemory, TestSeed(20261117));
  for (int64_t i = 0; i < LongCount(200); ++i) {
    // Two rounds each, so that what the first left is opened and cut again.
    for (int again = 0; again < 2; ++again) {
      const auto faults = rounds.Run(Cut(rounds, RandomCut(rounds.Random(), 60)));
      ASSERT_TRUE(faults.empty()) << Join(faults);
    }
    const auto faults = rounds.Look();
    ASSERT_TRUE(faults.empty()) << Join(faults);
    rounds.StartOver();
  }
  std::printf("%s\n", rounds.Describe().c_str());
}

TEST(PowerCut, AFailedSyncIsSurvived) {
  Rounds rounds(CRASH_WRITER, TempDir::Medium::kMemory, TestSeed(20261118));
  size_t after = 0;
  size_t failed = 0;
  for (int64_t i = 0; i < LongCount(100); ++i) {
    const uint64_t fails = 1 + Uniform(rounds.Random(), 60);
    // What the failed sync left readable is lost at the cut.
    Round round =
        Cut(rounds, fmt::format("sync:{}:after", fails + 10 + Uniform(rounds.Random(), 110)));
    round.environment["FAULTFS_FAIL_LOG_SYNC"] = std::to_string(fails);
    const auto faults = rounds.Run(round);
    ASSERT_TRUE(faults.empty()) << Join(faults);
    ASSERT_TRUE(WasCut(rounds.LastLog())) << "writes did not go on after sync " << fails;
    after += rounds.LastLog().committed_after_fault;
    failed += SyncFailed(rounds.LastLog()) ? 1 : 0;
  }
  const auto faults = rounds.Look();
  EXPECT_TRUE(faults.empty()) << Join(faults);
  EXPECT_GT(after, 0U);
  std::printf("%s; %zu syncs failed, %zu writes acknowledged after that\n",
              rounds.Describe().c_str(), failed, after);
}

// Not only syncs of the log fail: also those of a table, the list of tables, or a directory.
TEST(PowerCut, AnySyncMayFail) {
  Rounds rounds(CRASH_WRITER, TempDir::Medium::kMemory, TestSeed(20261121));
  size_t failed = 0;
  size_t not_opened = 0;
  for (int64_t i = 0; i < LongCount(200); ++i) {
    const uint64_t fails = 1 + Uniform(rounds.Random(), 60);
    Round round = Cut(rounds, fmt::format("sync:{}:before", fails + Uniform(rounds.Random(), 60)));
    round.environment["FAULTFS_FAIL_SYNC"] = std::to_string(fails);
    const auto faults = rounds.Run(round);
    failed += SyncFailed(rounds.LastLog()) ? 1 : 0;
    if (rounds.LastLog().error.starts_with("open: ")) {
      // This is the right error for a person; the next program opens the store.
      EXPECT_THAT(rounds.LastLog().error, ::testing::HasSubstr("Input/output error"));
      ++not_opened;
      continue;
    }
    ASSERT_TRUE(faults.empty()) << Join(faults);
  }
  const auto faults = rounds.Look();
  EXPECT_TRUE(faults.empty()) << Join(faults);
  std::printf("%s; %zu syncs failed, %zu times the store could not be opened\n",
              rounds.Describe().c_str(), failed, not_opened);
}

TEST(PowerCut, AFullDiskIsSurvived) {
  Rounds rounds(CRASH_WRITER, TempDir::Medium::kMemory, TestSeed(20261119));
  size_t after = 0;
  for (int64_t i = 0; i < LongCount(30); ++i) {
    Round round = Cut(rounds, fmt::format("sync:{}:before", 100 + Uniform(rounds.Random(), 100)));
    round.environment["FAULTFS_ENOSPC_AFTER"] = fmt::format(
        "{},{}", 60'000 + Uniform(rounds.Random(), 200'000), 1 + Uniform(rounds.Random(), 3));
    const auto faults = rounds.Run(round);
    ASSERT_TRUE(faults.empty()) << Join(faults);
    ASSERT_TRUE(WasCut(rounds.LastLog())) << "writes did not go on when there was space again";
    after += rounds.LastLog().committed_after_fault;
    // Opening a store with a long log takes space. After this, the next writer begins with a short
    // log.
    const auto look = rounds.Look();
    ASSERT_TRUE(look.empty()) << Join(look);
  }
  EXPECT_GT(after, 0U);
  std::printf("%s; %zu writes acknowledged after the disk was full\n", rounds.Describe().c_str(),
              after);
}

// Shows that the tests above can fail: an engine that does not sync is caught.
TEST(PowerCut, AnEngineThatDoesNotSyncIsCaught) {
  Rounds rounds(CRASH_WRITER, TempDir::Medium::kMemory, TestSeed(20261120));
  std::vector<std::string> faults;
  for (int i = 0; i < 20 && faults.empty(); ++i) {
    Round round = Cut(rounds, "change:600:before");
    round.arguments.emplace("sync", "0");
    faults = rounds.Run(round);
    if (faults.empty()) faults = rounds.Look();
  }
  EXPECT_THAT(faults, ::testing::Contains(
                          ::testing::AllOf(::testing::HasSubstr("was acknowledged (revision"),
                                           ::testing::HasSubstr("and is gone"))));
}

}  // namespace
}  // namespace crash
