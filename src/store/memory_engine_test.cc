#include "store/memory_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/testing/base_kit.h"
#include "store/blocking.h"
#include "store/testing/contract_suite.h"

namespace berth::store {
namespace contract {

class MemoryUnderTest final : public StoreUnderTest {
 public:
  std::unique_ptr<Engine> Open(const Sizes& sizes) override {
    return MemoryEngine::Make(
        {.history_bytes = sizes.history_bytes, .ring_bytes = sizes.ring_bytes}, clock_);
  }
  void Pass(std::chrono::milliseconds time) override { clock_.Advance(time); }
  base::SteadyTime Now() override { return clock_.Steady(); }

 private:
  base::ManualClock clock_;
};

BERTH_STORE_CONTRACT(Memory, EngineUnderTest{.name = "memory", .make = [] {
                                               return std::make_unique<MemoryUnderTest>();
                                             }});

}  // namespace contract

namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::ElementsAre;

Txn PutTxn(std::string key, std::string value = "v", seconds ttl = {}) {
  return {.puts = {{.key = std::move(key), .value = std::move(value), .ttl = ttl}}};
}

class MemoryEngineTest : public testing::Test {
 protected:
  MemoryEngine& engine() {
    if (engine_ == nullptr) {
      options_.fault = [this](const Txn&) { return std::exchange(fault_, Fault::kNone); };
      engine_ = MemoryEngine::Make(options_, clock_);
    }
    return *engine_;
  }

  /// Commits with a fault. The reply adds `name` to `replied_` and sets `outcome_`.
  void Commit(Txn txn, Fault fault, const std::string& name) {
    MemoryEngine& store = engine();
    fault_ = fault;
    store.Commit(std::move(txn), [this, name](const TxnReply& reply) {
      replied_.push_back(name);
      outcome_ = reply.outcome;
    });
  }

  bool Exists(const std::string& key) { return GetNow(engine(), key)->has_value(); }

  int64_t Now() { return CurrentNow(engine())->value; }

