// The contract of transactions: their replies, the state they leave, and their outcome when many
// run at once.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "store/testing/contract_fixture.h"

namespace berth::store::contract {

class ContractTxn : public Contract {
 protected:
  /// Adds 1 to the number that a key holds, by comparing the revision that was read. Returns how
  /// often it had to try again.
  int Increment(const std::string& key) {
    for (int again = 0;; ++again) {
      const auto entry = GetNow(engine(), key);
      if (!entry || !*entry) {
        ADD_FAILURE() << "the counter is gone";
        return again;
      }
      const std::string next = std::to_string(std::stoi(Payload((*entry)->value)) + 1);
      const TxnReply reply =
          CommitNow(engine(), {.compares = {{.key = key, .revision = (*entry)->revision}},
                               .puts = {{.key = key, .value = MakeValue(next)}}});
      if (reply.outcome == Outcome::kCommitted) return again;
      EXPECT_EQ(reply.outcome, Outcome::kConflict) << reply.error.message;
      if (reply.outcome != Outcome::kConflict) return again;
    }
  }
};

TEST_P(ContractTxn, AKeyHoldsWhatWasPutLast) {
  EXPECT_EQ(Get(Key("a")), std::nullopt);
  const Revision first = MustPut(Key("a"), "one");
  EXPECT_EQ(Get(Key("a")), (Item{Key("a"), "one", first.value}));
  const Revision second = MustPut(Key("a"), "two");
  EXPECT_GT(second, first);
  EXPECT_EQ(Get(Key("a")), (Item{Key("a"), "two", second.value}));

  const Revision gone = MustDelete(Key("a"));
  EXPECT_GT(gone, second);
  EXPECT_EQ(Get(Key("a")), std::nullopt);
  const Revision third = MustPut(Key("a"), "three");
  EXPECT_GT(third, gone);
  EXPECT_EQ(Get(Key("a")), (Item{Key("a"), "three", third.value}));
  EXPECT_GE(Now(), third);
}

TEST_P(ContractTxn, RevisionsRiseInsideATransactionPutsBeforeDeletes) {
  Must({.puts = {{.key = Key("old1"), .value = MakeValue("1")},
                 {.key = Key("old2"), .value = MakeValue("2")}}});
  // Neither puts nor deletes are in the order of keys. Revisions follow the order of the
  // transaction.
  Must({.puts = {{.key = Key("z"), .value = MakeValue("z")},
                 {.key = Key("b"), .value = MakeValue("b")},
                 {.key = Key("m"), .value = MakeValue("m")}},
        .deletes = {Key("old2"), Key("old1")}});
  // A put whose key sorts after the key of a delete in the same transaction.
  Must({.puts = {{.key = Key("old1"), .value = MakeValue("again")}},
        .deletes = {Key("b"), Key("z")}});
  ExpectAsModel();
  EXPECT_EQ(Items(kAll).size(), 2U);
}

TEST_P(ContractTxn, DeletingNothingIsNoEvent) {
  const TxnReply nothing = Must({.deletes = {Key("never")}});
  EXPECT_EQ(nothing.deletes, std::vector<Revision>{Revision{}});

  MustPut(Key("a"), "a");
  const TxnReply mixed = Must({.puts = {{.key = Key("b"), .value = MakeValue("b")}},
                               .deletes = {Key("never"), Key("a"), Key("nor this")}});
  EXPECT_FALSE(mixed.deletes[0]);
  EXPECT_TRUE(mixed.deletes[1]);
  EXPECT_FALSE(mixed.deletes[2]);
  EXPECT_FALSE(MustDelete(Key("a")));
  EXPECT_EQ(model_.Events().size(), 3U);
  ExpectAsModel();
}

TEST_P(ContractTxn, ComparesThatHoldLetItHappen) {
  const Revision a = MustPut(Key("a"), "a");
  const Revision b = MustPut(Key("b"), "b");
  MustPut(Key("gone"), "x");
  MustDelete(Key("gone"));

  // Compares a key that it puts, one that it deletes, and keys that do not exist.
  Must({.compares = {{.key = Key("a"), .revision = a},
                     {.key = Key("b"), .revision = b},
                     {.key = Key("gone"), .revision = {}},
                     {.key = Key("never"), .revision = {}}},
        .puts = {{.key = Key("a"), .value = MakeValue("a2")},
                 {.key = Key("never"), .value = MakeValue("now")}},
        .deletes = {Key("b")}});
  ExpectAsModel();
}

TEST_P(ContractTxn, FailedComparesComeBackWithWhatIsThere) {
  const Revision a1 = MustPut(Key("a"), "a1");
  const Revision a2 = MustPut(Key("a"), "a2");
  const Revision b = MustPut(Key("b"), "b");
  const Revision gone = MustPut(Key("gone"), "x");
  MustDelete(Key("gone"));

  const TxnReply reply =
      CommitNow(engine(), {.compares = {{.key = Key("never"), .revision = {}},     // Holds.
                                        {.key = Key("a"), .revision = a1},         // Is a2 now.
                                        {.key = Key("b"), .revision = b},          // Holds.
                                        {.key = Key("gone"), .revision = gone},    // Deleted.
                                        {.key = Key("neither"), .revision = a2}},  // Never existed.
                           .puts = {{.key = Key("b"), .value = MakeValue("b2")}},
                           .deletes = {Key("a")}});
  ASSERT_EQ(reply.outcome, Outcome::kConflict) << reply.error.message;
  EXPECT_TRUE(reply.puts.empty());
  EXPECT_TRUE(reply.deletes.empty());
  ASSERT_EQ(reply.conflicts.size(), 3U);
  EXPECT_EQ(reply.conflicts[0].compare, 1U);
  ASSERT_TRUE(reply.conflicts[0].current.has_value());
  EXPECT_EQ(ToItem(*reply.conflicts[0].current), (Item{Key("a"), "a2", a2.value}));
  EXPECT_EQ(reply.conflicts[1].compare, 3U);
  EXPECT_FALSE(reply.conflicts[1].current.has_value());
  EXPECT_EQ(reply.conflicts[2].compare, 4U);
  EXPECT_FALSE(reply.conflicts[2].current.has_value());
  ExpectAsModel();
}

TEST_P(ContractTxn, ACreateFindsWhatIsThereAlready) {
  const Revision a = MustPut(Key("a"), "a");
  const TxnReply reply =
      CommitNow(engine(), {.compares = {{.key = Key("a"), .revision = {}}},
                           .puts = {{.key = Key("a"), .value = MakeValue("mine")}}});
  ASSERT_EQ(reply.outcome, Outcome::kConflict) << reply.error.message;
  ASSERT_EQ(reply.conflicts.size(), 1U);
  ASSERT_TRUE(reply.conflicts[0].current.has_value());
  EXPECT_EQ(ToItem(*reply.conflicts[0].current), (Item{Key("a"), "a", a.value}));
  ExpectAsModel();
}

TEST_P(ContractTxn, OneWithoutWritesIsAQuestion) {
  const Revision a = MustPut(Key("a"), "a");
  const TxnReply yes = Must({.compares = {{.key = Key("a"), .revision = a}}});
  EXPECT_TRUE(yes.puts.empty());
  const TxnReply no = CommitNow(engine(), {.compares = {{.key = Key("a"), .revision = {}}}});
  EXPECT_EQ(no.outcome, Outcome::kConflict);
  EXPECT_EQ(no.conflicts.size(), 1U);
  Must({});
  ExpectAsModel();
}

TEST_P(ContractTxn, ComparesKnowEveryRevisionOfATransaction) {
  const TxnReply both = Must({.puts = {{.key = Key("a"), .value = MakeValue("a")},
                                       {.key = Key("b"), .value = MakeValue("b")}}});
  ASSERT_EQ(both.puts.size(), 2U);
  const TxnReply swapped =
      CommitNow(engine(), {.compares = {{.key = Key("a"), .revision = both.puts[1]},
                                        {.key = Key("b"), .revision = both.puts[0]}},
                           .deletes = {Key("a"), Key("b")}});
  ASSERT_EQ(swapped.outcome, Outcome::kConflict) << swapped.error.message;
  EXPECT_EQ(swapped.conflicts.size(), 2U);
  Must({.compares = {{.key = Key("a"), .revision = both.puts[0]},
                     {.key = Key("b"), .revision = both.puts[1]}},
        .deletes = {Key("a"), Key("b")}});
  ExpectAsModel();
}

TEST_P(ContractTxn, AHundredPutsAndTwentyDeletes) {
  Txn before;
  for (int i = 0; i < 20; ++i) {
    before.puts.push_back({.key = Key("old", i), .value = MakeValue("old")});
  }
  const TxnReply old = Must(before);
  ASSERT_EQ(old.puts.size(), 20U);

  Txn txn;
  for (int i = 0; i < 100; ++i) {
    const std::string key = Key("new", i);
    txn.compares.push_back({.key = key, .revision = {}});
    txn.puts.push_back({.key = key, .value = MakeValue(std::to_string(i))});
  }
  for (const Put& put : before.puts) txn.deletes.push_back(put.key);
  Must(txn);
  EXPECT_EQ(model_.Events().size(), 140U);
  ExpectAsModel();
}

TEST_P(ContractTxn, TheLargestTheEngineTakes) {
  Txn puts;
  Txn deletes;
  for (size_t i = 0; i < std::min(GetParam().max_txn_items, kMaxPuts); ++i) {
    puts.puts.push_back({.key = Key("", i), .value = MakeValue("x")});
    deletes.deletes.push_back(Key("", i));
  }
  Must(puts);
  Must(deletes);
  ExpectAsModel();
}

TEST_P(ContractTxn, NoUpdateIsLost) {
  constexpr int kThreads = 8;
  constexpr int kEach = 15;
  MustPut(Key("counter"), "0");
  std::atomic<int> again = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < kEach; ++n) again += Increment(Key("counter"));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto counter = Get(Key("counter"));
  ASSERT_TRUE(counter.has_value());
  EXPECT_EQ(counter->payload, std::to_string(kThreads * kEach)) << again << " conflicts";

