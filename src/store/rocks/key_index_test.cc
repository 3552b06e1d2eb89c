#include "store/rocks/key_index.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "base/testing/base_kit.h"

namespace berth::store::rocks {
namespace {

TEST(KeyIndex, KnowsWhatAMapKnows) {
  const uint64_t seed = base::TestSeed(1);
  base::SeededRandom random(seed);
  KeyIndex index({.k0 = random.Next(), .k1 = random.Next()});
  std::map<std::string, int64_t> model;
  for (int64_t revision = 1; revision <= 20'000; ++revision) {
    const std::string key = std::to_string(base::Uniform(random, 3000));
    const bool put = base::Uniform(random, 3) != 0;
    const std::array changes = {
        KeyIndex::Change{.key = index.Hash(key), .revision = {put ? revision : 0}}};
    index.Publish(changes, {revision});
    if (put) {
      model[key] = revision;
    } else {
      model.erase(key);
    }
    ASSERT_EQ(index.Size(), model.size()) << "seed " << seed;
    ASSERT_EQ(index.Published().value, revision);
  }
  for (int i = 0; i < 3000; ++i) {
    const auto known = model.find(std::to_string(i));
    ASSERT_EQ(index.Find(index.Hash(std::to_string(i))).value,
              known == model.end() ? 0 : known->second)
        << "seed " << seed;
  }
}

TEST(KeyIndex, LaterChangesOfAGroupCount) {
  KeyIndex index({});
  const KeyHash key = index.Hash("a");
  const std::vector<KeyIndex::Change> changes = {
      {.key = key, .revision = {1}}, {.key = key}, {.key = key, .revision = {3}}};
  index.Publish(changes, {3});
  EXPECT_EQ(index.Find(key).value, 3);
  EXPECT_EQ(index.Size(), 1U);
}

TEST(KeyIndex, AGroupIsSeenAsAWhole) {
  KeyIndex index({});
  const KeyHash a = index.Hash("a");
  const KeyHash b = index.Hash("b");
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int64_t revision = 2; !stop; revision += 2) {
      const std::array changes = {KeyIndex::Change{.key = a, .revision = {revision - 1}},
                                  KeyIndex::Change{.key = b, .revision = {revision}}};
      index.Publish(changes, {revision});
    }
  });
  for (int i = 0; i < 20'000; ++i) {
    // A later read never sees an older state than an earlier read.
    const int64_t published = index.Published().value;
    const int64_t first = index.Find(a).value;
    const int64_t second = index.Find(b).value;
    ASSERT_GE(first + 1, published);
    ASSERT_GE(second, first == 0 ? 0 : first + 1);
    ASSERT_GE(index.Published().value, second);
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace berth::store::rocks
