#include "server/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace berth::server {
namespace {

TEST(Workers, WhatWaitsIsBoundedUnlessItIsTakenInAnyCase) {
  std::promise<void> begun;
  std::promise<void> go_on;
  std::promise<void> last;
  std::atomic<int> done = 0;
  Workers workers(1, 2);
  ASSERT_TRUE(workers.Run([&] {
    begun.set_value();
    go_on.get_future().wait();
  }));
  begun.get_future().wait();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(workers.RunInAnyCase([&] { ++done; }));
  EXPECT_TRUE(workers.Run([&] { ++done; })) << "the others do not count";
  EXPECT_TRUE(workers.Run([&] { ++done; }));
  EXPECT_FALSE(workers.Run([&] { ++done; }));
  EXPECT_TRUE(workers.RunInAnyCase([&] { last.set_value(); }));
  go_on.set_value();
  last.get_future().wait();
  EXPECT_EQ(done, 102);
  EXPECT_TRUE(workers.Run([] {})) << "there is room again";
  workers.Stop();
  EXPECT_FALSE(workers.Run([] {}));
  EXPECT_FALSE(workers.RunInAnyCase([] {}));
}

}  // namespace
}  // namespace berth::server
