// The outcome of writes when replies are lost, requests arrive late, and etcd refuses or vanishes:
// it is resolved, never guessed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "base/testing/base_kit.h"
#include "store/etcd/revisions.h"
#include "store/etcd/testing/engine_rig.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;
using contract::Item;
using contract::MakeValue;
using testing::Fate;
using testing::FateScope;
using ::testing::HasSubstr;

class Faults : public testing::EngineRig {
 protected:
  /// Gives the next commits these fates, in order; everything else is answered.
  void Next(std::vector<Fate::Kind> kinds) {
    auto left = std::make_shared<std::deque<Fate::Kind>>(kinds.begin(), kinds.end());
    network_.SetFate([left](const pb::TxnRequest& request) -> Fate {
      if (!IsCommit(request) || left->empty()) return {};
      const Fate::Kind kind = left->front();
      left->pop_front();
      return {.kind = kind};
    });
  }

  /// Runs a group of three, one of which conflicts. They are sent together because the only lane is
  /// busy with an earlier transaction. Returns all replies.
  std::vector<TxnReply> RunGroup(const Revision& there) {
    gate_ = false;
    at_gate_ = false;
    std::vector<Awaited<TxnReply>> replies;
    replies.push_back(Begin(PutOf("first", "1")));
    EXPECT_TRUE(Eventually([&] { return at_gate_.load(); }));
    replies.push_back(Begin({.compares = {{.key = Key("there"), .revision = there}},
                             .puts = {{.key = Key("a"), .value = MakeValue("a")}},
                             .deletes = {Key("there"), Key("nothing")}}));
    replies.push_back(
        Begin({.compares = {{.key = Key("b")}, {.key = Key("never"), .revision = there}},
               .puts = {{.key = Key("b"), .value = MakeValue("b")}}}));
    replies.push_back(Begin({.puts = {{.key = Key("c"), .value = MakeValue("c")},
                                      {.key = Key("d"), .value = MakeValue("d")}}}));
    gate_ = true;
    std::vector<TxnReply> done;
    for (auto& reply : replies) done.push_back(reply.Wait());
    return done;
  }

  /// Holds the first transaction of RunGroup until the others wait.
  void AwaitGate(const pb::TxnRequest& request) {
    const bool first = request.success_size() == 2 && request.success(1).has_request_put() &&
                       request.success(1).request_put().key().ends_with("/first");
    if (first) at_gate_ = true;
    while (first && !gate_) std::this_thread::yield();
  }

 private:
  std::atomic<bool> gate_ = true;
  std::atomic<bool> at_gate_ = false;
};

TEST_F(Faults, ALostReplyIsFoundOut) {
  ASSERT_NO_FATAL_FAILURE(Open());
  Next({Fate::Kind::kLoseReply});
  const TxnReply reply = Commit(PutOf("a", "1"));
  ASSERT_EQ(reply.outcome, Outcome::kCommitted) << reply.error.message;
  EXPECT_EQ(Items(), (std::vector<Item>{{Key("a"), "1", reply.puts.at(0).value}}));
  // The write was not repeated.
  const auto kvs = RawRange(Key("a"));
  ASSERT_EQ(kvs.size(), 1U);
  EXPECT_EQ(kvs[0].version(), 1);
}

TEST_F(Faults, ALostRequestIsSentAgain) {
  ASSERT_NO_FATAL_FAILURE(Open());
  Next({Fate::Kind::kLoseRequest, Fate::Kind::kLoseRequest});
  const TxnReply reply = Commit(PutOf("a", "1"));
  ASSERT_EQ(reply.outcome, Outcome::kCommitted) << reply.error.message;
  EXPECT_EQ(Items(), (std::vector<Item>{{Key("a"), "1", reply.puts.at(0).value}}));
}

TEST_F(Faults, WhatArrivesLateHappensNoMore) {
  ASSERT_NO_FATAL_FAILURE(Open());
  Next({Fate::Kind::kLate});
  EXPECT_EQ(Commit(PutOf("a", "1")).outcome, Outcome::kCommitted);
  EXPECT_EQ(Commit(PutOf("a", "2")).outcome, Outcome::kCommitted);
  const int64_t revision = etcd_.Revision();
  ASSERT_TRUE(client_->Deliver());
  EXPECT_EQ(etcd_.Revision(), revision);
  EXPECT_EQ(Get("a"), "2");
}

