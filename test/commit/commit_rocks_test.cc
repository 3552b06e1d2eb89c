// The write path on the embedded engine: an answered write can be read, is watched in order, is in
// the history, and is there after a restart.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/temp_dir.h"
#include "commit/sequencer.h"
#include "state/testing/test_store.h"
#include "store/rocks/rocks_engine.h"
#include "watch/cursor.h"

namespace berth {
namespace {

using state::testing::Body;
using state::testing::ServiceKey;

constexpr int kThreads = 4;
constexpr int kWritesEach = 300;
constexpr size_t kWrites = size_t{kThreads} * kWritesEach;

/// All objects: their revisions and values.
using Objects = std::map<std::string, std::pair<int64_t, std::string>>;

struct Server {
  Server(const std::string& directory, const state::Resources& resources, base::Logger& log,
         const base::Clock& clock)
      : engine(std::move(*store::rocks::RocksEngine::Open({.directory = directory}, log, clock))),
        past(*engine, resources),
        hub(past, resources, {.ring_bytes = 50'000}),
        follower(*engine, resources, {&hub}, {}, clock, log),
        sequencer({*engine, follower, resources, clock, follower}, {}) {
    follower.Start();
    EXPECT_TRUE(follower.WaitReady(std::chrono::seconds(60)));
  }

  Objects Now() const {
    Objects objects;
    const state::SnapshotPtr snapshot = follower.Current();
    for (state::SnapshotIterator at = snapshot->Seek(""); at.Valid(); at.Next()) {
      objects[at.Get()->Key()] = {at.Get()->Revision(), Body(*at.Get())};
    }
    return objects;
  }

  const std::unique_ptr<store::rocks::RocksEngine> engine;
  const state::Past past;
  watch::Hub hub;
  state::Follower follower;
  commit::Sequencer sequencer;
};

/// Appends one letter.
base::Result<commit::Decision> AddOne(const state::Snapshot&, const state::ObjectPtr& current) {
  const std::string body = (current ? Body(*current) : "") + "x";
  return commit::Decision{.kind = commit::Decision::Kind::kPut,
                          .stored = state::testing::Stored(body),
                          .wire = state::testing::Wire(body)};
}

/// Makes one writer's writes. Returns how many answers a read right afterwards did not show.
int WriteAndRead(Server& server, int number) {
  int wrong = 0;
  for (int i = 0; i < kWritesEach; ++i) {
    const std::string key = ServiceKey("n" + std::to_string(number % 2), std::to_string(i % 20));
    store::Awaited<base::Result<commit::Written>> answer;
    server.sequencer.Submit({.key = key, .transform = AddOne}, answer.Setter());
    const base::Result<commit::Written> written = answer.Wait();
    const state::ObjectPtr now = server.follower.Current()->Find(key);
    if (!written || !now || now->Revision() < written->revision) ++wrong;
  }
  return wrong;
}

/// Reads the cursor until it has seen `count` events. Each event has one letter more than the one
/// before, and its object can be read by then.
void Follow(Server& server, watch::Cursor& cursor, size_t count) {
  int64_t last = 0;
  size_t seen = 0;
  while (seen < count) {
    const base::Result<watch::Pull> pull = cursor.Next(7);
    ASSERT_TRUE(pull);
    for (const watch::EventPtr& event : pull->events) {
      ASSERT_GT(event->Revision(), last);
      last = event->Revision();
      ASSERT_LE(last, server.follower.Current()->Revision());
      const size_t before = event->Previous() ? Body(*event->Previous()).size() : 0;
      ASSERT_EQ(Body(*event->Object()).size(), before + 1);
    }
    seen += pull->events.size();
    if (pull->events.empty()) std::this_thread::yield();
  }
  EXPECT_EQ(seen, count);
}

TEST(CommitRocksTest, WritesAreReadWatchedAndKept) {
  const base::TempDir directory;
  const base::SystemClock clock;
  base::Logger log({.sink = [](std::string_view) {}}, clock);
  const state::Resources resources = state::testing::MakeResources();
  const watch::Scope all{.resource = state::testing::kServices,
                         .key = resources.Prefix(state::testing::kServices)};
  Objects kept;
  {
    Server server(directory.Path(), resources, log, clock);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> writers;
    for (int number = 0; number < kThreads; ++number) {
      writers.emplace_back([&server, &wrong, number] { wrong += WriteAndRead(server, number); });
    }
    watch::Cursor live(server.hub, all, 0, [] {});
    Follow(server, live, kWrites);
    for (std::thread& writer : writers) writer.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_GT(server.hub.Floor(state::testing::kServices), 0) << "the first have left memory";
    watch::Cursor again(server.hub, all, 0, [] {});
    Follow(server, again, kWrites);
    kept = server.Now();
  }
  size_t letters = 0;
  for (const auto& [key, object] : kept) letters += object.second.size();
  EXPECT_EQ(letters, kWrites) << "no update is lost";
  const Server server(directory.Path(), resources, log, clock);
  EXPECT_EQ(server.Now(), kept);
}

}  // namespace
}  // namespace berth