  base::ManualClock clock_;
  MemoryOptions options_;
  Fault fault_ = Fault::kNone;  // Of the next commit.
  std::vector<std::string> replied_;
  Outcome outcome_ = Outcome::kUnknown;  // Of the last reply.
  std::unique_ptr<MemoryEngine> engine_;
};

TEST_F(MemoryEngineTest, ACommitCanBeFailed) {
  Commit(PutTxn("a"), Fault::kFail, "one");
  EXPECT_EQ(outcome_, Outcome::kRefused);
  EXPECT_FALSE(Exists("a"));
  EXPECT_EQ(Now(), 0);
  Commit(PutTxn("a"), Fault::kNone, "two");
  EXPECT_EQ(outcome_, Outcome::kCommitted);
  EXPECT_THAT(replied_, ElementsAre("one", "two"));
}

TEST_F(MemoryEngineTest, AReplyCanBeLost) {
  WatchReader reader(engine(), {});
  Commit(PutTxn("a"), Fault::kLoseReply, "one");
  EXPECT_THAT(replied_, ElementsAre("one"));
  EXPECT_EQ(outcome_, Outcome::kUnknown);
  EXPECT_TRUE(Exists("a"));
  EXPECT_EQ(reader.Next(1, std::chrono::steady_clock::now())->size(), 1U);
}

TEST_F(MemoryEngineTest, AWriteCanBeLost) {
  Commit(PutTxn("a"), Fault::kLoseWrite, "one");
  EXPECT_THAT(replied_, ElementsAre("one"));
  EXPECT_EQ(outcome_, Outcome::kUnknown);
  EXPECT_FALSE(Exists("a"));
  EXPECT_EQ(Now(), 0);
}

TEST_F(MemoryEngineTest, AReplyCanBeHeld) {
  WatchReader reader(engine(), {});
  Commit(PutTxn("a"), Fault::kHold, "one");
  Commit({.compares = {{.key = "a"}}}, Fault::kHold, "two");
  Commit(PutTxn("b"), Fault::kNone, "three");
  EXPECT_THAT(replied_, ElementsAre("three"));
  EXPECT_EQ(engine().Held(), 2U);
  // The commit has happened and is visible, but the caller has no reply yet.
  EXPECT_TRUE(Exists("a"));
  EXPECT_EQ(reader.Next(2, std::chrono::steady_clock::now())->size(), 2U);

  EXPECT_TRUE(engine().Release());
  EXPECT_EQ(outcome_, Outcome::kCommitted);
  EXPECT_TRUE(engine().Release());
  EXPECT_EQ(outcome_, Outcome::kConflict);
  EXPECT_FALSE(engine().Release());
  EXPECT_THAT(replied_, ElementsAre("three", "one", "two"));
  EXPECT_EQ(engine().Held(), 0U);
}

TEST_F(MemoryEngineTest, HeldRepliesCanComeInAnyOrder) {
  base::SeededRandom random(5);
  std::vector<std::string> in_order;
  for (int i = 0; i < 20; ++i) {
    in_order.push_back(std::to_string(i));
    Commit(PutTxn("a"), Fault::kHold, in_order.back());
  }
  while (engine().Release(random)) {
  }
  EXPECT_NE(replied_, in_order);
  EXPECT_THAT(replied_, testing::UnorderedElementsAreArray(in_order));
}

TEST_F(MemoryEngineTest, ClosingSettlesHeldReplies) {
  Commit(PutTxn("a"), Fault::kHold, "one");
  EXPECT_THAT(replied_, ElementsAre());
  engine_.reset();
  EXPECT_THAT(replied_, ElementsAre("one"));
  EXPECT_EQ(outcome_, Outcome::kUnknown);
}

TEST_F(MemoryEngineTest, FaultsAreAskedForInOrderAndNotForBrokenLimits) {
  std::vector<std::string> asked;
  options_.fault = [&asked](const Txn& txn) {
    asked.push_back(txn.puts.at(0).key);
    return Fault::kNone;
  };
  const auto store = MemoryEngine::Make(options_, clock_);
  for (const char* key : {"c", "", "a", "b"}) std::ignore = CommitNow(*store, PutTxn(key));
  EXPECT_THAT(asked, ElementsAre("c", "a", "b"));
}

TEST_F(MemoryEngineTest, RevisionsBeginAboveTheBase) {
  options_.base = {1000};
  EXPECT_EQ(Now(), 1000);
  EXPECT_EQ(CommitNow(engine(), PutTxn("a")).puts.at(0).value, 1001);
  EXPECT_TRUE(ScanAll(engine(), "", {1000})->entries.empty());
  EXPECT_EQ(ScanAll(engine(), "", {999}).error().reason, base::Reason::kExpired);
  EXPECT_EQ(engine().Follow({999}, [] {})->Poll(1).error().reason, base::Reason::kExpired);
  EXPECT_EQ(engine().Follow({1000}, [] {})->Poll(5)->events.size(), 1U);
}

TEST_F(MemoryEngineTest, HistoryIsBoundedAndThePresentStays) {
  options_.history_bytes = 10'000;
  options_.ring_bytes = 1000;
  std::ignore = CommitNow(engine(), PutTxn("kept", std::string(5000, 'x')));
  for (int i = 0; i < 100; ++i) {
    std::ignore = CommitNow(engine(), PutTxn(i % 2 == 0 ? "a" : "b", std::string(1000, 'x')));
  }
  EXPECT_EQ(ScanAll(engine(), "", {50}).error().reason, base::Reason::kExpired);
  EXPECT_EQ(engine().Follow({50}, [] {})->Poll(1).error().reason, base::Reason::kExpired);
  EXPECT_EQ(ScanAll(engine(), "", {98})->entries.size(), 3U);
  EXPECT_EQ(engine().Follow({98}, [] {})->Poll(1)->events.size(), 1U);
  EXPECT_EQ(ScanAll(engine(), "")->entries.size(), 3U);
  EXPECT_EQ(Now(), 101);
}

TEST_F(MemoryEngineTest, ExpiryIsExactAndInOrder) {
  WatchReader reader(engine(), {});
  std::ignore = CommitNow(engine(), PutTxn("second", "v", seconds(3)));
  std::ignore = CommitNow(engine(), PutTxn("first", "v", seconds(2)));
  std::ignore = CommitNow(engine(), PutTxn("third", "v", seconds(3)));
  clock_.Advance(seconds(2) - nanoseconds(1));
  engine().Tick();
  EXPECT_TRUE(Exists("first"));
  clock_.Advance(nanoseconds(1));
  EXPECT_EQ(ScanAll(engine(), "")->entries.size(), 2U) << "any function will do";
  EXPECT_EQ(Now(), 4);
  clock_.Advance(seconds(10));
  engine().Tick();

  const auto events = reader.Next(6, std::chrono::steady_clock::now());
  ASSERT_EQ(events->size(), 6U);
  std::vector<std::string> gone;
  for (size_t i = 3; i < 6; ++i) {
    EXPECT_EQ((*events)[i]->type, Event::Type::kDelete);
    EXPECT_EQ((*events)[i]->revision.value, static_cast<int64_t>(i + 1));
    EXPECT_EQ((*events)[i]->previous->value, "v");
    gone.push_back((*events)[i]->key);
  }
  EXPECT_THAT(gone, ElementsAre("first", "second", "third"));
}

TEST_F(MemoryEngineTest, WhatIsLeftIsRoundedUp) {
  std::ignore = CommitNow(engine(), PutTxn("a", "v", seconds(10)));
  const auto left = [this] {
    return ScanPageNow(engine(), {.with_ttl = true})->entries.at(0).ttl.value().count();
  };
  EXPECT_EQ(left(), 10);
  clock_.Advance(nanoseconds(1));
  EXPECT_EQ(left(), 10);
  clock_.Advance(seconds(1));
  EXPECT_EQ(left(), 9);
  clock_.Advance(seconds(9) - nanoseconds(2));
  EXPECT_EQ(left(), 1);
}

TEST_F(MemoryEngineTest, ExpiryWakesThoseWhoWait) {
  int wakes = 0;
  const auto watch = engine().Follow({}, [&wakes] { ++wakes; });
  std::ignore = CommitNow(engine(), PutTxn("a", "v", seconds(1)));
  EXPECT_EQ(watch->Poll(5)->events.size(), 1U);
  EXPECT_TRUE(watch->Poll(5)->events.empty());
  clock_.Advance(seconds(1));
  EXPECT_EQ(wakes, 1) << "by the put";
  engine().Tick();
  EXPECT_EQ(wakes, 2);
}

TEST_F(MemoryEngineTest, CallsMadeInRepliesAreAnsweredBeforeTheFirstReturns) {
  // A chain of a hundred commits, each made inside the reply to the one before.
  std::vector<int64_t> revisions;
  std::function<void(TxnReply)> next = [&](const TxnReply& reply) {
    revisions.push_back(reply.puts.at(0).value);
    EXPECT_TRUE(Exists("a"));
    if (revisions.size() < 100) engine().Commit(PutTxn("a"), next);
  };
  engine().Commit(PutTxn("a"), next);
  ASSERT_EQ(revisions.size(), 100U);
  EXPECT_EQ(revisions.back(), 100);
}

TEST_F(MemoryEngineTest, ManyThreadsAreToldOfInOrder) {
  const int64_t each = base::LongCount(20'000);
  const auto watch = engine().Follow({}, [] {});
  std::atomic<int64_t> replies = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, key = std::to_string(t)] {
        for (int64_t i = 0; i < each; ++i) {
          engine_->Commit(PutTxn(key), [&replies](const TxnReply&) { ++replies; });
        }
      });
    }
  }
  EXPECT_EQ(replies, 4 * each);
  int64_t last = 0;
  while (last < 4 * each) {
    const auto batch = watch->Poll(1000);
    ASSERT_TRUE(batch && !batch->events.empty());
    for (const EventPtr& event : batch->events) ASSERT_EQ(event->revision.value, ++last);
  }
}