  // A watch reports each step once and in order.
  const std::vector<RecordedEvent> events = EventsOf(Key("counter"), Start());
  ASSERT_EQ(events.size(), kThreads * kEach + 1U);
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].item.payload, std::to_string(i));
    EXPECT_TRUE(i == 0 || events[i].item.revision > events[i - 1].item.revision);
  }
}

TEST_P(ContractTxn, ManyWritersHaveOneOrder) {
  constexpr int kThreads = 6;
  constexpr int kEach = 20;
  std::vector<std::vector<std::pair<Txn, TxnReply>>> done(kThreads);
  WatchReader reader(engine(), {.prefix = std::string(kAll), .after = Start()});
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int n = 0; n < kEach; ++n) {
        const std::string own = Key("", t);
        const std::string shared = Key("shared", n % 3);
        Txn txn{.puts = {{.key = own, .value = MakeValue(std::to_string(n))},
                         {.key = shared, .value = MakeValue(own)}},
                .deletes = {Key("shared", (n + 1) % 3)}};
        TxnReply reply = CommitNow(engine(), txn);
        done[t].emplace_back(std::move(txn), std::move(reply));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  std::vector<std::pair<Txn, TxnReply>> all;
  for (auto& of_thread : done) {
    for (auto& one : of_thread) {
      ASSERT_EQ(one.second.outcome, Outcome::kCommitted) << one.second.error.message;
      all.push_back(std::move(one));
    }
  }
  // Revisions define the order. In it, each reply is right and no transaction lies inside another.
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.second.puts.front() < b.second.puts.front();
  });
  for (const auto& [txn, reply] : all) model_.Apply(txn, reply);
  EXPECT_EQ(ReadUpToNow(reader), model_.EventsAfter(kAll, Start().value));
  ExpectAsModel();
}

