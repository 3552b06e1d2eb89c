// The contract of watches: gap-free, in order, each event once, from wherever they begin, whoever
// else watches and however slowly.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "store/contract_fixture.h"

namespace berth::store::contract {

class ContractWatch : public Contract {
 protected:
  static WatchRequest From(Revision after) { return {.prefix = std::string(kAll), .after = after}; }

  /// A few transactions with puts, overwrites and deletes.
  void SomeHistory() {
    MustPut(Key("a"), "a1");
    Must({.puts = {{.key = Key("b"), .value = MakeValue("b1")},
                   {.key = Key("a"), .value = MakeValue("a2")},
                   {.key = Key("c"), .value = MakeValue("c1")}}});
    Must({.puts = {{.key = Key("d"), .value = MakeValue("d1")}}, .deletes = {Key("b"), Key("a")}});
    MustPut(Key("b"), "b2");
  }

  void PutNumbers(int count, size_t bytes) {
    for (int i = 0; i < count; ++i) {
      MustPut(Key("n", i % 10), std::to_string(i) + std::string(bytes, 'x'));
    }
  }

  /// Polls until there is an error.
  static base::Reason ErrorOf(Watch& watch) {
    for (;;) {
      const auto batch = watch.Poll(100);
      if (!batch) return batch.error().reason;
      if (batch->events.empty()) return base::Reason::kUnknown;
    }
  }

