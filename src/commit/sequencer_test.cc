#include "commit/sequencer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/testing/base_kit.h"
#include "commit/testing/sequencer_fixture.h"
#include "state/follower.h"
#include "state/testing/test_store.h"

namespace berth::commit {
namespace {

using state::ObjectPtr;
using state::testing::Body;
using state::testing::ServiceKey;
using std::chrono::milliseconds;
using store::Fault;
using testing::Append;
using testing::Create;
using ::testing::ElementsAre;
using testing::Key;
using testing::PutOf;
using testing::Remove;
using testing::Replica;
using testing::SequencerTest;

TEST_F(SequencerTest, CreatesChangesAndDeletes) {
  Make();
  EXPECT_EQ(Run(Key(), Create("1")), "created 1 @1");
  EXPECT_EQ(Run(Key(), Create("1")), "AlreadyExists");
  EXPECT_EQ(Run(Key(), Append("2")), "updated 12 @2");
  EXPECT_EQ(Run(Key(), [](const state::Snapshot&, const ObjectPtr&) { return Decision{}; }),
            "unchanged 12 @2");
  EXPECT_EQ(Run(Key(), Remove()), "deleted 12 @3");
  EXPECT_EQ(Run(Key(), Remove()), "NotFound");
  EXPECT_EQ(replica_->sequencer->GetStats().waiting, 0U);
  EXPECT_EQ(replica_->sequencer->GetStats().committed, 3U);
  EXPECT_EQ(replica_->follower.GetStats().taken_over, 2U) << "own writes are not decoded";
}

TEST_F(SequencerTest, AnswersWhenTheWriteCanBeRead) {
  Make();
  Submit(Key(), Create("1"));
  EXPECT_EQ(Stored(), "ok:1");
  EXPECT_EQ(results_[0], "-") << "in the store, but not in the snapshot";
  bool seen = false;
  replica_->sequencer->Submit({.key = ServiceKey("n", "b"), .transform = Create("1")},
                              [&](const base::Result<Written>& written) {
                                const auto now = replica_->follower.Current();
                                seen = now->Find(ServiceKey("n", "b")) == written->object;
                              });
  PumpAll();
  EXPECT_EQ(results_[0], "created 1 @1");
  EXPECT_TRUE(seen);
}

TEST_F(SequencerTest, WritesOfOneObjectWaitInOrderAndBuildOnEachOther) {
  Make();
  for (const char* more : {"a", "b", "c", "d"}) Submit(Key(), Append(more));
  Submit(Key(), Create("x"));
  Submit(ServiceKey("n", "other"), Append("z"));
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("created a @1", "updated ab @3", "updated abc @4",
                                    "updated abcd @5", "AlreadyExists", "created z @2"));
  EXPECT_EQ(replica_->sequencer->GetStats().conflicts, 0U);
}

TEST_F(SequencerTest, AChangeByAnotherIsBuiltUpon) {
  Make();
  Run(Key(), Create("1"));
  store_.Put(Key(), state::testing::Stored("other"));  // Not yet in the snapshot.
  EXPECT_EQ(Run(Key(), Append("+")), "updated other+ @3");
  store_.Delete(Key());
  EXPECT_EQ(Run(Key(), Remove()), "NotFound");
  store_.Put(Key(), state::testing::Stored("again"));
  EXPECT_EQ(Run(Key(), Create("x")), "AlreadyExists");
}

TEST_F(SequencerTest, WithoutEndOfConflictsTheClientShallTryAgain) {
  Make({.max_conflicts = 3});
  Run(Key(), Create("1"));
  int runs = 0;
  const std::string result =
      Run(Key(), [&](const state::Snapshot&, const ObjectPtr& current) -> base::Result<Decision> {
        ++runs;
        store_.Put(Key(), state::testing::Stored("other" + std::to_string(runs)));
        return PutOf(Body(*current) + "+");
      });
  EXPECT_EQ(result, "ServerTimeout");
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(Run(Key(), Append("+")), "updated other4+ @6") << "the next one goes on";
}

TEST_F(SequencerTest, ARefusedWriteChangesNothingAndFreesItsKey) {
  Make();
  faults_ = {Fault::kFail};
  bool was_committed = true;
  Submit(Key(),
         [&was_committed](const state::Snapshot&, const ObjectPtr&) -> base::Result<Decision> {
           Decision decision = PutOf("1");
           decision.on_outcome = [&was_committed](bool committed) { was_committed = committed; };
           return decision;
         });
  Submit(Key(), Create("2"));
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("ServiceUnavailable", "created 2 @1"));
  EXPECT_FALSE(was_committed);
}

