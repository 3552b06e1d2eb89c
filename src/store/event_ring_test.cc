#include "store/event_ring.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace berth::store {
namespace {

constexpr size_t kRoomy = size_t{1} << 20;

Event PutEvent(int64_t revision, std::string key, std::string value = "") {
  return {.type = Event::Type::kPut,
          .key = std::move(key),
          .value = std::move(value),
          .revision = {revision}};
}

/// The revisions of a batch, and its progress.
struct Read {
  std::vector<int64_t> revisions = {};
  int64_t progress = 0;

  bool operator==(const Read&) const = default;
  friend void PrintTo(const Read& read, std::ostream* out) {
    for (const int64_t revision : read.revisions) *out << revision << " ";
    *out << "up to " << read.progress;
  }
};

Read Poll(Watch& watch, size_t max = 100) {
  const auto batch = watch.Poll(max);
  EXPECT_TRUE(batch.has_value()) << batch.error().message;
  Read read;
  if (!batch) return read;
  for (const EventPtr& event : batch->events) read.revisions.push_back(event->revision.value);
  read.progress = batch->progress.value;
  return read;
}

base::Reason PollError(Watch& watch) {
  const auto batch = watch.Poll(100);
  EXPECT_FALSE(batch.has_value());
  return batch ? base::Reason::kUnknown : batch.error().reason;
}

/// Holds events by revision, as an engine would on its disk.
class FakeHistory final : public History {
 public:
  base::Result<WatchBatch> ReadHistory(const HistoryRequest& request) override {
    if (before_read) before_read();
    ++reads;
    longest = std::max(longest, request.upto.value);
    if (request.after < compacted) return base::Fail(base::Reason::kExpired, "gone");
    WatchBatch batch{.progress = request.after};
    for (const Event& event : events) {
      if (event.revision <= request.after) continue;
      if (event.revision > request.upto) break;
      // A few events at a time.
      if (batch.events.size() == std::min<size_t>(request.max, 10)) return batch;
      batch.progress = event.revision;
      batch.events.push_back(std::make_shared<const Event>(event));
    }
    // When no event is left, an engine may or may not report `upto` as its progress.
    if (says_upto || batch.progress > request.after) batch.progress = request.upto;
    return batch;
  }

