// The outcome of merged writes: each write gets its own answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "commit/testing/shared_puts_fixture.h"

namespace berth::commit {
namespace {

using state::ObjectPtr;
using store::Fault;
using testing::Create;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::kMap;
using testing::kOther;
using testing::Marked;
using testing::Marking;
using testing::PutOf;
using testing::Remove;
using testing::Service;
using testing::SharedPutsTest;
using testing::Text;
using testing::With;

TEST_F(SharedPutsTest, AfterADefiniteErrorTheyGoOneByOne) {
  MakeRecording();
  Occupy();
  faults_ = {Fault::kFail, Fault::kNone, Fault::kFail};
  SubmitMarked({"a", "b", "c"});
  Release();
  EXPECT_THAT(sent_, ElementsAre("+0 +map", "+a +b +c +map", "+a +map", "+b +map", "+c +map"));
  EXPECT_EQ(results_[1].substr(0, 9), "created a");
  EXPECT_EQ(results_[2], "ServiceUnavailable");
  EXPECT_EQ(results_[3].substr(0, 9), "created c");
  EXPECT_EQ(Map(), "ok:0ac");
}

TEST_F(SharedPutsTest, OneWhoseObjectHasChangedWhileItWaitedIsDecidedAgain) {
  MakeRecording();
  Occupy();
  SubmitMarked({"a", "b", "c"});
  ASSERT_TRUE(store_.engine->Release());
  store_.Put(Service("b"), state::testing::Stored("other"));
  sent_.clear();
  PumpAll();
  EXPECT_THAT(sent_, ElementsAre("+a +c +map")) << "it does not spoil the others' transaction";
  EXPECT_EQ(results_[2], "AlreadyExists");
  EXPECT_EQ(Map(), "ok:0ac");
}

/// Another server creates b after the snapshot was taken.
TEST_F(SharedPutsTest, AfterAFailedCompareThoseAtFaultAreTakenOut) {
  MakeRecording();
  bool done = false;
  Occupy();
  Submit(Service("a"), Marked("a"));
  Submit(Service("b"),
         With(
             [&done](const state::Snapshot&, const ObjectPtr& current) -> base::Result<Decision> {
               if (current) return base::Fail(base::Reason::kAlreadyExists, "");
               Decision decision = PutOf("b");
               decision.on_outcome = [&done](bool committed) { done = committed; };
               return decision;
             },
             {{.key = kMap,
               .read = Marking(kMap, "").read,
               .apply = [this](std::optional<std::string>& stored) -> base::Result<bool> {
                 if (results_.size() == 4) {
                   results_.emplace_back("the other");
                   store_.Put(Service("b"), state::testing::Stored("other"));
                 }
                 *stored += "b";
                 return true;
               }}}));
  Submit(Service("c"), Marked("c"));
  Release();
  EXPECT_THAT(sent_, ElementsAre("+0 +map", "+b", "+a +b +c +map", "+a +c +map"));
  EXPECT_EQ(results_[1].substr(0, 9), "created a");
  EXPECT_EQ(results_[2], "AlreadyExists");
  EXPECT_EQ(results_[3].substr(0, 9), "created c");
  EXPECT_FALSE(done);
  EXPECT_EQ(Map(), "ok:0ac");
}

TEST_F(SharedPutsTest, WhatAnotherServerPutsIsBuiltUpon) {
  MakeRecording();
  Occupy();
  SubmitMarked({"a", "b"});
  ASSERT_TRUE(store_.engine->Release());
  // Follows up to the write itself only, as if the follower were slow.
  store_.Put(kMap, state::testing::Stored("0 and theirs "));
  PumpAll();
  EXPECT_EQ(Map(), "ok:0 and theirs ab");
  store_.Put(kMap, state::testing::Stored("new "));  // Not yet in the snapshot.
  SubmitMarked({"c", "d"});
  PumpAll();
  EXPECT_EQ(Map(), "ok:new cd");
  store_.Delete(kMap);
  SubmitMarked({"e"});
  PumpAll();
  EXPECT_EQ(Map(), "ok:e");
  EXPECT_THAT(results_, Each(::testing::StartsWith("created")));
}

TEST_F(SharedPutsTest, ConflictsOfTheSharedKeyAreNotTheWritesOwn) {
  MakeRecording({.max_conflicts = 2, .max_shared_conflicts = 20});
  int left = 15;
  SharedPut put = Marking(kMap, "a");
  put.apply = [this, &left](std::optional<std::string>& stored) -> base::Result<bool> {
    if (left-- > 0) store_.Put(kMap, state::testing::Stored(std::to_string(left)));
    stored = stored.value_or("") + "a";
    return true;
  };
  EXPECT_EQ(Run(Service("a"), With(Create("a"), {put})).substr(0, 9), "created a");
  EXPECT_EQ(Map(), "ok:0a");
  left = 1000;
  EXPECT_EQ(Run(Service("b"), With(Create("b"), {put})), "ServerTimeout");
  EXPECT_EQ(left, 1000 - 21);
}

TEST_F(SharedPutsTest, AnUnknownOutcomeIsFoundOutForAll) {
  MakeRecording();
  Occupy();
  faults_ = {Fault::kLoseReply};
  SubmitMarked({"a", "b"});
  Submit(Service("gone"), With(Remove(), {Marking(kMap, "x")}));
  Release();
  EXPECT_THAT(results_, ElementsAre("created 0 @1", "created a @3", "created b @4", "NotFound"));
  EXPECT_THAT(sent_, ElementsAre("+0 +map", "+a +b +map"));

  Occupy("1");
  faults_ = {Fault::kLoseWrite};
  SubmitMarked({"c", "d"});
  Submit(Service("a"), With(Remove(), {Marking(kMap, "-")}));
  Release();
  EXPECT_THAT(sent_,
              ElementsAre("+0 +map", "+a +b +map", "+1 +map", "+c +d +map -a", "+c +d +map -a"));
  EXPECT_EQ(Map(), "ok:0ab1cd-") << "sent again, and applied once";
  EXPECT_EQ(replica_->sequencer->GetStats().unknown, 2U);
}

/// Another server makes the change of one of the writes. The transaction was not committed.
TEST_F(SharedPutsTest, OneThatLooksDoneProvesNothingForTheOthers) {
  MakeRecording();
  Run(Service("x"), Create("x"));
  Occupy();
  Submit(Service("x"), With(Remove(), {Marking(kMap, "-")}));
  SharedPut put = Marking(kMap, "a");
  put.apply = [this, apply = put.apply](std::optional<std::string>& stored) {
    // The follower has events to apply before the outcome can be resolved.
    store_.Put("/registry/other/noise", "x");
    if (sent_.size() == 3) faults_ = {Fault::kLoseWrite};
    return apply(stored);
  };
  Submit(Service("a"), With(Create("a"), {put}));
  ASSERT_TRUE(store_.engine->Release());
  replica_->follower.Pump();
  ASSERT_THAT(sent_, ElementsAre("+x", "+0 +map", "+noise", "+a +map -x"));
  store_.Delete(Service("x"));
  PumpAll();
  EXPECT_EQ(results_[2], "NotFound");
  EXPECT_EQ(results_[3].substr(0, 9), "created a");
  EXPECT_EQ(Map(), "ok:0a");
}

TEST_F(SharedPutsTest, WhatCannotBeFoundOutIsSaid) {
  MakeRecording({}, {}, {.history_bytes = 1000, .ring_bytes = 1000});
  Run(kMap, Create("m"));
  faults_ = {Fault::kLoseReply};
  SubmitMarked({"a"});
  store_.Put(kMap, state::testing::Stored("other"));
  store_.Put(Service("a"), state::testing::Stored("other"));
  store_.LoseHistory();
  PumpAll();
  store_.clock.Advance(std::chrono::seconds(1));
  PumpAll();
  EXPECT_EQ(results_.back(), "Timeout");
  // The shared key has not changed, so the transaction cannot have been committed.
  faults_ = {Fault::kLoseWrite};
  SubmitMarked({"b"});
  store_.LoseHistory();
  PumpAll();
  store_.clock.Advance(std::chrono::seconds(1));
  PumpAll();
  EXPECT_EQ(results_.back().substr(0, 9), "created b");
  EXPECT_EQ(Map(), "ok:otherb");
}

SharedPut Failing(const std::string& key) {
  SharedPut put = Marking(key, "");
  put.apply = [](std::optional<std::string>&) -> base::Result<bool> {
    return base::Fail(base::Reason::kForbidden, "no");
  };
  return put;
}

TEST_F(SharedPutsTest, OneWhoseChangeFailsGetsItsErrorAndOthersGoOn) {
  MakeRecording();
  Occupy();
  std::vector<bool> outcomes;
  SubmitMarked({"a"});
  Submit(Service("b"),
         With(
             [&outcomes](const state::Snapshot&, const ObjectPtr&) -> base::Result<Decision> {
               Decision decision = PutOf("b");
               decision.on_outcome = [&outcomes](bool committed) { outcomes.push_back(committed); };
               return decision;
             },
             {Marking(kMap, "b"), Failing(kOther)}));
  SubmitMarked({"c"});
  Release();
  EXPECT_THAT(sent_, ElementsAre("+0 +map", "+a +c +map"));
  EXPECT_EQ(results_[2], "Forbidden");
  EXPECT_THAT(outcomes, ElementsAre(false));
  EXPECT_EQ(Map(), "ok:0ac") << "what it had done to the first key is undone";
  EXPECT_EQ(Run(Service("d"), With(Create("d"), {Failing(kMap)})), "Forbidden");
  EXPECT_EQ(sent_.size(), 2U);
  EXPECT_EQ(Run(Service("d"), Marked("d")).substr(0, 9), "created d") << "nothing is left taken";
}

TEST_F(SharedPutsTest, OneThatWasDecidedOnSomethingElseIsDecidedAgain) {
  MakeRecording();
  int decided = 0;
  const auto transform = [&decided](const state::Snapshot&,
                                    const ObjectPtr&) -> base::Result<Decision> {
    ++decided;
    Decision decision = PutOf(std::to_string(decided));
    SharedPut put = Marking(kMap, std::to_string(decided));
    if (decided < 3) {
      put.apply = [](std::optional<std::string>&) -> base::Result<bool> { return false; };
    }
    decision.shared = {put};
    return decision;
  };
  EXPECT_EQ(Run(Service("a"), transform), "created 3 @1");
  EXPECT_EQ(Map(), "ok:3");
  EXPECT_EQ(Run(Service("b"),
                [](const state::Snapshot&, const ObjectPtr&) -> base::Result<Decision> {
                  Decision decision = PutOf("b");
                  decision.shared = {Marking(kMap, "")};
                  decision.shared[0].apply = [](std::optional<std::string>&) { return false; };
                  return decision;
                }),
            "ServerTimeout");
}

/// Knows the fence, and is notified late of a new one.
struct SlowListener : state::Listener {
  void OnBatch(const std::vector<state::Change>& changes, int64_t /*revision*/) override {
    for (const state::Change& change : changes) {
      if (change.Last()->Key() != testing::kOther) continue;
      if (const auto call = std::exchange(meanwhile, nullptr)) call();
      fence = change.revision;
    }
  }
  void OnReset(const std::vector<state::Change>& changes, int64_t revision) override {
    OnBatch(changes, revision);
  }

