#include "watch/cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/testing/base_kit.h"
#include "state/follower.h"
#include "state/testing/test_store.h"

namespace berth::watch {
namespace {

using state::testing::Body;
using state::testing::kNamespaces;
using state::testing::kServices;
using state::testing::ServiceKey;
using state::testing::Stored;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Text(const Event& event) {
  const std::string name(event.Last()->Name());
  const std::string revision = std::to_string(event.Revision()) + ":";
  if (!event.Object()) return revision + "-" + name + "=" + Body(*event.Previous());
  if (!event.Previous()) return revision + "+" + name + "=" + Body(*event.Object());
  return revision + name + "=" + Body(*event.Previous()) + ">" + Body(*event.Object());
}

/// A cursor that counts its wakes and shows its events as text.
struct Watcher {
  Watcher(Hub& hub, Scope scope, int64_t after)
      : cursor(hub, std::move(scope), after, [this] { ++notified; }) {}

  std::vector<std::string> Read(size_t max = 100) {
    std::vector<std::string> read;
    for (;;) {
      const base::Result<Pull> pull = cursor.Next(max);
      if (!pull) {
        read.push_back(std::string(ReasonText(pull.error().reason)) + ": " + pull.error().message);
        return read;
      }
      for (const EventPtr& event : pull->events) read.push_back(Text(*event));
      progress = pull->progress;
      if (pull->caught_up) return read;
    }
  }

  std::atomic<int> notified = 0;
  int64_t progress = 0;
  Cursor cursor;
};

class CursorTest : public ::testing::Test {
 protected:
  void Make(HubOptions hub = {}, store::MemoryOptions engine = {}) {
    store_.Open(std::move(engine));
    Begin(hub, store_.clock);
    PumpAll();
  }
  void Begin(const HubOptions& hub, const base::Clock& clock) {
    past_.emplace(*store_.engine, store_.resources);
    hub_ = std::make_unique<Hub>(*past_, store_.resources, hub);
    Follow(clock);
  }
  void Follow(const base::Clock& clock) {
    follower_ = std::make_unique<state::Follower>(*store_.engine, store_.resources,
                                                  std::vector<state::Listener*>{hub_.get()},
                                                  state::FollowerOptions{}, clock, store_.log);
  }
  void PumpAll() {
    while (follower_->Pump()) {
    }
  }
  void Put(const std::string& name_space, const std::string& name, const std::string& value) {
    store_.Put(ServiceKey(name_space, name), Stored(value));
  }
  void Delete(const std::string& name_space, const std::string& name) {
    store_.Delete(ServiceKey(name_space, name));
  }
  Scope All() const { return {.resource = kServices, .key = resources_.Prefix(kServices)}; }
  Scope In(const std::string& name_space) const {
    return {.kind = Scope::Kind::kNamespace,
            .resource = kServices,
            .key = resources_.Prefix(kServices, name_space)};
  }
  Scope One(const std::string& name_space, const std::string& name) const {
    return {.kind = Scope::Kind::kObject,
            .resource = kServices,
            .key = resources_.Key(kServices, name_space, name)};
  }

