#include "commit/merge_queue.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "commit/testing/ops.h"

namespace berth::commit {
namespace {

OpPtr Sharing(const std::string& key, const std::vector<std::string>& shared) {
  OpPtr op = testing::MakeOp(key);
  for (const std::string& one : shared) op->attempt.decision.shared.push_back({.key = one});
  return op;
}

/// Walks over the queue and removes the writes whose key is in `remove`. Returns all that it met.
std::string WalkOver(MergeQueue& queue, const std::string& remove = "") {
  std::string met;
  MergeQueue::Walk walk(queue);
  while (const MergeQueue::Entry* entry = walk.Next()) {
    const std::string key = entry->op->write.key;
    met += key;
    if (remove.find(key) != std::string::npos) walk.Remove();
  }
  return met;
}

TEST(MergeQueueTest, WritesComeInTheirOrderUntilTheyAreRemoved) {
  MergeQueue queue;
  EXPECT_EQ(WalkOver(queue), "");
  for (const char* key : {"a", "b", "c"}) queue.Add(Sharing(key, {"x"}));
  EXPECT_EQ(WalkOver(queue, "b"), "abc");
  EXPECT_EQ(WalkOver(queue, "a"), "ac");
  EXPECT_EQ(WalkOver(queue, "c"), "c");
  EXPECT_EQ(WalkOver(queue), "");
}

TEST(MergeQueueTest, AWriteThatComesBackHasItsOldPosition) {
  MergeQueue queue;
  const OpPtr b = Sharing("b", {"x"});
  queue.Add(Sharing("a", {"x"}));
  queue.Add(b);
  queue.Add(Sharing("c", {"x"}));
  EXPECT_EQ(WalkOver(queue, "b"), "abc");
  queue.Add(Sharing("d", {"x"}));
  queue.Add(b);
  EXPECT_EQ(WalkOver(queue), "abcd");
}

TEST(MergeQueueTest, WritesWithAKeyInTheStoreWait) {
  MergeQueue queue;
  queue.Add(Sharing("a", {"x"}));
  queue.Add(Sharing("b", {"y"}));
  queue.Occupy({{.key = "x"}});
  EXPECT_EQ(WalkOver(queue), "b");
  queue.Occupy({{.key = "y"}});
  EXPECT_EQ(WalkOver(queue), "");
  queue.Release({{.key = "x"}});
  EXPECT_EQ(WalkOver(queue), "a");
}

TEST(MergeQueueTest, AWriteThatWaitsIsNotOvertakenAtItsOtherKeys) {
  MergeQueue queue;
  queue.Add(Sharing("a", {"x", "y"}));
  queue.Add(Sharing("b", {"y"}));
  queue.Add(Sharing("c", {"y", "z"}));
  queue.Add(Sharing("d", {"z"}));
  queue.Add(Sharing("e", {"w"}));
  queue.Occupy({{.key = "x"}});
  EXPECT_EQ(WalkOver(queue), "e");
  queue.Release({{.key = "x"}});
  EXPECT_EQ(WalkOver(queue), "abcde");
}

TEST(MergeQueueTest, ClearReturnsAll) {
  MergeQueue queue;
  queue.Add(Sharing("a", {"x"}));
  queue.Add(Sharing("b", {"y"}));
  EXPECT_EQ(testing::KeysOf(queue.Clear()), "a b");
  EXPECT_EQ(WalkOver(queue), "");
}

}  // namespace
}  // namespace berth::commit