TEST_F(Faults, AConflictIsAConflictAlsoWhenLost) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const TxnReply there = Commit(PutOf("a", "1"));
  for (const auto kind : {Fate::Kind::kLoseReply, Fate::Kind::kLoseRequest, Fate::Kind::kLate}) {
    Next({kind});
    Txn create = PutOf("a", "mine");
    create.compares = {{.key = Key("a")}};
    const TxnReply reply = Commit(create);
    ASSERT_EQ(reply.outcome, Outcome::kConflict) << reply.error.message;
    ASSERT_EQ(reply.conflicts.size(), 1U);
    EXPECT_EQ(contract::ToItem(*reply.conflicts[0].current),
              (Item{Key("a"), "1", there.puts[0].value}));
  }
}

TEST_F(Faults, TheEpochItselfMayBeLostAndLate) {
  ASSERT_NO_FATAL_FAILURE(Open());
  int epoch_puts = 0;
  bool lost = false;
  const FateScope fate(network_, [&](const pb::TxnRequest& request) -> Fate {
    if (IsEpochPut(request)) {
      switch (epoch_puts++) {
        case 0:
          return {.kind = Fate::Kind::kLate};
        case 1:
          return {.kind = Fate::Kind::kLoseReply};
        case 2:
          return {.kind = Fate::Kind::kLoseRequest};
        default:
          return {};
      }
    }
    if (!IsCommit(request) || std::exchange(lost, true)) return {};
    return {.kind = Fate::Kind::kLate};
  });
  EXPECT_EQ(Commit(PutOf("a", "1")).outcome, Outcome::kCommitted);
  EXPECT_EQ(epoch_puts, 4);
  EXPECT_EQ(Commit(PutOf("a", "2")).outcome, Outcome::kCommitted);
  // The write arrives late, and then the epoch key. The next write meets the new epoch and
  // succeeds.
  while (client_->Deliver()) {
  }
  EXPECT_EQ(Get("a"), "2");
  EXPECT_EQ(Commit(PutOf("a", "3")).outcome, Outcome::kCommitted);
  EXPECT_EQ(Get("a"), "3");
  EXPECT_TRUE(engine_->GetHealth().writable);
}

TEST_F(Faults, AGroupIsReconstructedFromWhatWasBefore) {
  options_.max_in_flight = 1;
  // The result is the same without a fault, with the group's reply lost, and with its request lost.
  int runs = 0;
  for (const auto kind :
       {Fate::Kind::kAnswer, Fate::Kind::kLoseReply, Fate::Kind::kLoseRequest, Fate::Kind::kLate}) {
    network_.SetFate(nullptr);
    options_.prefix = fmt::format("/run{}", runs++);
    ASSERT_NO_FATAL_FAILURE(Open());
    const TxnReply there = Commit(PutOf("there", "x"));
    bool hit = false;
    const FateScope fate(network_, [&, kind](const pb::TxnRequest& request) -> Fate {
      AwaitGate(request);
      if (request.success_size() != 4 || std::exchange(hit, true)) return {};
      return {.kind = kind};
    });
    const std::vector<TxnReply> replies = RunGroup(there.puts[0]);
    EXPECT_TRUE(hit) << "they were not sent together";

    EXPECT_EQ(replies[1].outcome, Outcome::kCommitted) << replies[1].error.message;
    ASSERT_EQ(replies[1].deletes.size(), 2U);
    EXPECT_TRUE(replies[1].deletes[0]);
    EXPECT_FALSE(replies[1].deletes[1]);
    EXPECT_GT(replies[1].deletes[0], replies[1].puts[0]);
    EXPECT_EQ(replies[2].outcome, Outcome::kConflict);
    ASSERT_EQ(replies[2].conflicts.size(), 1U);
    EXPECT_EQ(replies[2].conflicts[0].compare, 1U);
    EXPECT_EQ(replies[3].outcome, Outcome::kCommitted);
    // The revisions in the replies are those that reads and watches show.
    EXPECT_EQ(Items(), (std::vector<Item>{{Key("a"), "a", replies[1].puts[0].value},
                                          {Key("c"), "c", replies[3].puts[0].value},
                                          {Key("d"), "d", replies[3].puts[1].value},
                                          {Key("first"), "1", replies[0].puts[0].value}}));
    std::optional<WatchReader> reader(std::in_place, *engine_,
                                      WatchRequest{.prefix = Key(""), .after = there.puts[0]});
    const auto events = reader->Next(5, std::chrono::steady_clock::now() + testing::kPatience);
    reader.reset();
    ASSERT_TRUE(events && events->size() == 5);
    EXPECT_EQ(events->back()->key, Key("there"));
    EXPECT_EQ(events->back()->revision, replies[1].deletes[0]);
    Close();
  }
}