/// Runs a random script with faults on a store and returns all its replies, wakes and errors as
/// text.
std::string Transcript(uint64_t seed) {
  base::ManualClock clock;
  base::SeededRandom random(seed);
  std::string text;
  const auto say = [&text](const auto&... words) { ((text += words, text += ' '), ...); };
  MemoryOptions options{.history_bytes = 20'000, .ring_bytes = 5000};
  options.fault = [&random](const Txn&) { return static_cast<Fault>(base::Uniform(random, 5)); };
  auto engine = MemoryEngine::Make(options, clock);
  std::vector<std::unique_ptr<Watch>> watches;
  for (int step = 0; step < 1000; ++step) {
    const std::string name = std::to_string(base::Uniform(random, 20));
    switch (base::Uniform(random, 6)) {
      case 0:
        watches.push_back(
            engine->Follow({step}, [&say, n = watches.size()] { say("wake", std::to_string(n)); }));
        break;
      case 1:
        for (const auto& watch : watches) {
          const auto batch = watch->Poll(3);
          say(batch ? std::to_string(batch->progress.value) : batch.error().message);
        }
        break;
      case 2:
        clock.Advance(std::chrono::milliseconds(base::Uniform(random, 3000)));
        engine->Tick();
        break;
      case 3:
        engine->Release(random);
        break;
      default:
        engine->Commit(PutTxn(name, "v", seconds(base::Uniform(random, 5))),
                       [&say, name](const TxnReply& reply) {
                         say(name, std::to_string(static_cast<int>(reply.outcome)),
                             reply.puts.empty() ? "" : std::to_string(reply.puts[0].value));
                       });
    }
  }
  watches.clear();
  engine.reset();  // Delivers the held replies.
  return text;
}

TEST(MemoryEngineDeterminism, TheSameCallsGiveTheSameAnswers) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const std::string once = Transcript(seed);
    EXPECT_GT(once.size(), 1000U);
    EXPECT_EQ(once, Transcript(seed)) << seed;
    EXPECT_NE(once, Transcript(seed + 100)) << seed;
  }
}

}  // namespace
}  // namespace berth::store
