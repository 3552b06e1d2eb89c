#include "store/rocks/samples.h"

#include <gtest/gtest.h>

namespace berth::store::rocks {
namespace {

using std::chrono::seconds;

constexpr uint64_t kNoLimit = UINT64_MAX / 2;

Sample At(int64_t time, int64_t revision, uint64_t bytes = 0) {
  return {.time = time, .revision = {revision}, .bytes = bytes, .keys = 0};
}

TEST(Samples, HistoryEndsAtItsAge) {
  Samples samples(seconds(600), kNoLimit, {}, {});
  samples.Add(At(0, 10));
  samples.Add(At(10'000, 20));
  samples.Add(At(20'000, 30));
  EXPECT_EQ(samples.GiveUp(At(599'999, 40)).value, 0);
  EXPECT_EQ(samples.GiveUp(At(600'000, 40)).value, 10);
  EXPECT_EQ(samples.GiveUp(At(615'000, 40)).value, 20);
  EXPECT_EQ(samples.GiveUp(At(9'999'999, 40)).value, 30);
}

TEST(Samples, HistoryEndsAtItsSize) {
  Samples samples(seconds(600), 1000, {}, {});
  samples.Add(At(0, 10, 0));
  samples.Add(At(1, 20, 400));
  samples.Add(At(2, 30, 800));
  EXPECT_EQ(samples.GiveUp(At(3, 40, 1000)).value, 0);
  EXPECT_EQ(samples.GiveUp(At(3, 40, 1001)).value, 20);
  EXPECT_EQ(samples.GiveUp(At(3, 40, 1500)).value, 30);
  EXPECT_EQ(samples.GiveUp(At(3, 40, 9999)).value, 30) << "as far as is known";

  // History that was given up no longer counts.
  EXPECT_EQ(samples.Forget({20}), 1);
  EXPECT_LE(samples.GiveUp(At(3, 40, 1400)).value, 20);
  EXPECT_EQ(samples.GiveUp(At(3, 40, 1401)).value, 30);
}

TEST(Samples, WhereHistoryBeginsIsKnownAfterARestart) {
  Samples before(seconds(600), 1000, {}, {});
  before.Add(At(0, 10, 5000));
  before.Add(At(1, 20, 5400));
  EXPECT_EQ(before.Forget({15}), 0) << "the last one that is not above";
  Samples after(seconds(600), 1000, {At(0, 10, 5000), At(1, 20, 5400)}, {15});
  EXPECT_EQ(after.GiveUp(At(2, 30, 6000)).value, 0);
  EXPECT_EQ(after.GiveUp(At(2, 30, 6001)).value, 20);
}

TEST(Samples, AreTakenWhenTimeOrBytesHavePassed) {
  Samples samples(seconds(600), 3200, {}, {});
  EXPECT_TRUE(samples.IsDue(At(0, 10, 0)));
  samples.Add(At(0, 10, 0));
  EXPECT_FALSE(samples.IsDue(At(9'999, 11, 99)));
  EXPECT_TRUE(samples.IsDue(At(10'000, 11, 0)));
  EXPECT_TRUE(samples.IsDue(At(1, 11, 100)));
  EXPECT_FALSE(samples.IsDue(At(99'999, 10, 0))) << "nothing has happened";
}

TEST(Samples, AClockThatGoesBackStandsStill) {
  Samples samples(seconds(600), kNoLimit, {}, {});
  samples.Add(At(1000, 10));
  EXPECT_EQ(samples.Add(At(500, 20)).time, 1001);
  EXPECT_EQ(samples.GiveUp(At(600, 30)).value, 0);
}

}  // namespace
}  // namespace berth::store::rocks