  template <typename Condition>
  static bool Eventually(Condition condition) {
    for (const auto deadline = Soon(); !condition();) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
};

TEST_P(ContractWatch, FromNow) {
  MustPut(Key("before"), "x");
  WatchReader reader(engine(), From(Now()));
  EXPECT_EQ(ReadUpToNow(reader), std::vector<Told>{});
  const Revision now{model_.Last()};
  SomeHistory();
  const auto events = reader.Next(8, Soon());
  ASSERT_TRUE(events.has_value()) << events.error().message;
  EXPECT_EQ(ToTold(*events), model_.EventsAfter(kAll, now.value));
  EXPECT_EQ(ReadUpToNow(reader), std::vector<Told>{});
}

TEST_P(ContractWatch, FromEveryPointOfThePast) {
  // Each event is the last one known once, so also in the middle of transactions.
  SomeHistory();
  EXPECT_EQ(EventsOf(kAll, Start()), model_.Events());
  for (const Told& told : model_.Events()) {
    const Revision after{told.item.revision};
    EXPECT_EQ(EventsOf(kAll, after), model_.EventsAfter(kAll, after.value)) << after.value;
  }
}

TEST_P(ContractWatch, FromTheFuture) {
  // Whatever numbers the engine leaves out, it waits for what lies beyond.
  const Revision after{Start().value + 3};
  WatchReader reader(engine(), From(after));
  EXPECT_EQ(ReadUpToNow(reader), std::vector<Told>{});
  for (int i = 0; i < 6; ++i) MustPut(Key("a"), std::to_string(i));
  SomeHistory();
  EXPECT_EQ(ReadUpToNow(reader), model_.EventsAfter(kAll, after.value));
  EXPECT_LT(model_.EventsAfter(kAll, after.value).size(), model_.Events().size());
  MustPut(Key("a"), "last");
  const auto last = reader.Next(1, Soon());
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(ToTold(*last), std::vector<Told>{model_.Events().back()});
}

TEST_P(ContractWatch, FromACompactedRevision) {
  SomeHistory();
  const Revision early{model_.Events()[0].item.revision};
  const Revision at = MustPut(Key("a"), "at");
  MustPut(Key("a"), "after");
  WatchReader running(engine(), From(Start()));
  EXPECT_EQ(ReadUpToNow(running), model_.Events());
  ASSERT_TRUE(CompactNow(engine(), at).has_value());

  const auto late = engine().StartWatch(From(early), [] {});
  ASSERT_EQ(ErrorOf(*late), base::Reason::kExpired);
  const auto first = late->Poll(1);
  const auto again = late->Poll(1);
  ASSERT_FALSE(first.has_value() || again.has_value());
  EXPECT_EQ(first.error().message, again.error().message);
  EXPECT_EQ(EventsOf(kAll, at), model_.EventsAfter(kAll, at.value));
  // One that needs nothing of what is gone goes on.
  MustPut(Key("b"), "on");
  EXPECT_EQ(ReadUpToNow(running), std::vector<Told>{model_.Events().back()});
}

TEST_P(ContractWatch, OnlyItsPrefix) {
  WatchReader ab(engine(), {.prefix = Key("ab"), .after = Start()});
  WatchReader whole_key(engine(), {.prefix = Key("ab/1"), .after = Start()});
  WatchReader nothing(engine(), {.prefix = Key("ab/1/"), .after = Start()});
  for (const char* name : {"a", "ab", "ab/1", "ab/10", "abc", "ac", "b"}) MustPut(Key(name), name);
  MustDelete(Key("ab/1"));
  EXPECT_EQ(ReadUpToNow(ab), model_.EventsAfter(Key("ab"), 0));
  EXPECT_EQ(ReadUpToNow(whole_key), model_.EventsAfter(Key("ab/1"), 0));
  EXPECT_EQ(ReadUpToNow(nothing), std::vector<Told>{});
}

TEST_P(ContractWatch, EventsKnowWhatWasThereBefore) {
  OpenWith({.ring_bytes = size_t{16} << 10});
  WatchReader live(engine(), From(Start()));
  SomeHistory();
  EXPECT_EQ(ReadUpToNow(live), model_.Events());
  // Also those that only history has.
  PutNumbers(40, 1000);
  EXPECT_EQ(EventsOf(kAll, Start()), model_.Events());
}

TEST_P(ContractWatch, ThePastBeyondTheRing) {
  OpenWith({.ring_bytes = size_t{32} << 10});
  PutNumbers(120, 1000);
  // In small pieces, and while more is written.
  const auto watch = engine().StartWatch(From(Start()), [] {});
  std::vector<Told> told;
  const auto read = [&](size_t upto) {
    return Eventually([&] {
      const auto batch = watch->Poll(7);
      EXPECT_TRUE(batch.has_value()) << batch.error().message;
      if (!batch) return true;
      EXPECT_LE(batch->events.size(), 7U);
      for (Told& one : ToTold(batch->events)) told.push_back(std::move(one));
      return told.size() >= upto;
    });
  };
  ASSERT_TRUE(read(50));
  PutNumbers(40, 1000);
  ASSERT_TRUE(read(160));
  EXPECT_EQ(told, model_.Events());
  // A prefix that the past hardly mentions.
  EXPECT_EQ(EventsOf(Key("n3"), Start()), model_.EventsAfter(Key("n3"), 0));
  EXPECT_EQ(EventsOf(Key("none"), Start()), std::vector<Told>{});
}

TEST_P(ContractWatch, ProgressWithNothingHappening) {
  WatchReader idle(engine(), {.prefix = Key("idle/"), .after = Start()});
  ASSERT_TRUE(idle.UntilProgress(Now(), Soon()).has_value());
  // Others write; then nobody does.
  for (int i = 0; i < 3; ++i) {
    const Revision put = MustPut(Key("busy"), std::to_string(i));
    const auto events = idle.UntilProgress(put, Soon());
    ASSERT_TRUE(events.has_value()) << events.error().message;
    EXPECT_TRUE(events->empty());
    const auto current = idle.UntilProgress(Now(), Soon());
    ASSERT_TRUE(current.has_value()) << current.error().message;
  }
}

TEST_P(ContractWatch, AskingForProgressWakes) {
  WatchReader idle(engine(), {.prefix = Key("idle/"), .after = Start()});
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(ReadUpToNow(idle), std::vector<Told>{});
    ASSERT_TRUE(idle.Next(1, std::chrono::steady_clock::now()).has_value());
    const Revision put = MustPut(Key("busy"), "x");
    const size_t wakes = idle.Wakes();
    engine().RequestProgress();
    EXPECT_TRUE(Eventually([&] { return idle.Wakes() > wakes; }));
    EXPECT_TRUE(idle.UntilProgress(put, Soon()).has_value());
  }
}

TEST_P(ContractWatch, ProgressNeverRunsAhead) {
  std::atomic<bool> stop = false;
  const auto watch = engine().StartWatch(From(Start()), [] {});
  std::thread writer([&] {
    for (int i = 0; i < 200 && !stop; ++i) {
      MustPut(Key(i % 3 == 0 ? "other" : "a"), std::to_string(i));
      engine().RequestProgress();
    }
    stop = true;
  });
  Revision progress = Start();
  while (!stop) {
    const auto batch = watch->Poll(5);
    EXPECT_TRUE(batch.has_value()) << batch.error().message;
    if (!batch) break;
    if (!batch->events.empty()) {
      EXPECT_GT(batch->events.front()->revision, progress) << "an event it had passed already";
      EXPECT_GE(batch->progress, batch->events.back()->revision);
    }
    EXPECT_GE(batch->progress, progress);
    progress = batch->progress;
  }
  stop = true;
  writer.join();
}

TEST_P(ContractWatch, AWakeFollowsEveryEmptyPoll) {
  std::atomic<int> wakes = 0;
  const auto watch = engine().StartWatch(From(Start()), [&wakes] { ++wakes; });
  for (int i = 0; i < 20; ++i) {
    // Whatever woke it before, nothing is there now; so it waits for the put.
    const auto empty = watch->Poll(10);
    ASSERT_TRUE(empty.has_value());
    ASSERT_TRUE(empty->events.empty());
    const int before = wakes;
    MustPut(Key("a"), std::to_string(i));
    ASSERT_TRUE(Eventually([&] { return wakes > before; }));
    ASSERT_TRUE(Eventually([&] {
      const auto batch = watch->Poll(10);
      return batch && batch->events.size() == 1;
    }));
  }
}

TEST_P(ContractWatch, NoWakeAfterTheEnd) {
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) MustPut(Key("a"), std::to_string(i));
  });
  std::vector<std::unique_ptr<std::atomic<bool>>> ended;
  for (int i = 0; i < 100; ++i) {
    auto& over = *ended.emplace_back(std::make_unique<std::atomic<bool>>(false));
    auto watch =
        engine().StartWatch(From(Now()), [&over] { EXPECT_FALSE(over) << "woken after its end"; });
    for (int polls = 0; polls < i % 4; ++polls) EXPECT_TRUE(watch->Poll(10).has_value());
    watch.reset();
    over = true;
  }
  stop = true;
  writer.join();
}