TEST_F(SequencerTest, AnUnknownOutcomeIsFoundOut) {
  Make();
  faults_ = {Fault::kLoseReply};
  Submit(Key(), Create("1"));
  Submit(Key(), Append("2"));
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("created 1 @1", "updated 12 @2"));
  faults_ = {Fault::kLoseWrite};
  EXPECT_EQ(Run(Key(), Append("3")), "updated 123 @3") << "it did not happen, so it is sent again";
  faults_ = {Fault::kLoseWrite, Fault::kLoseReply};
  EXPECT_EQ(Run(Key(), Remove()), "deleted 123 @4");
  faults_ = {Fault::kLoseReply};
  EXPECT_EQ(Run(Key(), Create("4")), "created 4 @5");
  EXPECT_EQ(replica_->sequencer->GetStats().unknown, 5U);
}

TEST_F(SequencerTest, AnUnknownWriteThatWasOverwrittenOrDeletedSinceCountsAsDone) {
  Make();
  faults_ = {Fault::kLoseReply};
  Submit(Key(), Create("1"));
  store_.Put(Key(), state::testing::Stored("other"));
  PumpAll();
  EXPECT_EQ(results_.back(), "created 1 @1");
  faults_ = {Fault::kLoseReply};
  Submit(ServiceKey("n", "b"), Create("1"));
  store_.Delete(ServiceKey("n", "b"));
  PumpAll();
  EXPECT_EQ(results_.back(), "created 1 @3");
  EXPECT_EQ(Stored(), "ok:other") << "nobody's change is lost";
}

TEST_F(SequencerTest, AnUnknownWriteThatCannotBeFoundOutSaysSo) {
  Make({}, {}, {.history_bytes = 1000, .ring_bytes = 1000});
  Run(Key(), Create("1"));
  faults_ = {Fault::kLoseReply};
  Submit(Key(), Append("2"));
  store_.Put(Key(), state::testing::Stored("other"));
  store_.LoseHistory();
  PumpAll();
  store_.clock.Advance(milliseconds(1000));
  PumpAll();
  EXPECT_EQ(results_.back(), "Timeout");
  EXPECT_EQ(Run(Key(), Append("3")).substr(0, 14), "updated other3");
}

TEST_F(SequencerTest, AKeyStaysTakenUntilItsReplyHasCome) {
  Make();
  faults_ = {Fault::kHold};
  Submit(Key(), Create("1"));
  Submit(Key(), Append("2"));
  Submit(ServiceKey("n", "b"), Create("b"));
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("-", "-", "created b @2"));
  ASSERT_TRUE(store_.engine->Release());
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("created 1 @1", "updated 12 @3", "created b @2"));
}

TEST_F(SequencerTest, OnASharedStoreARefusalIsAskedOfTheStore) {
  Make({}, {.shared_store = true});
  Run(Key(), Create("1"));
  store_.Delete(Key());  // Acknowledged to another client, not yet in our snapshot.
  EXPECT_EQ(Run(Key(), Create("2")), "created 2 @3");
  store_.Put(Key(), state::testing::Stored("3"));
  EXPECT_EQ(Run(Key(), [](const state::Snapshot&, const ObjectPtr&) { return Decision{}; }),
            "unchanged 3 @4");
  store_.Delete(Key());
  Submit({.key = Key(), .transform = Create("4"), .dry_run = true});
  PumpAll();
  EXPECT_EQ(results_.back(), "created 4 @0");
}