TEST_F(Faults, WhileEtcdIsAwayTheReplyWaits) {
  ASSERT_NO_FATAL_FAILURE(Open());
  std::atomic<bool> away = true;
  bool first = true;
  const FateScope fate(network_, [&](const pb::TxnRequest&) -> Fate {
    if (std::exchange(first, false)) return {.kind = Fate::Kind::kLoseReply};
    return {.kind = away ? Fate::Kind::kNoConnection : Fate::Kind::kAnswer};
  });
  std::atomic<bool> replied = false;
  TxnReply reply;
  engine_->Commit(PutOf("a", "1"), [&](TxnReply r) {
    reply = std::move(r);
    replied = true;
  });
  ASSERT_TRUE(Eventually([&] { return !engine_->GetHealth().writable; }));
  EXPECT_THAT(engine_->GetHealth().why, HasSubstr("what became of earlier ones"));
  EXPECT_THAT(engine_->GetHealth().why, HasSubstr("nothing listens there"));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(replied);
  away = false;
  ASSERT_TRUE(Eventually([&] { return replied.load(); }));
  EXPECT_EQ(reply.outcome, Outcome::kCommitted) << reply.error.message;
  ASSERT_TRUE(Eventually([&] { return engine_->GetHealth().writable; }));
}

TEST_F(Faults, ClosingBeforeItIsKnownIsUnknown) {
  ASSERT_NO_FATAL_FAILURE(Open());
  std::atomic<bool> sent = false;
  const FateScope fate(network_, [&](const pb::TxnRequest&) -> Fate {
    if (sent.exchange(true)) return {};
    return {.kind = Fate::Kind::kSilence};
  });
  auto silent = Begin(PutOf("a", "1"));
  ASSERT_TRUE(Eventually([&] { return sent.load(); }));
  Close();
  const TxnReply reply = silent.Wait();
  EXPECT_EQ(reply.outcome, Outcome::kUnknown);
  EXPECT_THAT(reply.error.message, HasSubstr("closed before"));
}

TEST_F(Faults, ClosingInTheMiddleOfFindingOutIsUnknown) {
  ASSERT_NO_FATAL_FAILURE(Open());
  bool first = true;
  const FateScope fate(network_, [&](const pb::TxnRequest&) -> Fate {
    return {.kind =
                std::exchange(first, false) ? Fate::Kind::kLoseRequest : Fate::Kind::kNoConnection};
  });
  auto lost = Begin(PutOf("a", "1"));
  ASSERT_TRUE(Eventually([&] { return !engine_->GetHealth().writable; }));
  auto waiting = Begin(PutOf("b", "1"));
  Close();
  EXPECT_EQ(lost.Wait().outcome, Outcome::kUnknown);
  EXPECT_EQ(waiting.Wait().outcome, Outcome::kRefused);
}

TEST_F(Faults, WithoutItsReceiptItCannotBeKnown) {
  ASSERT_NO_FATAL_FAILURE(Open());
  bool first = true;
  const FateScope fate(network_, [&](const pb::TxnRequest& request) -> Fate {
    if (!IsCommit(request) || !std::exchange(first, false)) return {};
    // Another process deletes the receipts between the write and the question.
    (void)etcd_.Txn(request);
    DeleteRaw(OwnKey("fence/process/"), OwnKey("fence/process0"));
    return {.kind = Fate::Kind::kLoseRequest};
  });
  const TxnReply reply = Commit(PutOf("a", "1"));
  EXPECT_EQ(reply.outcome, Outcome::kUnknown);
  EXPECT_THAT(reply.error.message, HasSubstr("taken for dead"));
  // The engine continues all the same.
  EXPECT_EQ(Commit(PutOf("a", "2")).outcome, Outcome::kCommitted);
}

