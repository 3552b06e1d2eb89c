#include "controllers/owner_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace berth::controllers {
namespace {

/// Objects have letters for names. The uid of "a" is "A".
class OwnerIndexTest : public ::testing::Test {
 protected:
  static std::string Upper(std::string_view key) {
    std::string uid(key);
    std::ranges::transform(uid, uid.begin(), [](char c) { return static_cast<char>(c - 32); });
    return uid;
  }
  /// An owner that is blocked has a '!' after it.
  static Facts Of(std::string_view key, const std::vector<std::string>& owners,
                  Waits waits = Waits::kNo) {
    Facts facts{.uid = Upper(key), .deleted = waits != Waits::kNo, .waits = waits};
    for (const std::string& owner : owners) {
      const std::string name = owner.substr(0, 1);
      facts.owners.push_back({.owner = name, .uid = Upper(name), .blocking = owner.ends_with('!')});
    }
    return facts;
  }
  /// Returns what should be examined because of the change, sorted, each once.
  std::string Set(std::string_view key, const std::vector<std::string>& owners,
                  Waits waits = Waits::kNo) {
    return Set(key, Of(key, owners, waits));
  }
  std::string Set(std::string_view key, std::optional<Facts> facts) {
    OwnerIndex::Keys look;
    index_.Set(key, std::move(facts), look);
    return Sorted(look);
  }
  std::string Remove(std::string_view key) {
    OwnerIndex::Keys look;
    index_.Remove(key, look);
    return Sorted(look);
  }
  static std::string Sorted(OwnerIndex::Keys keys) {
    std::ranges::sort(keys);
    const auto repeated = std::ranges::unique(keys);
    keys.erase(repeated.begin(), repeated.end());
    std::string out;
    for (const std::string& key : keys) out += key;
    return out;
  }