TEST_F(SequencerTest, ADryRunIsDecidedAndKeepsNothing) {
  Make();
  Submit(Key(), Create("1"));
  std::vector<bool> outcomes;
  Submit({.key = Key(),
          .transform = [&outcomes](const state::Snapshot&,
                                   const ObjectPtr& current) -> base::Result<Decision> {
            Decision decision = PutOf(Body(*current) + "2");
            decision.puts.push_back({.key = ServiceKey("n", "extra"), .stored = "ok:e"});
            decision.on_outcome = [&outcomes](bool committed) { outcomes.push_back(committed); };
            return decision;
          },
          .dry_run = true});
  Submit({.key = Key(), .transform = Create("x"), .dry_run = true});
  Submit({.key = Key(), .transform = Remove(), .dry_run = true});
  PumpAll();
  EXPECT_THAT(results_,
              ElementsAre("created 1 @1", "updated 12 @1", "AlreadyExists", "deleted 1 @1"));
  EXPECT_THAT(outcomes, ElementsAre(false));
  EXPECT_EQ(Stored(), "ok:1");
  EXPECT_EQ(store::CurrentNow(*store_.engine)->value, 1);
}

TEST_F(SequencerTest, SeveralObjectsCommitTogetherRecordsFirstGivenBackLast) {
  Make();
  const std::string record = "/registry/namespaces/10.0.0.1";
  const auto take = [&record](const state::Snapshot&, const ObjectPtr&) -> base::Result<Decision> {
    Decision decision = PutOf("1");
    decision.puts.push_back({.key = record,
                             .stored = state::testing::Stored("r"),
                             .wire = state::testing::Wire("r"),
                             .expected = 0});
    return decision;
  };
  EXPECT_EQ(Run(Key(), take), "created 1 @2");
  EXPECT_EQ(replica_->follower.Current()->Find(record)->Revision(), 1);
  EXPECT_EQ(Run(Key(),
                [&record](const state::Snapshot&, const ObjectPtr&) -> base::Result<Decision> {
                  return Decision{.kind = Decision::Kind::kDelete,
                                  .deletes = {{.key = record, .expected = 1}}};
                }),
            "deleted 1 @3");
  EXPECT_EQ(replica_->follower.Current()->Revision(), 4);
  EXPECT_EQ(replica_->follower.Current()->Size(), 0U);

  store_.Put(record, state::testing::Stored("taken"));
  EXPECT_EQ(Run(Key(), take), "ServerTimeout") << "a transform that insists gets nowhere";
  EXPECT_EQ(Stored(), "nothing");
}

TEST_F(SequencerTest, TooMuchIsRefusedAtOnce) {
  Make({.max_waiting = 3, .max_waiting_per_key = 2});
  faults_ = {Fault::kHold};
  for (int i = 0; i < 3; ++i) Submit(Key(), Append("x"));
  EXPECT_EQ(results_.back(), "TooManyRequests");
  faults_ = {Fault::kHold, Fault::kHold};
  Submit(ServiceKey("n", "b"), Append("x"));
  Submit(ServiceKey("n", "c"), Append("x"));
  EXPECT_EQ(results_.back(), "TooManyRequests");
  while (store_.engine->Release()) PumpAll();
  PumpAll();
  while (store_.engine->Release()) PumpAll();
  EXPECT_THAT(results_, ElementsAre("created x @1", "updated xx @3", "TooManyRequests",
                                    "created x @2", "TooManyRequests"));
}

TEST_F(SequencerTest, AtTheDeadlineTheCallerIsToldAndTheWriteGoesOn) {
  Make();
  faults_ = {Fault::kHold};
  const auto deadline = store_.clock.Steady() + std::chrono::seconds(34);
  Submit({.key = Key(), .transform = Create("1"), .deadline = deadline});
  Submit({.key = Key(), .transform = Append("2"), .deadline = deadline});
  Submit({.key = Key(), .transform = Append("3")});
  store_.clock.Advance(std::chrono::seconds(35));
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("Timeout", "Timeout", "-"));
  store_.engine->Release();
  PumpAll();
  EXPECT_THAT(results_, ElementsAre("Timeout", "Timeout", "updated 13 @2"))
      << "the first was finished, the second had not begun";
}

TEST_F(SequencerTest, WhatCannotBeDecodedIsNotOverwritten) {
  Make();
  store_.Put(Key(), "garbage");
  EXPECT_EQ(Run(Key(), Create("1")), "InternalError");
  PumpAll();
  EXPECT_EQ(Run(Key(), Create("1")), "InternalError");
  EXPECT_EQ(Stored(), "garbage");
}