TEST_F(Faults, WithoutHistoryItCannotBeKnown) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const TxnReply there = Commit(PutOf("there", "x"));
  bool first = true;
  const FateScope fate(network_, [&](const pb::TxnRequest& request) -> Fate {
    if (!IsCommit(request) || !std::exchange(first, false)) return {};
    (void)etcd_.Txn(request);
    (void)etcd_.Compact(etcd_.Revision());
    return {.kind = Fate::Kind::kLoseRequest};
  });
  const TxnReply reply = Commit(
      {.compares = {{.key = Key("there"), .revision = there.puts[0]}}, .deletes = {Key("there")}});
  EXPECT_EQ(reply.outcome, Outcome::kUnknown);
  EXPECT_THAT(reply.error.message, HasSubstr("compacted"));
  // A transaction that only puts needs no history.
  first = true;
  EXPECT_EQ(Commit(PutOf("a", "1")).outcome, Outcome::kCommitted);
}

TEST_F(Faults, WithoutEtcdWritesAreRefusedAfterAWhile) {
  options_.commit_timeout = std::chrono::milliseconds(300);
  ASSERT_NO_FATAL_FAILURE(Open());
  network_.SetFate(
      [](const pb::TxnRequest&) -> Fate { return {.kind = Fate::Kind::kNoConnection}; });
  const TxnReply reply = Commit(PutOf("a", "1"));
  EXPECT_EQ(reply.outcome, Outcome::kRefused);
  EXPECT_EQ(reply.error.reason, base::Reason::kTimeout);
  EXPECT_THAT(reply.error.message, HasSubstr("nothing listens there"));
  EXPECT_FALSE(engine_->GetHealth().writable);
  network_.SetFate(nullptr);
  EXPECT_EQ(Commit(PutOf("a", "1")).outcome, Outcome::kCommitted);
  EXPECT_TRUE(engine_->GetHealth().writable);
}

TEST_F(Faults, OneMembersErrorIsItsOwn) {
  options_.max_in_flight = 1;
  ASSERT_NO_FATAL_FAILURE(Open());
  const FateScope fate(network_, [](const pb::TxnRequest& request) -> Fate {
    if (request.ShortDebugString().find("poison") == std::string::npos) return {};
    return {.kind = Fate::Kind::kRefuse, .text = "etcdserver: permission denied"};
  });
  std::vector<Awaited<TxnReply>> replies;
  for (int i = 0; i < 50; ++i) {
    replies.push_back(Begin(PutOf(fmt::format("{}{}", i % 10 == 7 ? "poison" : "k", i), "v")));
  }
  for (int i = 0; i < 50; ++i) {
    const TxnReply reply = replies[static_cast<size_t>(i)].Wait();
    EXPECT_EQ(reply.outcome, i % 10 == 7 ? Outcome::kRefused : Outcome::kCommitted) << i;
    EXPECT_THAT(reply.error.message, HasSubstr(i % 10 == 7 ? "permission denied" : ""));
  }
}

TEST_F(Faults, NoSpaceIsSaidInWords) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const FateScope fate(network_, [](const pb::TxnRequest&) -> Fate {
    return {.kind = Fate::Kind::kRefuse, .text = "etcdserver: mvcc: database space exceeded"};
  });
  const TxnReply reply = Commit(PutOf("a", "1"));
  EXPECT_EQ(reply.outcome, Outcome::kRefused);
  EXPECT_EQ(reply.error.reason, base::Reason::kServiceUnavailable);
  EXPECT_THAT(reply.error.message, HasSubstr("out of space"));
  EXPECT_THAT(engine_->GetHealth().why, HasSubstr("out of space"));
  EXPECT_EQ(Get("a"), "");
  // When etcd accepts writes again, the engine notices without being asked.
  network_.SetFate(nullptr);
  EXPECT_TRUE(Eventually([&] { return engine_->GetHealth().writable; }));
}

TEST_F(Faults, AnOverloadedEtcdIsAskedAgain) {
  ASSERT_NO_FATAL_FAILURE(Open());
  int refusals = 3;
  const FateScope fate(network_, [&](const pb::TxnRequest&) -> Fate {
    if (refusals-- <= 0) return {};
    return {.kind = Fate::Kind::kRefuse, .text = "etcdserver: too many requests"};
  });
  EXPECT_EQ(Commit(PutOf("a", "1")).outcome, Outcome::kCommitted);
}

