// Guards: other objects that a write depends on, given with the write or found by its decision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "commit/testing/sequencer_fixture.h"

namespace berth::commit {
namespace {

using state::ObjectPtr;
using store::Fault;
using testing::Create;
using ::testing::ElementsAre;
using testing::Key;
using testing::NamespaceExists;
using testing::Remove;

using GuardTest = testing::SequencerTest;

TEST_F(GuardTest, AGuardThatChangesBetweenDecisionAndCommitIsAskedAgain) {
  Make();
  store_.Put(NamespaceExists().key, state::testing::Stored("n"));
  PumpAll();
  store_.Delete(NamespaceExists().key);  // The snapshot does not show it yet.
  Submit({.key = Key(), .transform = Create("1"), .guards = {NamespaceExists()}});
  PumpAll();
  EXPECT_EQ(results_.back(), "NotFound");
  EXPECT_EQ(Stored(), "nothing");
  store_.Put(NamespaceExists().key, state::testing::Stored("n"));
  PumpAll();
  store_.Put(NamespaceExists().key, state::testing::Stored("changed"));
  Submit({.key = Key(), .transform = Create("1"), .guards = {NamespaceExists()}});
  PumpAll();
  EXPECT_EQ(results_.back(), "created 1 @5");
}

TEST_F(GuardTest, ARefusalWaitsForTheWriteThatCouldChangeIt) {
  Make();
  faults_ = {Fault::kHold};
  Submit(NamespaceExists().key, Create("n"));
  Submit({.key = Key(), .transform = Create("1"), .guards = {NamespaceExists()}});
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("-", "-"));
  store_.engine->Release();
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("created n @1", "created 1 @2"));

  Run(Key(), Remove());
  Run(NamespaceExists().key, Remove());
  faults_ = {Fault::kFail};
  Submit(NamespaceExists().key, Create("n"));
  Submit({.key = Key(), .transform = Create("1"), .guards = {NamespaceExists()}});
  PumpAll();
  EXPECT_EQ(results_.back(), "NotFound") << "the write that could have changed it failed";
}

/// Deletes the object unless the object that its body names forbids it.
Transform RemoveUnlessKept(int* released = nullptr) {
  return [released](const state::Snapshot&, const ObjectPtr& current) -> base::Result<Decision> {
    if (!current) return base::Fail(base::Reason::kNotFound, "not found");
    Decision decision{.kind = Decision::Kind::kDelete};
    decision.guards.push_back(
        {.key = state::testing::ServiceKey("n", state::testing::Body(*current)),
         .check = [](const ObjectPtr& keeper) -> std::optional<base::Error> {
           if (!keeper) return std::nullopt;
           return base::Error{.reason = base::Reason::kConflict, .message = "kept"};
         }});
    if (released != nullptr) {
      decision.on_outcome = [released](bool committed) { *released += committed ? 0 : 1; };
    }
    return decision;
  };
}

const std::string& Keeper() {
  static const std::string key = state::testing::ServiceKey("n", "keeper");
  return key;
}

TEST_F(GuardTest, ADecisionHasGuardsOfItsOwn) {
  Make();
  Run(Key(), Create("keeper"));
  Run(Keeper(), Create("k"));
  int released = 0;
  EXPECT_EQ(Run(Key(), RemoveUnlessKept(&released)), "Conflict");
  EXPECT_EQ(released, 1);
  Submit({.key = Key(), .transform = RemoveUnlessKept(), .dry_run = true});
  PumpAll();
  EXPECT_EQ(results_.back(), "Conflict") << "a dry-run is told the same";
  Run(Keeper(), Remove());
  EXPECT_EQ(Run(Key(), RemoveUnlessKept(&released)), "deleted keeper @4");
  EXPECT_EQ(released, 1);
}

TEST_F(GuardTest, WhatADecisionDependsOnIsCompared) {
  Make();
  Run(Key(), Create("keeper"));
  store_.Put(Keeper(), state::testing::Stored("k"));  // Not yet in the snapshot.
  EXPECT_EQ(Run(Key(), RemoveUnlessKept()), "Conflict");
  EXPECT_EQ(Stored(), "ok:keeper");
}

TEST_F(GuardTest, ARefusalByTheDecisionWaitsForTheWriteThatCouldChangeIt) {
  Make();
  Run(Key(), Create("keeper"));
  Run(Keeper(), Create("k"));
  faults_ = {Fault::kHold};
  Submit(Keeper(), Remove());
  int released = 0;
  Submit(Key(), RemoveUnlessKept(&released));
  PumpAll();
  EXPECT_EQ(results_.back(), "-");
  EXPECT_EQ(released, 1) << "nothing is kept while it waits";
  store_.engine->Release();
  PumpAll();
  EXPECT_EQ(results_.back(), "deleted keeper @4");
}

/// The keeper acts as a fence: it changes all the time, and no other write changes the object.
TEST_F(GuardTest, ConflictsAtWhatManyDependOnAreNotTheWritesOwn) {
  Make({.max_conflicts = 2, .max_shared_conflicts = 20});
  const std::string& fence = Keeper();
  int left = 15;
  const Transform create = [&](const state::Snapshot&, const ObjectPtr&) -> base::Result<Decision> {
    Decision decision = testing::PutOf("1");
    const ObjectPtr seen = replica_->follower.Current()->Find(fence);
    decision.compares.push_back({.key = fence, .revision = seen ? seen->Revision() : 0});
    if (left-- > 0) store_.Put(fence, state::testing::Stored(std::to_string(left)));
    return decision;
  };
  EXPECT_EQ(Run(Key(), create), "created 1 @16");
  left = 1000;
  EXPECT_EQ(Run(Key(), create), "ServerTimeout");
  EXPECT_EQ(left, 1000 - 21);
}

TEST_F(GuardTest, AFenceThatCannotBeDecodedIsSaidToBeAtOnce) {
  Make();
  store_.Put(Keeper(), "garbage");
  PumpAll();
  int attempts = 0;
  const Transform create = [&](const state::Snapshot&, const ObjectPtr&) -> base::Result<Decision> {
    ++attempts;
    Decision decision = testing::PutOf("1");
    decision.compares.push_back({.key = Keeper(), .revision = 0});
    return decision;
  };
  EXPECT_EQ(Run(Key(), create), "InternalError");
  EXPECT_EQ(attempts, 1);
}

}  // namespace
}  // namespace berth::commit