TEST_F(SequencerTest, EverythingIsAnsweredAtTheEnd) {
  Make();
  faults_ = {Fault::kHold};
  Submit(Key(), Append("1"));
  Submit(Key(), Append("2"));
  replica_->sequencer.reset();
  EXPECT_THAT(results_, ElementsAre("ServiceUnavailable", "ServiceUnavailable"));
  store_.engine->Release();
  PumpAll();
}

/// Many clients add letters of their own to a few objects through two servers, on a store that
/// fails, loses replies and answers out of order. Every acknowledged letter is there exactly once.
TEST_F(SequencerTest, TwoServersLoseAndDoubleNothing) {
  const uint64_t seed = base::TestSeed(11);
  SCOPED_TRACE("seed " + std::to_string(seed));
  base::SeededRandom random(seed);
  store::MemoryOptions engine;
  engine.fault = [&random](const store::Txn& /*txn*/) {
    const uint64_t dice = base::Uniform(random, 20);
    return dice < 5 ? static_cast<Fault>(dice) : Fault::kNone;
  };
  store_.Open(std::move(engine));
  std::vector<std::unique_ptr<Replica>> replicas;
  for (int i = 0; i < 2; ++i) {
    replicas.push_back(std::make_unique<Replica>(store_, store_.clock,
                                                 state::FollowerOptions{.shared_store = true},
                                                 SequencerOptions{.max_conflicts = 1000}));
    replicas.back()->follower.Pump();
  }
  std::map<std::string, std::string> state;  // For each mark "?", "ok" or "failed".
  const auto key_of = [](int64_t i) { return ServiceKey("n", std::to_string(i % 5)); };
  const int64_t writes = base::LongCount(5000);
  for (int64_t i = 0; i < writes; ++i) {
    const std::string mark = "<" + std::to_string(i) + ">";
    state[mark] = "?";
    replicas[base::Uniform(random, 2)]->sequencer->Submit(
        {.key = key_of(i), .transform = Append(mark)},
        [&state, mark](const base::Result<Written>& written) {
          state[mark] = written ? "ok" : "failed";
          if (written) {
            EXPECT_NE(Body(*written->object).find(mark), std::string::npos);
          }
        });
    if (base::Uniform(random, 3) == 0) replicas[base::Uniform(random, 2)]->follower.Pump();
    if (base::Uniform(random, 4) == 0) store_.engine->Release(random);
  }
  for (int idle = 0; idle < 3;) {
    ++idle;
    for (const auto& replica : replicas) {
      if (replica->follower.Pump()) idle = 0;
    }
    if (store_.engine->Release(random)) idle = 0;
  }
  std::string all;
  for (int64_t i = 0; i < 5; ++i) {
    const auto entry = store::GetNow(*store_.engine, key_of(i));
    if (*entry) all += (*entry)->value;
  }
  for (const auto& [mark, outcome] : state) {
    const size_t first = all.find(mark);
    ASSERT_NE(outcome, "?") << mark;
    ASSERT_EQ(first != std::string::npos, outcome == "ok") << mark << " " << outcome;
    if (outcome == "ok") {
      ASSERT_EQ(all.find(mark, first + 1), std::string::npos) << mark;
    }
  }
  replicas.clear();
}

TEST_F(SequencerTest, ThreadsOnOneObjectLoseNoUpdate) {
  store_.OpenForThreads();
  Replica replica(store_, store_.system_clock, {}, {});
  replica.follower.Start();
  ASSERT_TRUE(replica.follower.WaitReady(std::chrono::seconds(60)));
  constexpr int kThreads = 4;
  constexpr int kWrites = 100;
  std::atomic<int> stale = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&replica, &stale] {
      for (int i = 0; i < kWrites; ++i) {
        store::Awaited<base::Result<Written>> answer;
        replica.sequencer->Submit({.key = Key(), .transform = Append("x")}, answer.Setter());
        const base::Result<Written> written = answer.Wait();
        const ObjectPtr now = replica.follower.Current()->Find(Key());
        if (!written || now->Revision() < written->revision) ++stale;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(stale, 0);
  EXPECT_EQ(Body(*replica.follower.Current()->Find(Key())).size(), size_t{kThreads} * kWrites);
  replica.sequencer.reset();
}

}  // namespace
}  // namespace berth::commit
