// The contract of watches: without gaps, in order, each event once, from any starting point, and
// regardless of other watches and their speed.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "store/testing/contract_fixture.h"

namespace berth::store::contract {

class ContractWatch : public Contract {
 protected:
  static WatchRequest From(Revision after) { return {.prefix = std::string(kAll), .after = after}; }

  /// Runs a few transactions with puts, overwrites and deletes.
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

  /// Polls until the watch fails and returns the reason. Returns kUnknown if the events end first.
  static base::Reason ErrorOf(Watch& watch) {
    for (;;) {
      const auto batch = watch.Poll(100);
      if (!batch) return batch.error().reason;
      if (batch->events.empty()) return base::Reason::kUnknown;
    }
  }

  /// Reads on until all of it has been read.
  std::vector<RecordedEvent> HistoryOf(HistoryRequest request) {
    std::vector<RecordedEvent> all;
    while (request.after < request.upto) {
      const auto batch = engine().ReadHistory(request);
      EXPECT_TRUE(batch.has_value()) << batch.error().message;
      if (!batch) break;
      EXPECT_LE(batch->events.size(), request.max);
      EXPECT_LE(batch->progress, request.upto);
      for (RecordedEvent& one : ToRecordedEvents(batch->events)) all.push_back(std::move(one));
      if (batch->progress <= request.after) break;  // Nothing is left.
      request.after = batch->progress;
    }
    return all;
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
  EXPECT_EQ(ReadUpToNow(reader), std::vector<RecordedEvent>{});
  const Revision now{model_.Last()};
  SomeHistory();
  const auto events = reader.Next(8, Soon());
  ASSERT_TRUE(events.has_value()) << events.error().message;
  EXPECT_EQ(ToRecordedEvents(*events), model_.EventsAfter(kAll, now.value));
  EXPECT_EQ(ReadUpToNow(reader), std::vector<RecordedEvent>{});
}

TEST_P(ContractWatch, FromEveryPointOfThePast) {
  // A watch begins after each event, so also in the middle of transactions.
  SomeHistory();
  EXPECT_EQ(EventsOf(kAll, Start()), model_.Events());
  for (const RecordedEvent& event : model_.Events()) {
    const Revision after{event.item.revision};
    EXPECT_EQ(EventsOf(kAll, after), model_.EventsAfter(kAll, after.value)) << after.value;
  }
}

TEST_P(ContractWatch, FromTheFuture) {
  // The watch waits for higher revisions, whatever numbers the engine leaves out.
  const Revision after{Start().value + 3};
  WatchReader reader(engine(), From(after));
  EXPECT_EQ(ReadUpToNow(reader), std::vector<RecordedEvent>{});
  for (int i = 0; i < 6; ++i) MustPut(Key("a"), std::to_string(i));
  SomeHistory();
  EXPECT_EQ(ReadUpToNow(reader), model_.EventsAfter(kAll, after.value));
  EXPECT_LT(model_.EventsAfter(kAll, after.value).size(), model_.Events().size());
  MustPut(Key("a"), "last");
  const auto last = reader.Next(1, Soon());
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(ToRecordedEvents(*last), std::vector<RecordedEvent>{model_.Events().back()});
}

TEST_P(ContractWatch, FromACompactedRevision) {
  SomeHistory();
  const Revision early{model_.Events()[0].item.revision};
  const Revision at = MustPut(Key("a"), "at");
  MustPut(Key("a"), "after");
  WatchReader running(engine(), From(Start()));
  EXPECT_EQ(ReadUpToNow(running), model_.Events());
  ASSERT_TRUE(CompactNow(engine(), at).has_value());

  const auto late = engine().Follow(early, [] {});
  ASSERT_EQ(ErrorOf(*late), base::Reason::kExpired);
  const auto first = late->Poll(1);
  const auto again = late->Poll(1);
  ASSERT_FALSE(first.has_value() || again.has_value());
  EXPECT_EQ(first.error().message, again.error().message);
  EXPECT_EQ(EventsOf(kAll, at), model_.EventsAfter(kAll, at.value));
  // A watch that needs no compacted event continues.
  MustPut(Key("b"), "on");
  EXPECT_EQ(ReadUpToNow(running), std::vector<RecordedEvent>{model_.Events().back()});
}

TEST_P(ContractWatch, HistoryOfAPrefix) {
  for (const char* name : {"a", "ab", "ab/1", "ab/10", "abc", "ac", "b"}) MustPut(Key(name), name);
  MustDelete(Key("ab/1"));
  for (const char* name : {"ab", "ab/1", "ab/1/", ""}) {
    EXPECT_EQ(HistoryOf({.prefix = Key(name), .after = Start(), .upto = Now()}),
              model_.EventsAfter(Key(name), 0))
        << name;
  }
}

TEST_P(ContractWatch, HistoryFromEveryPointToEveryOther) {
  SomeHistory();
  std::vector<Revision> points{Start()};
  for (const RecordedEvent& event : model_.Events()) points.push_back({event.item.revision});
  for (const Revision after : points) {
    for (const Revision upto : points) {
      std::vector<RecordedEvent> expected = model_.EventsAfter(kAll, after.value);
      std::erase_if(expected, [upto](const RecordedEvent& event) {
        return event.item.revision > upto.value;
      });
      for (const size_t max : {1U, 3U, 1000U}) {
        const HistoryRequest request{
            .prefix = std::string(kAll), .after = after, .upto = upto, .max = max};
        EXPECT_EQ(HistoryOf(request), expected) << after.value << " to " << upto.value;
      }
    }
  }
}

TEST_P(ContractWatch, HistoryThatIsCompacted) {
  SomeHistory();
  const Revision early{model_.Events()[0].item.revision};
  const Revision at = MustPut(Key("a"), "at");
  const Revision last = MustPut(Key("a"), "after");
  const HistoryRequest all{.prefix = std::string(kAll), .after = Start(), .upto = last};
  EXPECT_EQ(HistoryOf(all), model_.Events());
  ASSERT_TRUE(CompactNow(engine(), at).has_value());
  HistoryRequest gone = all;
  gone.after = early;
  EXPECT_EQ(ReasonOf(engine().ReadHistory(gone)), base::Reason::kExpired);
  HistoryRequest there = all;
  there.after = at;
  EXPECT_EQ(HistoryOf(there), model_.EventsAfter(kAll, at.value));
}

TEST_P(ContractWatch, EventsKnowWhatWasThereBefore) {
  OpenWith({.ring_bytes = size_t{16} << 10});
  WatchReader live(engine(), From(Start()));
  SomeHistory();
  EXPECT_EQ(ReadUpToNow(live), model_.Events());
  // Events that are only in history have it as well.
  PutNumbers(40, 1000);
  EXPECT_EQ(EventsOf(kAll, Start()), model_.Events());
}

TEST_P(ContractWatch, ThePastBeyondTheRing) {
  OpenWith({.ring_bytes = size_t{32} << 10});
  PutNumbers(120, 1000);
  // The follow is read in small pieces, also while more is written.
  const auto watch = engine().Follow(Start(), [] {});
  std::vector<RecordedEvent> recorded;
  const auto read = [&](size_t upto) {
    return Eventually([&] {
      const auto batch = watch->Poll(7);
      EXPECT_TRUE(batch.has_value()) << batch.error().message;
      if (!batch) return true;
      EXPECT_LE(batch->events.size(), 7U);
      for (RecordedEvent& event : ToRecordedEvents(batch->events)) {
        recorded.push_back(std::move(event));
      }
      return recorded.size() >= upto;
    });
  };
  ASSERT_TRUE(read(50));
  PutNumbers(40, 1000);
  ASSERT_TRUE(read(160));
  EXPECT_EQ(recorded, model_.Events());
  // Prefixes with few or no events in the past.
  EXPECT_EQ(EventsOf(Key("n3"), Start()), model_.EventsAfter(Key("n3"), 0));
  EXPECT_EQ(EventsOf(Key("none"), Start()), std::vector<RecordedEvent>{});
}

TEST_P(ContractWatch, ProgressWithNothingHappening) {
  WatchReader idle(engine(), {.prefix = Key("idle/"), .after = Start()});
  ASSERT_TRUE(idle.UntilProgress(Now(), Soon()).has_value());
  // First there are writes outside of the prefix, then no writes.
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
    ASSERT_EQ(ReadUpToNow(idle), std::vector<RecordedEvent>{});
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
  const auto watch = engine().Follow(Start(), [] {});
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
  const auto watch = engine().Follow(Start(), [&wakes] { ++wakes; });
  for (int i = 0; i < 20; ++i) {
    // There is nothing to poll, whatever woke the watch before. So it waits for the put.
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
    auto watch = engine().Follow(Now(), [&over] { EXPECT_FALSE(over) << "woken after its end"; });
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
  const auto never = engine().Follow(Start(), [] {});
  WatchReader quick(engine(), From(Start()));
  ASSERT_EQ(ReadUpToNow(slow), std::vector<RecordedEvent>{});
  for (int i = 0; i < 150; ++i) {
    MustPut(Key("n", i % 5), std::to_string(i) + std::string(4000, 'x'));
    const auto next = quick.Next(1, Soon());
    ASSERT_TRUE(next.has_value()) << next.error().message;
    ASSERT_EQ(ToRecordedEvents(*next), std::vector<RecordedEvent>{model_.Events().back()});
  }
  // The slow watch expires or gets all events, never a part of them.
  const auto late = slow.UntilProgress(Now(), Soon());
  if (late) {
    EXPECT_EQ(ToRecordedEvents(*late), model_.Events());
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

  // The first delete finds no key, so there are kTxns * 4 - 1 events. The readers take the first
  // kTxns * 3 of them.
  std::vector<int64_t> expected;
  for (const RecordedEvent& event : model_.Events()) expected.push_back(event.item.revision);
  ASSERT_GE(expected.size(), size_t{kTxns} * 3);
  expected.resize(size_t{kTxns} * 3);
  for (const auto& of_thread : seen) {
    for (const auto& revisions : of_thread) ASSERT_EQ(revisions, expected);
  }
}

}  // namespace berth::store::contract