  int64_t fence = 0;
  std::function<void()> meanwhile = {};
};

TEST(SharedPuts, AreDecidedAgainWhenListenersKnowWhatChanged) {
  state::testing::TestStore store;
  store.Open({});
  SlowListener listener;
  state::Follower follower(*store.engine, store.resources, {&listener}, {}, store.clock, store.log);
  Sequencer sequencer({*store.engine, follower, store.resources, store.clock, follower}, {});
  const auto put_fence = [&](const std::string& text) {
    store.Put(testing::kOther, state::testing::Stored(text));
    while (follower.Pump()) {
    }
  };
  put_fence("1");
  int decided = 0;
  std::string result;
  listener.meanwhile = [&] {
    Write write{.key = Service("a")};
    write.transform = [&](const state::Snapshot& snapshot, const state::ObjectPtr& current) {
      ++decided;
      auto decision = Marked("a")(snapshot, current);
      if (decision) decision->compares = {{.key = testing::kOther, .revision = listener.fence}};
      return decision;
    };
    sequencer.Submit(std::move(write),
                     [&](const base::Result<Written>& written) { result = Text(written); });
  };
  put_fence("2");
  EXPECT_EQ(result, "created a @3");
  EXPECT_EQ(decided, 2) << "not over and over until they have been told";
}

/// A store that refuses everything does not make the stack deep.
TEST_F(SharedPutsTest, TenThousandRefusalsInARow) {
  MakeRecording();
  Occupy("first");
  constexpr size_t kMany = 10'000;
  faults_ = std::vector<Fault>(3 * kMany, Fault::kFail);
  for (size_t i = 0; i < kMany; ++i) SubmitMarked({std::to_string(i)});
  Release();
  EXPECT_EQ(std::ranges::count(results_, "ServiceUnavailable"), static_cast<int64_t>(kMany));
  EXPECT_EQ(replica_->sequencer->GetStats().waiting, 0U);
}

}  // namespace
}  // namespace berth::commit