TEST_P(ContractTxn, WhatWasRepliedIsSeenByEveryCallAfter) {
  for (int i = 0; i < 20; ++i) {
    const Revision revision = MustPut(Key("a"), std::to_string(i));
    EXPECT_GE(Now(), revision);
    const auto a = Get(Key("a"));
    ASSERT_TRUE(a.has_value());
    EXPECT_EQ(a->revision, revision.value);
    EXPECT_EQ(Items(Key("a")), std::vector<Item>{*a});
  }
}

TEST_P(ContractTxn, ClosingSettlesEveryCallOnce) {
  constexpr size_t kCalls = 200;
  std::vector<std::atomic<int>> replies(kCalls * 2);
  for (size_t i = 0; i < kCalls; ++i) {
    engine().Commit({.puts = {{.key = Key("", i), .value = MakeValue("x")}}},
                    [&replies, i](const TxnReply& reply) {
                      EXPECT_NE(reply.outcome, Outcome::kConflict);
                      ++replies[i];
                    });
    engine().Get(Key("a"), [&replies, i](const auto&) { ++replies[kCalls + i]; });
  }
  Close();
  for (size_t i = 0; i < replies.size(); ++i) EXPECT_EQ(replies[i], 1) << i;
}

}  // namespace berth::store::contract
