#include "controllers/work_queue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace berth::controllers {
namespace {

using base::SteadyTime;
using std::chrono::milliseconds;
using std::chrono::seconds;

const SteadyTime kSteadyNow = SteadyTime(seconds(1000));

std::string TakeAll(WorkQueue& queue, SteadyTime now) {
  std::string keys;
  while (const auto key = queue.Take(now)) keys += *key + " ";
  return keys;
}

TEST(WorkQueueTest, EachOnceInOrder) {
  WorkQueue queue;
  for (const char* key : {"b", "a", "b", "c", "a"}) queue.Add(key);
  EXPECT_EQ(TakeAll(queue, kSteadyNow), "b a c ");
  queue.Add("b");
  EXPECT_EQ(TakeAll(queue, kSteadyNow), "b ");
}

TEST(WorkQueueTest, LaterMeansLater) {
  WorkQueue queue;
  queue.AddAt("late", kSteadyNow + seconds(2));
  queue.AddAt("soon", kSteadyNow + seconds(1));
  queue.AddAt("late", kSteadyNow + seconds(5));  // It already waits for the earlier time.
  EXPECT_EQ(TakeAll(queue, kSteadyNow), "");
  EXPECT_EQ(queue.NextDue(), kSteadyNow + seconds(1));
  queue.AddAt("soon", kSteadyNow + milliseconds(500));
  EXPECT_EQ(queue.NextDue(), kSteadyNow + milliseconds(500));
  EXPECT_EQ(TakeAll(queue, kSteadyNow + seconds(2)), "soon late ");
  EXPECT_EQ(queue.NextDue(), SteadyTime::max());
}

TEST(WorkQueueTest, WhatIsReadyAndDueComesOnce) {
  WorkQueue queue;
  queue.Add("a");
  queue.AddAt("a", kSteadyNow);
  EXPECT_EQ(TakeAll(queue, kSteadyNow), "a ");
}

TEST(WorkQueueTest, RetriesLieFurtherAndFurtherApart) {
  WorkQueue queue;
  SteadyTime now = kSteadyNow;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(queue.Retry("a", now), i == 0);
    const auto wait = queue.NextDue() - now;
    if (i < 9) {
      EXPECT_EQ(wait, milliseconds(100) * (1 << i));
    } else {
      EXPECT_EQ(wait, i == 9 ? milliseconds(51'200) : milliseconds(60'000));
    }
    now = queue.NextDue();
    EXPECT_EQ(TakeAll(queue, now - milliseconds(1)), "");
    EXPECT_EQ(TakeAll(queue, now), "a ");
  }
  queue.Forget("a");
  EXPECT_TRUE(queue.Retry("a", now));
  EXPECT_EQ(queue.NextDue() - now, WorkQueue::kFirstRetry);
}

TEST(WorkQueueTest, Clear) {
  WorkQueue queue;
  queue.Add("a");
  queue.Retry("b", kSteadyNow);
  queue.Clear();
  EXPECT_EQ(TakeAll(queue, kSteadyNow + seconds(100)), "");
  EXPECT_TRUE(queue.Retry("b", kSteadyNow));
}

}  // namespace
}  // namespace berth::controllers