  state::testing::TestStore store_;
  const state::Resources& resources_ = store_.resources;
  std::optional<state::Past> past_;
  std::unique_ptr<Hub> hub_;
  std::unique_ptr<state::Follower> follower_;
};

TEST_F(CursorTest, TellsWhatHappensFromNowOn) {
  Make();
  Put("n", "old", "1");
  PumpAll();
  Watcher watcher(*hub_, All(), hub_->Head());
  EXPECT_THAT(watcher.Read(), IsEmpty());
  Put("n", "a", "1");
  Put("n", "a", "2");
  Delete("n", "a");
  EXPECT_EQ(watcher.notified, 0) << "not before the picture shows it";
  PumpAll();
  EXPECT_EQ(watcher.notified, 1);
  EXPECT_THAT(watcher.Read(), ElementsAre("2:+a=1", "3:a=1>2", "4:-a=2"));
  EXPECT_THAT(watcher.Read(), IsEmpty());
  EXPECT_EQ(watcher.progress, 4);
}

TEST_F(CursorTest, ScopesTellTheirOwnOnly) {
  Make();
  Watcher all(*hub_, All(), 0);
  Watcher one_namespace(*hub_, In("a"), 0);
  Watcher one_object(*hub_, One("a", "x"), 0);
  Watcher namespaces(*hub_, {.resource = kNamespaces, .key = resources_.Prefix(kNamespaces)}, 0);
  const auto read_all = [&] {
    return std::vector<std::vector<std::string>>{all.Read(), one_namespace.Read(),
                                                 one_object.Read(), namespaces.Read()};
  };
  read_all();
  Put("a", "x", "1");
  Put("a", "xx", "1");
  Put("a-b", "x", "1");
  store_.Put("/registry/namespaces/a", Stored("1"));
  PumpAll();
  EXPECT_THAT(read_all(), ElementsAre(ElementsAre("1:+x=1", "2:+xx=1", "3:+x=1"),
                                      ElementsAre("1:+x=1", "2:+xx=1"), ElementsAre("1:+x=1"),
                                      ElementsAre("4:+a=1")));
  Put("a-b", "x", "2");
  PumpAll();
  EXPECT_EQ(all.notified, 2);
  EXPECT_EQ(one_namespace.notified, 1) << "others' events wake nobody";
  EXPECT_EQ(one_object.notified, 1);
  EXPECT_THAT(one_namespace.Read(), IsEmpty());
  EXPECT_EQ(one_namespace.progress, 5) << "but a bookmark says how far it is";
  EXPECT_EQ(hub_->GetStats().cursors, 4U);
}

TEST_F(CursorTest, APullIsBounded) {
  Make();
  for (int i = 0; i < 10; ++i) Put("n", std::to_string(i), "1");
  PumpAll();
  Cursor cursor(*hub_, All(), 0, [] {});
  const base::Result<Pull> pull = cursor.Next(3);
  EXPECT_EQ(pull->events.size(), 3U);
  EXPECT_FALSE(pull->caught_up);
  EXPECT_EQ(pull->progress, 3);
}

TEST_F(CursorTest, AStartInTheFutureWaitsForIt) {
  Make();
  Watcher watcher(*hub_, All(), 2);
  EXPECT_THAT(watcher.Read(), IsEmpty());
  EXPECT_EQ(watcher.progress, 0);
  Put("n", "a", "1");
  Put("n", "a", "2");
  PumpAll();
  EXPECT_THAT(watcher.Read(), IsEmpty());
  Put("n", "a", "3");
  PumpAll();
  EXPECT_THAT(watcher.Read(), ElementsAre("3:a=2>3"));
}

TEST_F(CursorTest, FromEveryRevisionComesTheSameSequence) {
  // The ring is so small that most events come from the store's history.
  Make({.ring_bytes = 4000, .segment_events = 4});
  std::vector<std::string> all;
  Watcher live(*hub_, All(), 0);
  for (int i = 1; i <= 60; ++i) {
    const std::string name = "s" + std::to_string(i % 7);
    if (i % 5 == 0 && i > 10) {
      Delete("n", name);
    } else {
      Put(i % 3 == 0 ? "m" : "n", name, std::to_string(i));
    }
    PumpAll();
    for (std::string& event : live.Read()) all.push_back(std::move(event));
  }
  EXPECT_GT(hub_->Floor(kServices), 20);
  const int64_t head = hub_->Head();
  for (int64_t after = 0; after <= head; ++after) {
    for (const size_t max : {1U, 7U, 1000U}) {
      Watcher watcher(*hub_, All(), after);
      std::vector<std::string> expected;
      for (const std::string& event : all) {
        if (std::stoll(event) > after) expected.push_back(event);
      }
      ASSERT_EQ(watcher.Read(max), expected) << after << " by " << max;
    }
  }
  Watcher part(*hub_, One("m", "s3"), 0);
  for (const std::string& event : part.Read()) EXPECT_NE(event.find("s3="), std::string::npos);
}

TEST_F(CursorTest, GoesOnWhereARingThatMovedOnMeetsHistory) {
  Make({.ring_bytes = 4000, .segment_events = 4});
  Watcher slow(*hub_, All(), 0);
  for (int i = 0; i < 100; ++i) Put("n", "a", std::to_string(i));
  PumpAll();
  // The ring moves on while the past is read event by event.
  std::vector<std::string> read;
  for (int i = 100; i < 300; ++i) {
    const base::Result<Pull> pull = slow.cursor.Next(1);
    ASSERT_TRUE(pull);
    for (const EventPtr& event : pull->events) read.push_back(Text(*event));
    Put("n", "a", std::to_string(i));
    PumpAll();
  }
  for (std::string& event : slow.Read()) read.push_back(std::move(event));
  ASSERT_EQ(read.size(), 300U);
  for (size_t i = 0; i < read.size(); ++i) {
    ASSERT_EQ(std::stoull(read[i]), i + 1) << "in order, each once";
  }
}

TEST_F(CursorTest, WithoutHistoryItIsExpiredForGood) {
  Make({.ring_bytes = 4000, .segment_events = 4}, {.ring_bytes = 1000});
  for (int i = 0; i < 100; ++i) Put("n", "a", std::to_string(i));
  PumpAll();
  ASSERT_TRUE(store_.Compact(90));
  Watcher watcher(*hub_, All(), 5);
  const std::string expected =
      "Expired: too old resource version: 5 (" + std::to_string(hub_->Floor(kServices)) + ")";
  EXPECT_THAT(watcher.Read(), ElementsAre(expected));
  EXPECT_THAT(watcher.Read(), ElementsAre(expected));
  Watcher edge(*hub_, All(), hub_->Floor(kServices));
  EXPECT_EQ(edge.Read().size(), static_cast<size_t>(100 - hub_->Floor(kServices)));
}

TEST_F(CursorTest, AWaitingCursorOfAQuietScopeIsNotExpiredByABusyOne) {
  Make({.ring_bytes = 4000, .segment_events = 4}, {.ring_bytes = 1000});
  Watcher quiet(*hub_, In("quiet"), 0);
  EXPECT_THAT(quiet.Read(), IsEmpty());
  for (int i = 0; i < 100; ++i) {
    Put("busy", "a", std::to_string(i));
    PumpAll();
  }
  ASSERT_TRUE(store_.Compact(100));
  Put("quiet", "x", "1");
  PumpAll();
  EXPECT_EQ(quiet.notified, 1);
  EXPECT_THAT(quiet.Read(), ElementsAre("101:+x=1"));
}

TEST_F(CursorTest, ABusyResourceDoesNotPushOutAnother) {
  Make({.ring_bytes = 8000, .segment_events = 4}, {.ring_bytes = 1000});
  store_.Put("/registry/namespaces/a", Stored("1"));
  for (int i = 0; i < 200; ++i) {
    Put("busy", "a", std::to_string(i));
    PumpAll();
  }
  ASSERT_TRUE(store_.Compact(201));
  EXPECT_LE(hub_->GetStats().bytes, 8000U);
  Watcher namespaces(*hub_, {.resource = kNamespaces, .key = resources_.Prefix(kNamespaces)}, 0);
  EXPECT_THAT(namespaces.Read(), ElementsAre("1:+a=1"));
}

TEST_F(CursorTest, AfterTheFollowerStartedOverHistoryFillsTheGap) {
  Make({}, {.history_bytes = 10'000'000, .ring_bytes = 1000});
  Put("n", "a", "1");
  PumpAll();
  Watcher watcher(*hub_, All(), 0);
  EXPECT_THAT(watcher.Read(), ElementsAre("1:+a=1"));
  // A second follower starts later with the same hub, as after a lost watch.
  Put("n", "a", "2");
  Delete("n", "a");
  Follow(store_.clock);
  PumpAll();
  EXPECT_EQ(watcher.notified, 1);
  EXPECT_THAT(watcher.Read(), ElementsAre("2:a=1>2", "3:-a=2"));
  Put("n", "b", "1");
  PumpAll();
  EXPECT_THAT(watcher.Read(), ElementsAre("4:+b=1"));
}

TEST_F(CursorTest, ADestroyedCursorIsNoLongerToldAndAnotherOfItsScopeIs) {
  Make();
  auto first = std::make_unique<Watcher>(*hub_, All(), 0);
  Watcher second(*hub_, All(), 0);
  Watcher third(*hub_, All(), 0);
  for (Watcher* watcher : {first.get(), &second, &third}) watcher->Read();
  first.reset();
  Put("n", "a", "1");
  PumpAll();
  EXPECT_EQ(second.notified, 1);
  EXPECT_EQ(third.notified, 1);
}

TEST_F(CursorTest, AScopeIsWokenOnceHoweverManyWatchIt) {
  Make();
  int woken = 0;
  int others = 0;
  const auto shared = std::make_shared<const std::function<void()>>([&woken] { ++woken; });
  const auto other = std::make_shared<const std::function<void()>>([&others] { ++others; });
  std::vector<std::unique_ptr<Cursor>> cursors;
  for (int i = 0; i < 1000; ++i) {
    cursors.push_back(std::make_unique<Cursor>(*hub_, In("n"), 0, shared));
    EXPECT_TRUE(cursors.back()->Next(1)->caught_up);
  }
  const Cursor elsewhere(*hub_, In("m"), 0, other);
  for (const char* name : {"a", "b", "c"}) Put("n", name, "1");
  PumpAll();
  EXPECT_EQ(woken, 1) << "one batch";
  Put("n", "a", "2");
  PumpAll();
  EXPECT_EQ(woken, 2);
  EXPECT_EQ(others, 0);
  for (const auto& cursor : cursors) {
    const base::Result<Pull> pull = cursor->Next(100);
    ASSERT_EQ(pull->events.size(), 4U);
    EXPECT_TRUE(pull->caught_up) << "one look is enough";
  }
  while (cursors.size() > 1) cursors.pop_back();
  Put("n", "a", "3");
  PumpAll();
  EXPECT_EQ(woken, 3) << "the last one is still told";
  cursors.clear();
  Put("n", "a", "4");
  PumpAll();
  EXPECT_EQ(woken, 3);
}

TEST_F(CursorTest, CursorsThatAreReadNowAndThenMissNothing) {
  // Some cursors are within the places that a scope remembers, some are far beyond them, and the
  // ring is small.
  const uint64_t seed = base::TestSeed(7);
  SCOPED_TRACE("seed " + std::to_string(seed));
  base::SeededRandom random(seed);
  Make({.ring_bytes = 20'000, .segment_events = 8});
  std::vector<std::string> all;
  Watcher live(*hub_, All(), 0);
  struct Slow {
    std::unique_ptr<Watcher> watcher;
    std::string mark;
    std::vector<std::string> read;
  };
  std::vector<Slow> slow;
  for (int i = 0; i < 12; ++i) {
    const std::string name_space(1, static_cast<char>('a' + i % 3));
    slow.push_back({.watcher = std::make_unique<Watcher>(*hub_, In(name_space), 0),
                    .mark = "+" + name_space,
                    .read = {}});
  }
  for (int64_t i = base::LongCount(20'000); i > 0; --i) {
    // "a" is busy, "b" is not, and "c" is nearly quiet.
    const uint64_t draw = base::Uniform(random, 100);
    const std::string name_space = draw < 80 ? "a" : draw < 99 ? "b" : "c";
    Put(name_space, name_space + std::to_string(i), "1");
    if (base::Uniform(random, 3) == 0) PumpAll();
    if (base::Uniform(random, 2000) == 0) Follow(store_.clock);
    for (size_t j = 0; j < slow.size(); ++j) {
      if (base::Uniform(random, 1 + 30 * j) != 0) continue;
      for (std::string& event : slow[j].watcher->Read(1 + j)) {
        slow[j].read.push_back(std::move(event));
      }
    }
    for (std::string& event : live.Read()) all.push_back(std::move(event));
  }
  PumpAll();
  for (std::string& event : live.Read()) all.push_back(std::move(event));
  for (Slow& one : slow) {
    for (std::string& event : one.watcher->Read()) one.read.push_back(std::move(event));
    std::vector<std::string> expected;
    for (const std::string& event : all) {
      if (event.find(one.mark) != std::string::npos) expected.push_back(event);
    }
    EXPECT_EQ(one.read, expected) << one.mark;
  }
}

TEST_F(CursorTest, AThousandCursorsOnThreadsSeeEverythingOnceInOrder) {
  store_.OpenForThreads();
  Begin({.ring_bytes = 30'000, .segment_events = 16}, store_.system_clock);
  follower_->Start();
  ASSERT_TRUE(follower_->WaitReady(std::chrono::seconds(60)));

  constexpr int kCursors = 1000;
  constexpr int kScopes = 10;
  constexpr int kEvents = 400;
  struct Reader {
    std::atomic<bool> woken = true;
    std::unique_ptr<Cursor> cursor;
    int64_t last = 0;
    int seen = 0;
  };
  std::vector<Reader> readers(kCursors);
  for (int i = 0; i < kCursors; ++i) {
    Reader& reader = readers[static_cast<size_t>(i)];
    reader.cursor = std::make_unique<Cursor>(*hub_, In("n" + std::to_string(i % kScopes)), 0,
                                             [&reader] { reader.woken = true; });
  }
  std::atomic<int> wrong = 0;
  const auto run = [&](size_t from, size_t to) {
    size_t open = to - from;
    while (open > 0) {
      for (size_t i = from; i < to; ++i) {
        Reader& reader = readers[i];
        if (!reader.woken.exchange(false) || reader.seen == kEvents / kScopes) continue;
        const base::Result<Pull> pull = reader.cursor->Next(5);
        if (!pull) {
          ++wrong;
          --open;
          continue;
        }
        for (const EventPtr& event : pull->events) {
          if (event->Revision() <= reader.last) ++wrong;
          reader.last = event->Revision();
          ++reader.seen;
        }
        if (!pull->caught_up) reader.woken = true;
        if (reader.seen == kEvents / kScopes) --open;
      }
      std::this_thread::yield();
    }
  };
  std::thread one(run, 0, kCursors / 2);
  std::thread two(run, kCursors / 2, kCursors);
  for (int i = 0; i < kEvents; ++i) Put("n" + std::to_string(i % kScopes), "a", std::to_string(i));
  one.join();
  two.join();
  EXPECT_EQ(wrong, 0);
  follower_.reset();
}

TEST(EventTest, AFrameIsMadeOnceForAllThatNeedIt) {
  const state::Resources resources = state::testing::MakeResources();
  const auto count = std::make_shared<std::atomic<size_t>>(0);
  const auto object =
      state::Object::Make(*resources.Find("/registry/namespaces/a"), 1, state::testing::Wire("x"));
  {
    const Event event({.revision = 1, .resource = kNamespaces, .object = object}, count);
    std::atomic<int> made = 0;
    const auto make = [&made] {
      ++made;
      return std::string("frame");
    };
    const FramePtr first = event.Frame(1, make);
    EXPECT_EQ(*first, "frame");
    EXPECT_EQ(event.Frame(1, make), first);
    EXPECT_EQ(made, 1);
    EXPECT_NE(event.Frame(2, make), first);
    EXPECT_EQ(*count, 10U);
    for (uint32_t view = 3; view < 100; ++view) event.Frame(view, make);
    EXPECT_EQ(*count, 5 * Event::kMaxFrames) << "the number of views is bounded";

    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] { EXPECT_EQ(event.Frame(1, make), first); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(*count, 0U);
}

TEST(EventTest, ThreadsThatNeedANewFrameAtOnceGetTheSame) {
  const state::Resources resources = state::testing::MakeResources();
  const auto object =
      state::Object::Make(*resources.Find("/registry/namespaces/a"), 1, state::testing::Wire("x"));
  for (int round = 0; round < 50; ++round) {
    const Event event({.revision = 1, .resource = kNamespaces, .object = object});
    std::vector<FramePtr> frames(4);
    std::vector<std::thread> threads;
    for (FramePtr& frame : frames) {
      threads.emplace_back([&] { frame = event.Frame(7, [] { return std::string("f"); }); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const FramePtr& frame : frames) EXPECT_EQ(frame, event.Frame(7, [] { return ""; }));
  }
}

}  // namespace
}  // namespace berth::watch
