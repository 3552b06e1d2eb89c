// kill -9 at random moments, again and again on the same directory: while the writer writes, and
// while it recovers from the previous kill.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "base/testing/base_kit.h"
#include "crash/rounds.h"

namespace crash {
namespace {

std::chrono::milliseconds Between(berth::base::Random& random, uint64_t low, uint64_t high) {
  return std::chrono::milliseconds(low + berth::base::Uniform(random, high - low + 1));
}

TEST(CrashLoop, EveryAcknowledgedWriteSurvivesKill9) {
  Rounds rounds(CRASH_WRITER, TempDir::Medium::kDisk, berth::base::TestSeed(20261115));
  auto& random = rounds.Random();
  for (int64_t i = 0; i < berth::base::LongCount(200); ++i) {
    Round round{.arguments = {}, .environment = {}, .end = {}};
    // With small buffers, tables are written and logs change while the writers run.
    if (i % 2 == 1) round.arguments.emplace("buffer", "200000");
    round.arguments["writers"] = std::to_string(1 + berth::base::Uniform(random, 16));
    const bool while_opening = berth::base::Uniform(random, 6) == 0;
    round.end = [&](Child& writer) {
      if (while_opening) {
        std::this_thread::sleep_for(Between(random, 1, 60));
      } else {
        rounds.WaitUntil(writer, "G");
        std::this_thread::sleep_for(Between(random, 5, 150));
      }
      writer.Kill();
    };
    const auto faults = rounds.Run(round);
    ASSERT_TRUE(faults.empty()) << Join(faults);
  }
  const auto faults = rounds.Look();
  EXPECT_TRUE(faults.empty()) << Join(faults);
  EXPECT_GT(rounds.GetCounts().acknowledged, 0);
  std::printf("%s\n", rounds.Describe().c_str());
}

}  // namespace
}  // namespace crash
