#include "commit/attempt.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "commit/testing/ops.h"

namespace berth::commit {
namespace {

using state::testing::Stored;
using testing::Key;
using testing::PutOf;

const std::string kNamespace = "/registry/namespaces/n";

/// Returns the transaction as text: compares as "key=revision", then puts and deletes, without what
/// comes before the last slash.
std::string TextOf(const store::Txn& txn) {
  const auto last = [](const std::string& key) { return key.substr(key.rfind('/') + 1); };
  std::string text;
  for (const store::Compare& compare : txn.compares) {
    text += last(compare.key) + "=" + std::to_string(compare.revision.value) + " ";
  }
  for (const store::Put& put : txn.puts) text += "+" + last(put.key) + " ";
  for (const std::string& key : txn.deletes) text += "-" + last(key) + " ";
  text.pop_back();
  return text;
}

class AttemptTest : public ::testing::Test {
 protected:
  std::optional<Refusal> DecideOn(Write write) {
    write_ = std::move(write);  // The attempt points to the keys of its guards.
    parts_.PumpAll();
    return Decide(write_, *parts_.follower->Current(), *parts_.follower, attempt_);
  }

  testing::TestParts parts_;
  Write write_;
  Attempt attempt_;
};

TEST_F(AttemptTest, ADecisionIsMadeOnTheObjectAndAfterItsGuards) {
  const int64_t revision = parts_.store.Put(kNamespace, Stored("ns"));
  EXPECT_FALSE(DecideOn(
      {.key = Key(), .transform = testing::Create("one"), .guards = {testing::NamespaceExists()}}));
  EXPECT_EQ(attempt_.current, nullptr);
  ASSERT_EQ(attempt_.guarded.size(), 1U);
  EXPECT_EQ(*attempt_.guarded[0].key, kNamespace);
  EXPECT_EQ(attempt_.guarded[0].object->Revision(), revision);
  EXPECT_EQ(attempt_.decision.kind, Decision::Kind::kPut);
}

TEST_F(AttemptTest, ARefusalSaysWhetherItIsAGuards) {
  const auto by_guard = DecideOn(
      {.key = Key(), .transform = testing::Create("one"), .guards = {testing::NamespaceExists()}});
  ASSERT_TRUE(by_guard);
  EXPECT_EQ(by_guard->error.message, "no namespace");
  EXPECT_TRUE(attempt_.refused_by_guard);

  const auto by_transform = DecideOn({.key = Key(), .transform = testing::Remove()});
  ASSERT_TRUE(by_transform);
  EXPECT_EQ(by_transform->error.message, "not found");
  EXPECT_FALSE(attempt_.refused_by_guard);
  EXPECT_TRUE(attempt_.guarded.empty());
}

TEST_F(AttemptTest, GuardsOfTheDecisionAreAskedOnTheSameSnapshot) {
  const auto refusal =
      DecideOn({.key = Key(), .transform = [](const state::Snapshot&, const state::ObjectPtr&) {
                  Decision decision = PutOf("one");
                  decision.guards.push_back(testing::NamespaceExists());
                  return decision;
                }});
  ASSERT_TRUE(refusal);
  EXPECT_TRUE(attempt_.refused_by_guard);
  EXPECT_EQ(*attempt_.guarded.back().key, kNamespace);
}

TEST_F(AttemptTest, ToDeleteWhatDoesNotExistIsNothing) {
  EXPECT_FALSE(
      DecideOn({.key = Key(), .transform = [](const state::Snapshot&, const state::ObjectPtr&) {
                  return Decision{.kind = Decision::Kind::kDelete};
                }}));
  EXPECT_EQ(attempt_.decision.kind, Decision::Kind::kNothing);
}

TEST_F(AttemptTest, AValueThatCannotBeDecodedIsNotOverwritten) {
  parts_.store.Put(Key(), "broken");
  const auto refusal = DecideOn({.key = Key(), .transform = testing::Create("one")});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->error.reason, base::Reason::kInternalError);
}

TEST_F(AttemptTest, ATransactionComparesEachKeyOnceAndFencesLast) {
  const int64_t revision = parts_.store.Put(kNamespace, Stored("ns"));
  const auto transform = [](const state::Snapshot&, const state::ObjectPtr&) {
    Decision decision = PutOf("one");
    decision.puts = {{.key = "/r/new", .stored = "x", .expected = 0}, {.key = "/r/any"}};
    decision.deletes = {{.key = "/r/old", .expected = 5}, {.key = "/r/gone"}};
    decision.guards.push_back(testing::NamespaceExists());
    decision.compares = {{.key = "/r/fence", .revision = 9}, {.key = "/r/old", .revision = 8}};
    return decision;
  };
  EXPECT_FALSE(
      DecideOn({.key = Key(), .transform = transform, .guards = {testing::NamespaceExists()}}));
  const store::Txn txn = MakeTxn(Key(), attempt_);
  EXPECT_EQ(TextOf(txn),
            "a=0 n=" + std::to_string(revision) + " new=0 old=5 fence=9 +new +any +a -old -gone");
  EXPECT_EQ(attempt_.first_fence, 4U);
  EXPECT_EQ(attempt_.object_put, 2U);
  ASSERT_EQ(attempt_.expected.size(), 3U);
  EXPECT_EQ(attempt_.expected[0]->key, Key());
  EXPECT_EQ(attempt_.expected[0]->stored, txn.puts[2].value);
  EXPECT_EQ(attempt_.expected[1]->key, "/r/new");
}

TEST_F(AttemptTest, KeysWithAFixedSlotAreLast) {
  attempt_.decision = PutOf("one");
  attempt_.decision.puts = {{.key = "/registry/berth.io/mode"},
                            {.key = "/registry/berth.io/fence/ipv4"},
                            {.key = "/r/record"}};
  EXPECT_EQ(TextOf(MakeTxn(Key(), attempt_)), "a=0 +record +a +ipv4 +mode");
  EXPECT_EQ(attempt_.object_put, 1U);
}

TEST_F(AttemptTest, ADeleteIsExpectedWithTheRevisionBeforeIt) {
  const int64_t revision = parts_.store.Put(Key(), Stored("one"));
  EXPECT_FALSE(DecideOn({.key = Key(), .transform = testing::Remove()}));
  EXPECT_EQ(TextOf(MakeExpectedTxn(Key(), attempt_, *parts_.follower)),
            "a=" + std::to_string(revision) + " -a");
  ASSERT_EQ(attempt_.expected.size(), 1U);
  EXPECT_TRUE(attempt_.expected[0]->deletes);
  EXPECT_EQ(attempt_.expected[0]->before, revision);
  const int64_t deleted = parts_.store.Delete(Key());
  parts_.PumpAll();
  EXPECT_EQ(attempt_.expected[0]->revision, deleted) << "the follower expects it";
}

}  // namespace
}  // namespace berth::commit