TEST_F(Faults, MoreThanMayWaitAreRefused) {
  options_.max_in_flight = 1;
  options_.max_waiting = 10;
  ASSERT_NO_FATAL_FAILURE(Open());
  Next({Fate::Kind::kSilence});
  std::vector<Awaited<TxnReply>> waiting;
  for (int i = 0; i < 10; ++i) waiting.push_back(Begin(PutOf(fmt::format("k{}", i), "v")));
  const TxnReply reply = Commit(PutOf("more", "v"));
  EXPECT_EQ(reply.outcome, Outcome::kRefused);
  EXPECT_EQ(reply.error.reason, base::Reason::kTooManyRequests);
  Close();
  for (auto& one : waiting) (void)one.Wait();
}

TEST_F(Faults, AProcessTakenForDeadGoesOn) {
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_EQ(Commit(PutOf("a", "1")).outcome, Outcome::kCommitted);
  const auto keys = RawRange(OwnKey("fence/process/"));
  ASSERT_FALSE(keys.empty());
  ASSERT_NE(keys[0].lease(), 0);
  etcd_.Expire(keys[0].lease());
  EXPECT_EQ(Commit(PutOf("a", "2")).outcome, Outcome::kCommitted);
  EXPECT_EQ(Get("a"), "2");
  EXPECT_TRUE(log_.Contains("taken for dead"));
  EXPECT_TRUE(engine_->GetHealth().writable);
}

TEST_F(Faults, NothingIsDoneTwiceOrLostWhateverIsLost) {
  const uint64_t seed = base::TestSeed(5);
  SCOPED_TRACE(::testing::Message() << "BERTH_SEED=" << seed);
  base::SeededRandom random(seed);
  base::Mutex mutex;
  ASSERT_NO_FATAL_FAILURE(Open());
  WatchReader reader(*engine_, {.prefix = Key(""), .after = *CurrentNow(*engine_)});
  const FateScope fate(network_, [&](const pb::TxnRequest& request) -> Fate {
    base::MutexLock lock(mutex);
    if (request.success_size() == 1 && !IsEpochPut(request)) return {};
    switch (base::Uniform(random, 12)) {
      case 0:
        return {.kind = Fate::Kind::kLoseReply};
      case 1:
        return {.kind = Fate::Kind::kLoseRequest};
      case 2:
        return {.kind = Fate::Kind::kLate};
      case 3:
        return {.kind = Fate::Kind::kNoConnection};
      default:
        return {};
    }
  });
  constexpr int kThreads = 6;
  const int64_t each = base::LongCount(500);
  std::atomic<bool> stop = false;
  std::thread late([&] {
    while (!stop) {
      client_->Deliver();
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
  });
  // Each thread adds to one of two counters, and creates its own key each time.
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const std::string counter = t % 2 == 0 ? "even" : "odd";
      for (int64_t n = 0; n < each;) {
        const auto now = GetNow(*engine_, Key(counter));
        ASSERT_TRUE(now);
        const int64_t value = *now ? std::stoll(contract::Payload((*now)->value)) : 0;
        const std::string own = Key(fmt::format("{}/{}", t, n));
        const TxnReply reply = Commit(
            {.compares = {{.key = Key(counter), .revision = *now ? (*now)->revision : Revision{}},
                          {.key = own}},
             .puts = {{.key = Key(counter), .value = MakeValue(std::to_string(value + 1))},
                      {.key = own, .value = MakeValue("x")}}});
        ASSERT_NE(reply.outcome, Outcome::kUnknown) << reply.error.message;
        ASSERT_NE(reply.outcome, Outcome::kRefused) << reply.error.message;
        if (reply.outcome != Outcome::kCommitted) continue;
        const auto written = GetNow(*engine_, own);
        ASSERT_TRUE(written && *written);
        EXPECT_EQ((*written)->revision, reply.puts[1]);
        ++n;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  stop = true;
  late.join();
  while (client_->Deliver()) {
  }
  EXPECT_EQ(Get("even"), std::to_string(kThreads / 2 * each));
  EXPECT_EQ(Get("odd"), std::to_string(kThreads / 2 * each));
  EXPECT_EQ(Items().size(), static_cast<size_t>(kThreads * each + 2));
  const auto events = reader.UntilProgress(*CurrentNow(*engine_),
                                           std::chrono::steady_clock::now() + testing::kPatience);
  ASSERT_TRUE(events) << events.error().message;
  EXPECT_EQ(events->size(), static_cast<size_t>(kThreads) * 2 * static_cast<size_t>(each));
}

}  // namespace
}  // namespace berth::store::etcd