  OwnerIndex index_;
};

TEST_F(OwnerIndexTest, WhatDoesNotMatterTakesNoMemory) {
  EXPECT_EQ(Set("a", std::nullopt), "");
  EXPECT_EQ(Set("b", Facts{.uid = "B", .deleted = true}), "");
  EXPECT_EQ(index_.Size(), 0U);
  EXPECT_EQ(Set("c", {"a"}), "c");
  EXPECT_EQ(index_.Size(), 1U);
  EXPECT_EQ(Set("c", std::nullopt), "");
  EXPECT_EQ(index_.Size(), 0U);
  EXPECT_EQ(Remove("a"), "");
}

TEST_F(OwnerIndexTest, DependentsAreLookedAtWhenTheirOwnerGoes) {
  Set("b", {"a"});
  Set("c", {"x", "a"});
  Set("d", {"x"});
  EXPECT_EQ(index_.Dependents("a", "A"), 2U);
  EXPECT_EQ(Remove("a"), "bc");
  EXPECT_EQ(Set("c", {"x"}), "c");
  EXPECT_EQ(Remove("a"), "b");
  EXPECT_EQ(Remove("b"), "");
  EXPECT_EQ(index_.Dependents("a", "A"), 0U);
}

TEST_F(OwnerIndexTest, NothingIsLookedAtWhenNothingChanged) {
  EXPECT_EQ(Set("b", {"a"}), "b");
  EXPECT_EQ(Set("b", {"a"}), "");
  EXPECT_EQ(Set("b", {"a!"}), "b");
}

TEST_F(OwnerIndexTest, WhoWaitsIsLookedAtWithItsDependents) {
  Set("b", {"a!"});
  Set("c", {"a"});
  EXPECT_EQ(Set("a", {}, Waits::kForeground), "abc");
  EXPECT_EQ(Set("a", {}, Waits::kForeground), "");
  EXPECT_EQ(Set("a", {}, Waits::kOrphan), "abc");
}

TEST_F(OwnerIndexTest, WhoWaitsIsLookedAtWhenTheLastBlockingOneGoes) {
  Set("b", {"a!"});
  Set("c", {"a!"});
  Set("d", {"a"});
  Set("a", {}, Waits::kForeground);
  EXPECT_EQ(index_.Blocking("a", "A"), 2U);
  EXPECT_EQ(Remove("b"), "");
  EXPECT_EQ(Set("c", {"a"}), "ac");  // No longer blocks.
  EXPECT_EQ(Set("e", {"a!"}), "e");
  EXPECT_EQ(Set("e", {"x!"}), "ae");
}

TEST_F(OwnerIndexTest, WhoOrphansIsLookedAtWhenTheLastReferenceGoes) {
  Set("b", {"a!"});
  Set("c", {"a"});
  Set("a", {}, Waits::kOrphan);
  EXPECT_EQ(Set("b", {"x"}), "b");
  EXPECT_EQ(Set("c", std::nullopt), "a");
}

TEST_F(OwnerIndexTest, AnotherUidIsAnotherOwner) {
  Facts facts = Of("b", {"a!"});
  facts.owners[0].uid = "old";
  Set("b", facts);
  EXPECT_EQ(index_.Dependents("a", "A"), 0U);
  EXPECT_EQ(index_.Dependents("a", "old"), 1U);
  EXPECT_EQ(Set("a", {}, Waits::kForeground), "ab");  // It may be examined in vain.
  EXPECT_EQ(Remove("b"), "");
}

TEST_F(OwnerIndexTest, ReferencesThatNobodyCanFollowCountForNothing) {
  Facts facts{.uid = "B", .owners = {{.uid = "?", .blocking = true}}};
  EXPECT_EQ(Set("b", facts), "b");
  EXPECT_EQ(index_.Dependents("", "?"), 0U);
  EXPECT_EQ(Remove("b"), "");
}

TEST_F(OwnerIndexTest, TheSameOwnerTwice) {
  Set("b", {"a!", "a"});
  EXPECT_EQ(index_.Dependents("a", "A"), 2U);
  EXPECT_EQ(index_.Blocking("a", "A"), 1U);
  EXPECT_EQ(Remove("b"), "");
  EXPECT_EQ(index_.Dependents("a", "A"), 0U);
  EXPECT_EQ(Remove("a"), "");
}

TEST_F(OwnerIndexTest, Circles) {
  const Waits foreground = Waits::kForeground;
  Set("a", {"a!"}, foreground);
  EXPECT_TRUE(index_.WaitsForItself("a"));
  Set("a", {"a"}, foreground);  // Does not block.
  EXPECT_FALSE(index_.WaitsForItself("a"));

  Set("b", {"c!"}, foreground);
  Set("c", {"d!"}, foreground);
  Set("d", {"x", "b!"});
  EXPECT_FALSE(index_.WaitsForItself("b"));  // D is not being deleted.
  Set("d", {"x", "b!"}, Waits::kOrphan);
  EXPECT_FALSE(index_.WaitsForItself("b"));
  Set("d", {"x", "b!"}, foreground);
  for (const char* key : {"b", "c", "d"}) EXPECT_TRUE(index_.WaitsForItself(key)) << key;
  Set("e", {"d!"}, foreground);  // Below a circle, not in it.
  EXPECT_FALSE(index_.WaitsForItself("e"));
  EXPECT_FALSE(index_.WaitsForItself("none"));
}

TEST_F(OwnerIndexTest, ALongSearchEnds) {
  const auto name = [](int i) { return "n" + std::to_string(i); };
  OwnerIndex::Keys look;
  for (int i = 1; i <= 2000; ++i) {
    index_.Set(name(i),
               Facts{.uid = name(i),
                     .owners = {{.owner = name(i - 1), .uid = name(i - 1), .blocking = true}},
                     .deleted = true,
                     .waits = Waits::kForeground},
               look);
  }
  EXPECT_FALSE(index_.WaitsForItself(name(500)));
  EXPECT_TRUE(index_.WaitsForItself(name(2000)));  // A long search counts as a circle.
}

TEST_F(OwnerIndexTest, Clear) {
  Set("b", {"a!"}, Waits::kForeground);
  index_.Clear();
  EXPECT_EQ(index_.Size(), 0U);
  EXPECT_EQ(Remove("a"), "");
  EXPECT_EQ(Set("b", {"a!"}), "b");
}

}  // namespace
}  // namespace berth::controllers