  std::vector<Event> events;
  Revision compacted;
  bool says_upto = true;
  std::function<void()> before_read;
  int reads = 0;
  int64_t longest = 0;
};

TEST(EventRing, HandsOutEventsInOrderOnce) {
  EventRing ring({10}, kRoomy, nullptr);
  const auto watch = ring.Follow({10}, [] {});
  EXPECT_EQ(Poll(*watch), (Read{{}, 10}));
  ring.Append({PutEvent(11, "a"), PutEvent(12, "b"), PutEvent(13, "a")}, {13});
  EXPECT_EQ(Poll(*watch), (Read{{11, 12, 13}, 13}));
  EXPECT_EQ(Poll(*watch), (Read{{}, 13}));
  ring.Append({PutEvent(15, "a")}, {16});
  EXPECT_EQ(Poll(*watch), (Read{{15}, 16}));
  EXPECT_EQ(ring.Head(), Revision{16});
  EXPECT_EQ(ring.Floor(), Revision{10});
}

TEST(EventRing, EventsAreSharedNotCopied) {
  EventRing ring({}, kRoomy, nullptr);
  const auto one = ring.Follow({}, [] {});
  const auto two = ring.Follow({}, [] {});
  ring.Append({PutEvent(1, "a")}, {1});
  EXPECT_EQ(one->Poll(1)->events.at(0).get(), two->Poll(1)->events.at(0).get());
}

TEST(EventRing, ProgressFollowsTheHead) {
  EventRing ring({}, kRoomy, nullptr);
  const auto watch = ring.Follow({}, [] {});
  ring.Append({}, {4});
  EXPECT_EQ(Poll(*watch), (Read{{}, 4}));
  ring.Append({}, {9});
  EXPECT_EQ(Poll(*watch), (Read{{}, 9}));
  // The head never goes back.
  ring.Append({}, {7});
  EXPECT_EQ(Poll(*watch), (Read{{}, 9}));
}

TEST(EventRing, GivesNoMoreThanAskedFor) {
  EventRing ring({}, kRoomy, nullptr);
  const auto watch = ring.Follow({}, [] {});
  ring.Append({PutEvent(1, "a"), PutEvent(2, "a"), PutEvent(4, "a")}, {5});
  EXPECT_EQ(Poll(*watch, 2), (Read{{1, 2}, 2}));
  EXPECT_EQ(Poll(*watch, 1), (Read{{4}, 5}));
  EXPECT_EQ(Poll(*watch, 1), (Read{{}, 5}));
  ring.Append({PutEvent(6, "a"), PutEvent(7, "a")}, {7});
  EXPECT_EQ(Poll(*watch, 0), (Read{{6}, 6})) << "none at all would mean that there is nothing";
}

TEST(EventRing, StartsAnywhereInWhatItHolds) {
  EventRing ring({}, kRoomy, nullptr);
  std::vector<Event> events;
  for (int64_t i = 1; i <= 2000; ++i) events.push_back(PutEvent(2 * i, "a"));
  ring.Append(std::move(events), {4000});
  for (const int64_t after : {0, 1, 2, 3, 1999, 2000, 3998, 3999, 4000}) {
    const auto watch = ring.Follow({after}, [] {});
    std::vector<int64_t> expected;
    for (int64_t i = 2; i <= 4000; i += 2) {
      if (i > after) expected.push_back(i);
    }
    std::vector<int64_t> seen;
    Read read;
    do {
      read = Poll(*watch, 300);
      seen.insert(seen.end(), read.revisions.begin(), read.revisions.end());
    } while (!read.revisions.empty());
    EXPECT_EQ(seen, expected) << after;
    EXPECT_EQ(read.progress, 4000);
  }
}

TEST(EventRing, WaitsForTheFuture) {
  EventRing ring({}, kRoomy, nullptr);
  const auto watch = ring.Follow({5}, [] {});
  ring.Append({PutEvent(1, "a")}, {2});
  EXPECT_EQ(Poll(*watch), (Read{{}, 2})) << "what has not happened is no progress";
  ring.Append({PutEvent(4, "a"), PutEvent(5, "a"), PutEvent(6, "a")}, {6});
  EXPECT_EQ(Poll(*watch), (Read{{6}, 6}));
}

TEST(EventRing, TheFutureMayComeAfterManyHaveLeft) {
  EventRing ring({}, 2000, nullptr);
  const auto watch = ring.Follow({95}, [] {});
  EXPECT_EQ(Poll(*watch), (Read{{}, 0}));
  for (int64_t i = 1; i <= 100; ++i) ring.Append({PutEvent(i, "a", std::string(100, 'x'))}, {i});
  EXPECT_GT(ring.Floor(), Revision{50});
  EXPECT_EQ(Poll(*watch), (Read{{96, 97, 98, 99, 100}, 100}));
}

TEST(EventRing, TheBudgetCountsAllThatAnEventHolds) {
  // 100 events of about 1,000 bytes must not fit into 50,000 bytes. The bytes are in the value, in
  // the key, or in the previous value.
  const std::string big(1000, 'x');
  const std::vector<std::function<Event(int64_t)>> kinds = {
      [&](int64_t i) { return PutEvent(i, "a", big); },
      [&](int64_t i) { return PutEvent(i, big); },
      [&](int64_t i) {
        Event event = PutEvent(i, "a");
        event.previous = Entry{.key = "a", .value = big};
        return event;
      },
  };
  for (const auto& kind : kinds) {
    EventRing ring({}, 50'000, nullptr);
    for (int64_t i = 1; i <= 100; ++i) ring.Append({kind(i)}, {i});
    EXPECT_GE(ring.Floor().value, 51);
    EXPECT_LE(ring.Floor().value, 70);
  }
  // Small events count too.
  EventRing small({}, 50'000, nullptr);
  for (int64_t i = 1; i <= 10'000; ++i) small.Append({PutEvent(i, "a")}, {i});
  EXPECT_GT(small.Floor().value, 9000);
}

TEST(EventRing, AnEventLargerThanTheBudgetIsStillHandedOut) {
  EventRing ring({}, 1000, nullptr);
  const auto watch = ring.Follow({}, [] {});
  ring.Append({PutEvent(1, "a", std::string(5000, 'x'))}, {1});
  EXPECT_EQ(Poll(*watch), (Read{{1}, 1}));
}

TEST(EventRing, WithoutHistoryWhatHasLeftIsExpired) {
  EventRing ring({}, 2000, nullptr);
  const auto behind = ring.Follow({}, [] {});
  const auto ahead = ring.Follow({}, [] {});
  for (int64_t i = 1; i <= 50; ++i) {
    ring.Append({PutEvent(i, "a", std::string(100, 'x'))}, {i});
    EXPECT_EQ(Poll(*ahead), (Read{{i}, i}));
  }
  EXPECT_EQ(PollError(*behind), base::Reason::kExpired);
  EXPECT_EQ(behind->Poll(1).error(), behind->Poll(1).error());
  EXPECT_EQ(Poll(*ahead), (Read{{}, 50})) << "it has kept up";
  const auto at_floor = ring.Follow(ring.Floor(), [] {});
  EXPECT_EQ(Poll(*at_floor).progress, 50);
  const auto before_floor = ring.Follow({ring.Floor().value - 1}, [] {});
  EXPECT_EQ(PollError(*before_floor), base::Reason::kExpired);
}

class EventRingHistory : public testing::Test {
 protected:
  void Append(int64_t revision, const std::string& key) {
    const Event event = PutEvent(revision, key, std::string(100, 'x'));
    history_.events.push_back(event);
    ring_.Append({event}, {revision});
  }

  FakeHistory history_;
  EventRing ring_{{}, 3000, &history_};
};

TEST_F(EventRingHistory, ReadsHistoryUpToTheRingAndGoesOnThere) {
  for (const bool says_upto : {true, false}) {
    history_.says_upto = says_upto;
    history_.longest = 0;
    const auto watch = ring_.Follow({0}, [] {});
    if (history_.events.empty()) {
      for (int64_t i = 1; i <= 100; ++i) Append(i, "a");
    }
    std::vector<int64_t> expected;
    for (int64_t i = 1; i <= 100; ++i) expected.push_back(i);
    std::vector<int64_t> seen;
    while (seen.size() < 100) {
      const Read read = Poll(*watch, 7);
      ASSERT_FALSE(read.revisions.empty()) << "empty means that all has been read";
      EXPECT_LE(read.revisions.size(), 7U);
      EXPECT_EQ(read.progress, read.revisions.back());
      seen.insert(seen.end(), read.revisions.begin(), read.revisions.end());
    }
    EXPECT_EQ(seen, expected);
    EXPECT_EQ(history_.longest, ring_.Floor().value) << "the ring has what follows";
    EXPECT_EQ(Poll(*watch), (Read{{}, 100}));
  }
}

TEST_F(EventRingHistory, AShrunkRingLosesNothing) {
  const auto behind = ring_.Follow({0}, [] {});
  for (int64_t i = 1; i <= 10; ++i) Append(i, "a");
  EXPECT_LT(ring_.Floor().value, 5);
  ring_.Shrink(0);
  EXPECT_EQ(ring_.Floor().value, 9) << "the newest event stays";
  std::vector<int64_t> seen;
  while (seen.size() < 10) {
    const Read read = Poll(*behind, 3);
    ASSERT_FALSE(read.revisions.empty());
    seen.insert(seen.end(), read.revisions.begin(), read.revisions.end());
  }
  EXPECT_EQ(seen, (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  ring_.Shrink(3000);
  Append(11, "a");
  EXPECT_EQ(Poll(*behind), (Read{{11}, 11}));
}

TEST_F(EventRingHistory, CatchesUpThoughTheRingMovesOn) {
  int64_t next = 1;
  for (; next <= 50; ++next) Append(next, "a");
  // While the cursor reads history, writers add as many events as the ring holds.
  history_.before_read = [&] {
    if (next > 300) return;
    for (int i = 0; i < 12; ++i) Append(next++, "a");
  };
  const auto watch = ring_.Follow({}, [] {});
  int64_t last = 0;
  while (last < next - 1) {
    for (const int64_t revision : Poll(*watch, 10).revisions) ASSERT_EQ(revision, ++last);
  }
  EXPECT_GT(last, 300);
}

TEST_F(EventRingHistory, WhatHistoryHasNoMoreIsExpired) {
  for (int64_t i = 1; i <= 100; ++i) Append(i, "a");
  history_.compacted = {20};
  const auto old = ring_.Follow({19}, [] {});
  EXPECT_EQ(PollError(*old), base::Reason::kExpired);
  const int reads = history_.reads;
  EXPECT_EQ(PollError(*old), base::Reason::kExpired);
  EXPECT_EQ(history_.reads, reads) << "the error stays, nobody asks again";
  const auto enough = ring_.Follow({20}, [] {});
  EXPECT_EQ(Poll(*enough, 1), (Read{{21}, 21}));
}

TEST_F(EventRingHistory, CompactionConcernsNewWatchesOnly) {
  for (int64_t i = 1; i <= 100; ++i) Append(i, "a");
  const auto running = ring_.Follow({5}, [] {});
  ring_.SetCompacted({90});
  ring_.SetCompacted({30});
  EXPECT_EQ(Poll(*running, 1), (Read{{6}, 6})) << "history still has it";
  const auto late = ring_.Follow({89}, [] {});
  EXPECT_EQ(PollError(*late), base::Reason::kExpired);
  const auto at = ring_.Follow({90}, [] {});
  EXPECT_EQ(Poll(*at, 1), (Read{{91}, 91}));
}

TEST(EventRing, BreakTellsEveryoneToStartOver) {
  int wakes = 0;
  EventRing ring({}, kRoomy, nullptr);
  const auto waiting = ring.Follow({}, [&] { ++wakes; });
  const auto behind = ring.Follow({}, [&] { ++wakes; });
  ring.Append({PutEvent(1, "a")}, {1});
  EXPECT_EQ(Poll(*waiting), (Read{{1}, 1}));
  wakes = 0;
  ring.Break({20});
  EXPECT_EQ(wakes, 2);
  EXPECT_EQ(PollError(*waiting), base::Reason::kExpired);
  EXPECT_EQ(PollError(*behind), base::Reason::kExpired);
  EXPECT_EQ(ring.Head(), Revision{20});
  EXPECT_EQ(ring.Floor(), Revision{20});

  const auto anew = ring.Follow({20}, [] {});
  const auto from_before = ring.Follow({1}, [] {});
  ring.Append({PutEvent(21, "a")}, {21});
  EXPECT_EQ(Poll(*anew), (Read{{21}, 21}));
  EXPECT_EQ(PollError(*from_before), base::Reason::kExpired);
  EXPECT_EQ(PollError(*waiting), base::Reason::kExpired) << "an error stays";
}

TEST_F(EventRingHistory, BreakHoldsThoughHistoryCouldGoOn) {
  for (int64_t i = 1; i <= 100; ++i) Append(i, "a");
  const auto behind = ring_.Follow({5}, [] {});
  const auto future = ring_.Follow({300}, [] {});
  EXPECT_EQ(Poll(*behind, 1), (Read{{6}, 6}));
  ring_.Break({200});
  EXPECT_EQ(PollError(*behind), base::Reason::kExpired);
  EXPECT_EQ(PollError(*future), base::Reason::kExpired);
  const auto anew = ring_.Follow({98}, [] {});
  EXPECT_EQ(Poll(*anew).revisions, (std::vector<int64_t>{99, 100}));
}

TEST_F(EventRingHistory, HistoryMayHaveNothingUpToTheRing) {
  history_.says_upto = false;
  EventRing later({500}, 3000, &history_);
  const auto watch = later.Follow({3}, [] {});
  EXPECT_EQ(Poll(*watch), (Read{{}, 500}));
  later.Append({PutEvent(501, "a")}, {501});
  EXPECT_EQ(Poll(*watch), (Read{{501}, 501}));
}

TEST(EventRing, FailTellsEveryoneWhy) {
  int wakes = 0;
  EventRing ring({}, kRoomy, nullptr);
  const auto waiting = ring.Follow({}, [&] { ++wakes; });
  EXPECT_EQ(Poll(*waiting), (Read{{}, 0}));
  const base::Error why{.reason = base::Reason::kServiceUnavailable, .message = "closing"};
  ring.Fail(why);
  EXPECT_EQ(wakes, 1);
  ring.Fail({.reason = base::Reason::kInternalError, .message = "second"});
  EXPECT_EQ(waiting->Poll(1).error(), why);
  EXPECT_EQ(ring.Follow({}, [] {})->Poll(1).error(), why);
}

TEST(EventRing, WakesOnceForWhatIsAppendedTogether) {
  EventRing ring({}, kRoomy, nullptr);
  int wakes = 0;
  const auto watch = ring.Follow({}, [&] { ++wakes; });
  ring.Append({PutEvent(1, "a"), PutEvent(2, "b")}, {2});
  EXPECT_EQ(wakes, 1);
  EXPECT_EQ(Poll(*watch), (Read{{1, 2}, 2}));
  ring.Append({}, {5});
  EXPECT_EQ(wakes, 1) << "nobody has asked for progress";
  ring.Append({}, {6}, /*wake_all=*/true);
  EXPECT_EQ(wakes, 2);
  EXPECT_EQ(Poll(*watch), (Read{{}, 6}));
}

TEST(EventRing, CursorsComeAndGo) {
  EventRing ring({}, kRoomy, nullptr);
  std::vector<int> wakes(5);
  std::vector<std::unique_ptr<Watch>> watches;
  for (size_t i = 0; i < wakes.size(); ++i) {
    watches.push_back(ring.Follow({}, [&wakes, i] { ++wakes[i]; }));
    EXPECT_EQ(Poll(*watches[i]), (Read{{}, 0}));
  }
  watches[1].reset();
  watches[4].reset();
  ring.Append({PutEvent(1, "a")}, {1});
  EXPECT_EQ(wakes, (std::vector<int>{1, 0, 1, 1, 0}));
  watches.clear();
  ring.Append({PutEvent(2, "a")}, {2});
  EXPECT_EQ(wakes, (std::vector<int>{1, 0, 1, 1, 0}));
}

TEST(EventRing, OneThatEndsWhileOthersAreWokenIsNotWoken) {
  EventRing ring({}, kRoomy, nullptr);
  std::vector<std::unique_ptr<Watch>> watches;
  int wakes = 0;
  for (size_t i = 0; i < 2; ++i) {
    // Each wake destroys the other watch.
    watches.push_back(ring.Follow({}, [&watches, &wakes, i] {
      ++wakes;
      watches[1 - i].reset();
    }));
  }
  for (const auto& watch : watches) EXPECT_EQ(Poll(*watch), (Read{{}, 0}));
  ring.Append({PutEvent(1, "a")}, {1});
  EXPECT_EQ(wakes, 1);
}

TEST(EventRing, AWakeMeetsNoLockOfTheRing) {
  EventRing ring({}, kRoomy, nullptr);
  std::unique_ptr<Watch> watch;
  std::vector<int64_t> seen;
  watch = ring.Follow({}, [&] {
    for (const int64_t revision : Poll(*watch).revisions) seen.push_back(revision);
    EXPECT_EQ(ring.Head(), Revision{1});
  });
  EXPECT_EQ(Poll(*watch), (Read{{}, 0}));
  ring.Append({PutEvent(1, "a")}, {1});
  EXPECT_EQ(seen, std::vector<int64_t>{1});
}

}  // namespace
}  // namespace berth::store
