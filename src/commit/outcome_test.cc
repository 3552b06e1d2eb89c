#include "commit/outcome.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "commit/testing/ops.h"

namespace berth::commit {
namespace {

using state::testing::Stored;
using testing::Key;
using testing::Text;

class OutcomeTest : public ::testing::Test {
 protected:
  OutcomeTest() {
    attempt_.expected.push_back(std::make_shared<state::Expectation>());
    attempt_.decision = testing::PutOf("new");
  }
  state::Expectation& Expected() { return *attempt_.expected.front(); }
  state::SnapshotPtr Now() const {
    parts_.PumpAll();
    return parts_.follower->Current();
  }
  Resolution ResolveNow() const { return Resolve(Key(), attempt_, *Now()); }

  testing::TestParts parts_;
  Attempt attempt_;
};

TEST_F(OutcomeTest, TheLastRevisionIsTheHighestOfPutsAndDeletes) {
  EXPECT_EQ(LastRevision({.puts = {{5}, {6}}, .deletes = {{7}, {0}}}), 7);
  EXPECT_EQ(LastRevision({.puts = {{5}, {6}}}), 6);
}

TEST_F(OutcomeTest, AConflictBeforeTheFirstFenceIsTheWritesOwn) {
  attempt_.first_fence = 2;
  EXPECT_TRUE(IsOwnConflict(attempt_, {.conflicts = {{.compare = 1}, {.compare = 3}}}));
  EXPECT_FALSE(IsOwnConflict(attempt_, {.conflicts = {{.compare = 2}}}));
  EXPECT_TRUE(IsOwnConflict(attempt_, {})) << "the store does not say which";
}

TEST_F(OutcomeTest, WhatTheFollowerHasSeenWasCommitted) {
  EXPECT_EQ(ResolveNow(), Resolution::kNotCommitted);
  Expected().revision = 9;
  EXPECT_EQ(ResolveNow(), Resolution::kCommitted);
}

TEST_F(OutcomeTest, IfTheEventMayBeMissedOnlyAnUntouchedObjectIsProof) {
  const int64_t revision = parts_.store.Put(Key(), Stored("old"));
  Expected().missed = true;
  Expected().before = revision;
  EXPECT_EQ(ResolveNow(), Resolution::kNotCommitted);
  parts_.store.Put(Key(), Stored("other"));
  EXPECT_EQ(ResolveNow(), Resolution::kUnknown);
}

TEST_F(OutcomeTest, AnObjectThatIsNotThereMayHaveBeenCreatedAndDeletedUnseen) {
  Expected().missed = true;
  EXPECT_EQ(ResolveNow(), Resolution::kUnknown);
}

TEST_F(OutcomeTest, WithoutACommitTheRevisionStays) {
  const state::Resources& resources = parts_.store.resources;
  EXPECT_EQ(Text(UncommittedResult(Key(), attempt_, resources)), "created new @0");
  const int64_t revision = parts_.store.Put(Key(), Stored("old"));
  const std::string at = " @" + std::to_string(revision);
  attempt_.current = Now()->Find(Key());
  EXPECT_EQ(Text(UncommittedResult(Key(), attempt_, resources)), "updated new" + at);
  attempt_.decision = {.kind = Decision::Kind::kDelete};
  EXPECT_EQ(Text(UncommittedResult(Key(), attempt_, resources)), "deleted old" + at);
  attempt_.decision = {};
  EXPECT_EQ(Text(UncommittedResult(Key(), attempt_, resources)), "unchanged old" + at);
}

TEST_F(OutcomeTest, ACommittedWriteShowsItsOwnStateEvenIfAnotherHasFollowed) {
  const state::Resources& resources = parts_.store.resources;
  attempt_.revision = parts_.store.Put(Key(), Stored("new"));
  const std::string at = " @" + std::to_string(attempt_.revision);
  EXPECT_EQ(Text(CommittedResult(Key(), attempt_, *Now(), resources)), "created new" + at);
  parts_.store.Put(Key(), Stored("other"));
  EXPECT_EQ(Text(CommittedResult(Key(), attempt_, *Now(), resources)), "created new" + at);
  attempt_.current = Now()->Find(Key());
  attempt_.decision = {.kind = Decision::Kind::kDelete};
  EXPECT_EQ(Text(CommittedResult(Key(), attempt_, *Now(), resources)), "deleted other" + at);
}

}  // namespace
}  // namespace berth::commit
