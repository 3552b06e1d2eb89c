#include "http/h2_limits.h"

#include <gtest/gtest.h>

#include <chrono>

namespace berth::http {
namespace {

using std::chrono::milliseconds;

Limits Small() {
  Limits limits;
  limits.header_bytes = 100;
  limits.h2.resets = {.burst = 3, .per_second = 10};
  limits.h2.controls = {.burst = 2, .per_second = 1};
  return limits;
}

TEST(H2Limits, AllowsABurstAndThenARate) {
  base::SteadyTime now{};
  H2Limits limits(Small(), now);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limits.OnReset(now));
  for (int i = 0; i < 50; ++i) {
    now += milliseconds(100);
    EXPECT_TRUE(limits.OnReset(now));
  }
  EXPECT_FALSE(limits.exceeded());
  EXPECT_FALSE(limits.OnReset(now));
  EXPECT_EQ(limits.what(), "resets");
}

TEST(H2Limits, DoesNotSaveUpMoreThanABurst) {
  base::SteadyTime now{};
  H2Limits limits(Small(), now);
  now += std::chrono::hours(1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limits.OnReset(now));
  EXPECT_FALSE(limits.OnReset(now));
}

TEST(H2Limits, StaysExceeded) {
  base::SteadyTime now{};
  H2Limits limits(Small(), now);
  for (int i = 0; i < 3; ++i) limits.OnControl(now);
  EXPECT_TRUE(limits.exceeded());
  now += std::chrono::hours(1);
  EXPECT_FALSE(limits.OnControl(now));
  EXPECT_FALSE(limits.OnReset(now));
}

TEST(H2Limits, CountsHeaderBytesPerBlock) {
  H2Limits limits(Small(), {});
  for (int i = 0; i < 10; ++i) {
    limits.OnHeaderBlock();
    EXPECT_TRUE(limits.OnHeader(400));
  }
  EXPECT_FALSE(limits.OnHeader(1));
  EXPECT_EQ(limits.what(), "header bytes");
}

}  // namespace
}  // namespace berth::http
