#include "base/clock.h"

#include <gtest/gtest.h>

namespace berth::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::sys_days;
using std::chrono::year;

TEST(FormatRfc3339Millis, WritesUtcWithMilliseconds) {
  EXPECT_EQ(FormatRfc3339Millis(WallTime{}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatRfc3339Millis(sys_days{year{2026} / 11 / 15} + std::chrono::hours{4} +
                                std::chrono::minutes{35} + milliseconds{123}),
            "2026-11-15T04:35:00.123Z");
  EXPECT_EQ(
      FormatRfc3339Millis(sys_days{year{2024} / 2 / 29} + std::chrono::hours{24} - milliseconds{1}),
      "2024-02-29T23:59:59.999Z");
}

TEST(FormatRfc3339Millis, CutsOffWhatIsFiner) {
  EXPECT_EQ(FormatRfc3339Millis(WallTime{nanoseconds{1'999'999}}), "1970-01-01T00:00:00.001Z");
  EXPECT_EQ(FormatRfc3339Millis(WallTime{nanoseconds{-1}}), "1969-12-31T23:59:59.999Z");
}

TEST(ManualClock, MovesOnlyWhenTold) {
  const WallTime start = sys_days{year{2026} / 11 / 15};
  ManualClock clock(start);
  const SteadyTime steady = clock.Steady();
  EXPECT_EQ(clock.Now(), start);
  EXPECT_EQ(clock.Now(), start);
  clock.Advance(milliseconds{1500});
  EXPECT_EQ(clock.Now() - start, milliseconds{1500});
  EXPECT_EQ(clock.Steady() - steady, milliseconds{1500});
}

TEST(SystemClock, SteadyNeverGoesBack) {
  const SystemClock clock;
  SteadyTime last = clock.Steady();
  for (int i = 0; i < 1000; ++i) {
    const SteadyTime next = clock.Steady();
    ASSERT_GE(next, last);
    last = next;
  }
  EXPECT_GT(clock.Now(), sys_days{year{2020} / 1 / 1});
}

}  // namespace
}  // namespace berth::base
