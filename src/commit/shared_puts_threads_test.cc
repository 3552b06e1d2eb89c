// Shared puts of several servers on a store that misbehaves, and of many threads.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/testing/base_kit.h"
#include "commit/testing/shared_puts_fixture.h"

namespace berth::commit {
namespace {

using store::Fault;
using testing::Create;
using testing::kMap;
using testing::kOther;
using testing::Marking;
using testing::Remove;
using testing::Replica;
using testing::Service;
using testing::SharedPutsTest;
using testing::With;

/// Sends many writes through two servers, on a store that fails, loses replies and answers out of
/// order. A mark is in the map exactly once if its object exists, and otherwise not at all.
TEST_F(SharedPutsTest, TwoServersLoseAndDoubleNoMark) {
  const uint64_t seed = base::TestSeed(12);
  SCOPED_TRACE("seed " + std::to_string(seed));
  base::SeededRandom random(seed);
  store::MemoryOptions engine;
  size_t transactions = 0;
  engine.fault = [&](const store::Txn& /*txn*/) {
    ++transactions;
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
  std::map<std::string, std::string> state;
  const int64_t writes = base::LongCount(5000);
  for (int64_t i = 0; i < writes; ++i) {
    const std::string mark = "<" + std::to_string(i) + ">";
    std::vector<SharedPut> shared = {Marking(kMap, mark)};
    if (i % 3 == 0) shared.push_back(Marking(kOther, mark));
    state[mark] = "?";
    replicas[base::Uniform(random, 2)]->sequencer->Submit(
        {.key = Service(mark), .transform = With(Create(mark), std::move(shared))},
        [&state, mark](const base::Result<Written>& written) {
          state[mark] = written ? "ok" : "failed";
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
  const std::string map = Map(kMap);
  const std::string other = Map(kOther);
  const auto count = [](const std::string& text, const std::string& mark) {
    const size_t first = text.find(mark);
    if (first == std::string::npos) return 0;
    return text.find(mark, first + 1) == std::string::npos ? 1 : 2;
  };
  for (int64_t n = 0; n < writes; ++n) {
    const std::string mark = "<" + std::to_string(n) + ">";
    const bool there = store::GetNow(*store_.engine, Service(mark))->has_value();
    ASSERT_NE(state[mark], "?") << mark;
    ASSERT_EQ(there, state[mark] == "ok") << mark;
    ASSERT_EQ(count(map, mark), there ? 1 : 0) << mark;
    ASSERT_EQ(count(other, mark), there && n % 3 == 0 ? 1 : 0) << mark;
  }
  EXPECT_LT(transactions, static_cast<size_t>(writes)) << "they are merged";
  replicas.clear();
}

/// Many threads set one bit per write. Some objects are deleted again, with their bit.
TEST_F(SharedPutsTest, ThreadsLoseNoBit) {
  store_.OpenForThreads();
  Replica replica(store_, store_.system_clock, {}, {});
  replica.follower.Start();
  ASSERT_TRUE(replica.follower.WaitReady(std::chrono::seconds(60)));
  constexpr size_t kThreads = 4;
  constexpr size_t kWrites = 1000;
  const auto bit = [](size_t place, char value) {
    SharedPut put = Marking(kMap, "");
    put.apply = [place, value](std::optional<std::string>& stored) -> base::Result<bool> {
      if (!stored) stored = state::testing::Stored(std::string(kThreads * kWrites, '0'));
      char& now = (*stored)[3 + place];
      if (now == value) return base::Fail(base::Reason::kInternalError, "twice");
      now = value;
      return true;
    };
    return put;
  };
  std::atomic<size_t> failed = 0;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::unique_ptr<store::Awaited<base::Result<Written>>>> answers;
      const auto submit = [&](size_t place, Transform transform) {
        answers.push_back(std::make_unique<store::Awaited<base::Result<Written>>>());
        replica.sequencer->Submit(
            {.key = Service(std::to_string(place)), .transform = std::move(transform)},
            answers.back()->Setter());
      };
      for (size_t i = 0; i < kWrites; ++i) {
        const size_t place = t * kWrites + i;
        submit(place, With(Create("x"), {bit(place, '1')}));
        if (i % 4 == 0) submit(place, With(Remove(), {bit(place, '0')}));
      }
      for (const auto& answer : answers) {
        if (!answer->Wait()) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0U);
  const std::string map = Map();
  for (size_t i = 0; i < kThreads * kWrites; ++i) {
    ASSERT_EQ(map[3 + i], i % kWrites % 4 == 0 ? '0' : '1') << i;
  }
  EXPECT_EQ(replica.sequencer->GetStats().conflicts, 0U);
  replica.sequencer.reset();
}

}  // namespace
}  // namespace berth::commit