TEST_P(ContractWatch, ASlowWatcherHoldsUpNobody) {
  OpenWith({.ring_bytes = size_t{64} << 10, .history_bytes = size_t{256} << 10});
  WatchReader slow(engine(), From(Start()));
  const auto never = engine().StartWatch(From(Start()), [] {});
  WatchReader quick(engine(), From(Start()));
  ASSERT_EQ(ReadUpToNow(slow), std::vector<Told>{});
  for (int i = 0; i < 150; ++i) {
    MustPut(Key("n", i % 5), std::to_string(i) + std::string(4000, 'x'));
    const auto next = quick.Next(1, Soon());
    ASSERT_TRUE(next.has_value()) << next.error().message;
    ASSERT_EQ(ToTold(*next), std::vector<Told>{model_.Events().back()});
  }
  // Told to start over, or everything after all; never a part.
  const auto late = slow.UntilProgress(Now(), Soon());
  if (late) {
    EXPECT_EQ(ToTold(*late), model_.Events());
  } else {
    EXPECT_EQ(late.error().reason, base::Reason::kExpired);
    EXPECT_EQ(ReasonOf(slow.Next(1, Soon())), base::Reason::kExpired);
  }
  EXPECT_EQ(Items(kAll), model_.Items(kAll));
}

TEST_P(ContractWatch, AThousandWatchers) {
  constexpr size_t kThreads = 4;
  constexpr size_t kEach = 250;
  constexpr int kTxns = 20;
  std::vector<std::vector<std::vector<int64_t>>> seen(kThreads,
                                                      std::vector<std::vector<int64_t>>(kEach));
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::unique_ptr<WatchReader>> readers(kEach);
      for (auto& reader : readers) {
        reader = std::make_unique<WatchReader>(engine(), From(Start()));
      }
      for (int txn = 0; txn < kTxns; ++txn) {
        for (size_t i = 0; i < kEach; ++i) {
          const auto events = readers[i]->Next(3, Soon());
          if (!events) ADD_FAILURE() << events.error().message;
          if (!events) return;
          for (const EventPtr& event : *events) seen[t][i].push_back(event->revision.value);
        }
      }
    });
  }
  for (int i = 0; i < kTxns; ++i) {
    Must({.puts = {{.key = Key("a"), .value = MakeValue(std::to_string(i))},
                   {.key = Key("b"), .value = MakeValue("b")}},
          .deletes = {Key("a", i)}});
    MustPut(Key("a", i + 1), "x");
  }
  for (std::thread& thread : threads) thread.join();

  // The first delete finds nothing, so there are kTxns * 4 - 1 events; the first of them count.
  std::vector<int64_t> expected;
  for (const Told& told : model_.Events()) expected.push_back(told.item.revision);
  ASSERT_GE(expected.size(), size_t{kTxns} * 3);
  expected.resize(size_t{kTxns} * 3);
  for (const auto& of_thread : seen) {
    for (const auto& revisions : of_thread) ASSERT_EQ(revisions, expected);
  }
}

}  // namespace berth::store::contract
