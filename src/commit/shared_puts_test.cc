// Writes that change the same shared key are merged into one transaction.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "commit/testing/shared_puts_fixture.h"

namespace berth::commit {
namespace {

using state::ObjectPtr;
using state::testing::Body;
using testing::Append;
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
using testing::With;

TEST_F(SharedPutsTest, AWriteAndWhatItSharesAreOneTransaction) {
  MakeRecording();
  EXPECT_EQ(Run(Service("a"), Marked("a")), "created a @1");
  EXPECT_EQ(Run(Service("b"), Marked("b")), "created b @3");
  EXPECT_EQ(Run(Service("a"), With(Remove(), {Marking(kMap, "x")})), "deleted a @6");
  EXPECT_THAT(sent_, ElementsAre("+a +map", "+b +map", "+map -a"));
  EXPECT_EQ(Map(), "ok:abx");
  EXPECT_EQ(Body(*replica_->follower.Current()->Find(kMap)), "abx");
  EXPECT_EQ(replica_->sequencer->GetStats().waiting, 0U);
}

TEST_F(SharedPutsTest, ThoseThatWaitGoTogetherInTheirOrder) {
  MakeRecording();
  Occupy();
  SubmitMarked({"a", "b", "c"});
  Submit(Service("plain"), Create("p"));
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("-", "-", "-", "-", "created p @3")) << "others do not wait";
  Release();
  EXPECT_THAT(sent_, ElementsAre("+0 +map", "+plain", "+a +b +c +map"));
  EXPECT_THAT(results_, ElementsAre("created 0 @1", "created a @4", "created b @5", "created c @6",
                                    "created p @3"));
  EXPECT_EQ(Map(), "ok:0abc");
  EXPECT_EQ(replica_->sequencer->GetStats().committed, 5U);
}

TEST_F(SharedPutsTest, WritesOfOneObjectStillComeOneByOne) {
  MakeRecording();
  Occupy();
  for (const char* mark : {"a", "b"}) {
    Submit(Service("x"), With(Append(mark), {Marking(kMap, mark)}));
  }
  SubmitMarked({"c"});
  Release();
  EXPECT_THAT(sent_, ElementsAre("+0 +map", "+x +c +map", "+x +map"));
  EXPECT_THAT(results_,
              ElementsAre("created 0 @1", "created a @3", "updated ab @6", "created c @4"));
  EXPECT_EQ(Map(), "ok:0acb");
}

TEST_F(SharedPutsTest, KeysOfTheirOwnDoNotWaitForEachOtherAndNobodyIsOvertaken) {
  MakeRecording();
  Occupy("0", kMap);
  Submit(Service("a"), With(Create("a"), {Marking(kOther, "a")}));
  EXPECT_EQ(sent_.back(), "+a +other") << "the key is free";
  PumpAll();
  Submit(Service("b"), With(Create("b"), {Marking(kOther, "b"), Marking(kMap, "b")}));
  Submit(Service("c"), With(Create("c"), {Marking(kOther, "c")}));
  PumpAll();
  EXPECT_THAT(sent_, ElementsAre("+0 +map", "+a +other")) << "b waits for both, and c for b";
  Release();
  EXPECT_THAT(sent_, ElementsAre("+0 +map", "+a +other", "+b +c +map +other"));
  EXPECT_EQ(Map(kMap), "ok:0b");
  EXPECT_EQ(Map(kOther), "ok:abc");
}

/// Keys that hold no API objects come after all others, in the order of their slots, whichever
/// write puts them.
TEST_F(SharedPutsTest, KeysWithAPlaceOfTheirOwnComeLast) {
  MakeRecording();
  const auto with_fence = [](const std::string& mark) -> Transform {
    return [mark](const state::Snapshot& snapshot, const ObjectPtr& current) {
      auto decision = Create(mark)(snapshot, current);
      decision->puts.push_back({.key = "/registry/berth.io/fence/ipv4", .stored = mark});
      decision->puts.push_back({.key = "/registry/berth.io/fence/nodeports", .stored = mark});
      decision->puts.push_back({.key = Service(mark + "x"), .stored = "ok:x"});
      return decision;
    };
  };
  EXPECT_EQ(Run(Service("a"), with_fence("a")), "created a @2");
  Occupy();
  SubmitMarked({"c"});
  Submit(Service("b"),
         With(with_fence("b"), {Marking("/registry/ranges/servicenodeports", "b"),
                                Marking("/registry/ranges/serviceips", "b"), Marking(kMap, "b")}));
  SubmitMarked({"d"});
  Release();
  EXPECT_THAT(sent_,
              ElementsAre("+ax +a +nodeports +ipv4", "+0 +map",
                          "+c +bx +b +d +map +servicenodeports +serviceips +nodeports +ipv4"));
  EXPECT_EQ(results_[3], "created b @9");
  EXPECT_EQ(Run(Service("a"),
                [&with_fence](const state::Snapshot& snapshot,
                              const ObjectPtr&) -> base::Result<Decision> {
                  Decision decision = *with_fence("e")(snapshot, nullptr);
                  decision.kind = Decision::Kind::kDelete;
                  return decision;
                })
                .substr(0, 9),
            "deleted a");
  EXPECT_EQ(sent_.back(), "+ex +nodeports +ipv4 -a");
}

TEST_F(SharedPutsTest, OneThatDependsOnWhatAnotherWritesGoesBehindIt) {
  MakeRecording();
  Occupy();
  SubmitMarked({"a"});
  Submit(
      {.key = Service("b"),
       .transform = Marked("b"),
       .guards = {{.key = Service("a"), .check = [](const ObjectPtr&) { return std::nullopt; }}}});
  SubmitMarked({"c"});
  Release();
  EXPECT_THAT(sent_, ElementsAre("+0 +map", "+a +c +map", "+b +map"));
  EXPECT_EQ(Map(), "ok:0acb");
  EXPECT_THAT(results_, Each(::testing::StartsWith("created")));
}

TEST_F(SharedPutsTest, ATransactionHoldsNoMoreThanItMay) {
  MakeRecording({.max_merged = 2});
  Occupy();
  SubmitMarked({"a", "b", "c", "d", "e"});
  Release();
  EXPECT_THAT(sent_, ElementsAre("+0 +map", "+a +b +map", "+c +d +map", "+e +map"));
  EXPECT_EQ(Map(), "ok:0abcde");
}

TEST_F(SharedPutsTest, ATransactionHasALimitOfBytes) {
  MakeRecording();
  Occupy();
  const std::string large(300'000, 'x');
  for (const char* name : {"a", "b", "c", "d"}) {
    Submit(Service(name), With(Create(large), {Marking(kMap, name)}));
  }
  Release();
  EXPECT_THAT(sent_, ElementsAre("+0 +map", "+a +b +map", "+c +d +map"));
}

/// There are more writes than fit into one transaction of the store.
TEST_F(SharedPutsTest, ThousandsFillTransactionsToTheirLimit) {
  MakeRecording({.max_merged = 10'000});
  Occupy("first");
  constexpr size_t kMany = 5000;
  for (size_t i = 0; i < kMany; ++i) SubmitMarked({std::to_string(i)});
  Release();
  EXPECT_EQ(sent_.size(), 4U) << "the first, and twice 2,000 puts, and the rest";
  EXPECT_THAT(results_, Each(::testing::StartsWith("created")));
}

TEST_F(SharedPutsTest, TooMuchIsRefusedAtOnce) {
  MakeRecording({.max_waiting = 3});
  Occupy();
  SubmitMarked({"a", "b", "c"});
  EXPECT_THAT(results_, ElementsAre("-", "-", "-", "TooManyRequests"));
  Release();
  EXPECT_EQ(Map(), "ok:0ab");
}

TEST_F(SharedPutsTest, OneWhoseTimeIsUpBeforeItBeganIsDropped) {
  MakeRecording();
  Occupy();
  std::vector<bool> outcomes;
  Submit({.key = Service("a"),
          .transform = [&outcomes](const state::Snapshot&,
                                   const ObjectPtr&) -> base::Result<Decision> {
            Decision decision = PutOf("a");
            decision.shared = {Marking(kMap, "a")};
            decision.on_outcome = [&outcomes](bool committed) { outcomes.push_back(committed); };
            return decision;
          },
          .deadline = store_.clock.Steady() + std::chrono::seconds(5)});
  SubmitMarked({"b"});
  store_.clock.Advance(std::chrono::seconds(6));
  PumpAll();
  EXPECT_EQ(results_[1], "Timeout");
  EXPECT_TRUE(outcomes.empty()) << "it is noticed when its turn comes";
  Release();
  EXPECT_THAT(outcomes, ElementsAre(false));
  EXPECT_THAT(sent_, ElementsAre("+0 +map", "+b +map"));
  EXPECT_EQ(replica_->sequencer->GetStats().waiting, 0U);
}

TEST_F(SharedPutsTest, AtTheEndThoseThatWaitAreSettledAndAnswered) {
  MakeRecording();
  Occupy();
  int outcomes = 0;
  Submit(Service("a"),
         With(
             [&outcomes](const state::Snapshot&, const ObjectPtr&) -> base::Result<Decision> {
               Decision decision = PutOf("a");
               decision.on_outcome = [&outcomes](bool done) { outcomes += done ? 100 : 1; };
               return decision;
             },
             {Marking(kMap, "a")}));
  replica_->sequencer->Close();
  EXPECT_THAT(results_, ElementsAre("ServiceUnavailable", "ServiceUnavailable"));
  EXPECT_EQ(outcomes, 1);
  ASSERT_TRUE(store_.engine->Release());
  PumpAll();
  EXPECT_EQ(Map(), "ok:0");
}

TEST_F(SharedPutsTest, ADryRunSharesNothing) {
  MakeRecording();
  Submit({.key = Service("a"), .transform = Marked("a"), .dry_run = true});
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("created a @0"));
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(Run(Service("a"), With(Remove(), {Marking(kMap, "a")})), "NotFound");
  EXPECT_TRUE(sent_.empty());
}

TEST_F(SharedPutsTest, WhatCannotBeDecodedIsNotOverwritten) {
  MakeRecording();
  store_.Put(kMap, "garbage");
  PumpAll();
  EXPECT_EQ(Run(Service("a"), Marked("a")), "InternalError");
  EXPECT_EQ(Map(), "garbage");
}

}  // namespace
}  // namespace berth::commit
