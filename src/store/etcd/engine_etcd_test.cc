// The engine on a real etcd: what the contract suite does not cover.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "store/blocking.h"
#include "store/etcd/testing/shared_etcd.h"
#include "store/testing/contract_fixture.h"

namespace berth::store::etcd {
namespace {

using contract::MakeValue;
using contract::Payload;
using ::testing::HasSubstr;
using testing::kPatience;
using testing::SharedEtcd;

class OnEtcd : public ::testing::Test {
 protected:
  static std::string Key(std::string_view name) { return std::string("/registry/t/").append(name); }
  static Txn PutOf(std::string_view name, std::string_view payload) {
    return {.puts = {{.key = Key(name), .value = MakeValue(payload)}}};
  }
  static WatchReader::Deadline Soon() { return std::chrono::steady_clock::now() + kPatience; }

  std::unique_ptr<EtcdEngine> Open() {
    auto engine = SharedEtcd::Open(options_);
    EXPECT_TRUE(engine) << engine.error().message;
    return engine ? *std::move(engine) : nullptr;
  }

  EtcdOptions options_ = {.prefix = SharedEtcd::FreshPrefix()};
};

/// Adds 1 to a counter, and repeats that until it succeeds.
void Increment(Engine& engine, const std::string& key) {
  for (;;) {
    const auto now = GetNow(engine, key);
    ASSERT_TRUE(now) << now.error().message;
    const int value = *now ? std::stoi(Payload((*now)->value)) : 0;
    const TxnReply reply = CommitNow(
        engine, {.compares = {{.key = key, .revision = *now ? (*now)->revision : Revision{}}},
                 .puts = {{.key = key, .value = MakeValue(std::to_string(value + 1))}}});
    if (reply.outcome == Outcome::kCommitted) return;
    ASSERT_EQ(reply.outcome, Outcome::kConflict) << reply.error.message;
  }
}

TEST_F(OnEtcd, AKubeApiserversPrefixIsRefused) {
  auto client = Client::Connect(SharedEtcd::Cluster().Client(), SharedEtcd::Log().Logger(),
                                SharedEtcd::Log().Clock());
  ASSERT_TRUE(client) << client.error().message;
  ASSERT_TRUE(
      testing::PutNow(**client, options_.prefix + "/services/specs/default/kubernetes", "k8s"));
  const auto refused = SharedEtcd::Open(options_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("holds 1 key but no marker of Berth's"));
  EXPECT_THAT(refused.error().message, HasSubstr("/services/specs/default/kubernetes"));
}

TEST_F(OnEtcd, TwoEnginesWorkTogether) {
  const auto one = Open();
  const auto two = Open();
  ASSERT_TRUE(one && two);
  const Revision start = *CurrentNow(*one);
  WatchReader first(*one, {.prefix = Key(""), .after = start});
  WatchReader second(*two, {.prefix = Key(""), .after = start});
  constexpr int kThreads = 4;
  constexpr int kEach = 15;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Engine& engine = t % 2 == 0 ? *one : *two;
      for (int n = 0; n < kEach; ++n) {
        Increment(engine, Key("counter"));
        EXPECT_EQ(CommitNow(engine, PutOf(fmt::format("own{}", t), "x")).outcome,
                  Outcome::kCommitted);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (Engine* engine : {static_cast<Engine*>(one.get()), static_cast<Engine*>(two.get())}) {
    EXPECT_EQ(Payload((*GetNow(*engine, Key("counter")))->value), std::to_string(kThreads * kEach));
  }
  const auto a = first.Next(size_t{2} * kThreads * kEach, Soon());
  const auto b = second.Next(size_t{2} * kThreads * kEach, Soon());
  ASSERT_TRUE(a && b);
  ASSERT_EQ(a->size(), size_t{2} * kThreads * kEach);
  EXPECT_EQ(contract::ToRecordedEvents(*a), contract::ToRecordedEvents(*b));
  int counted = 0;
  for (const EventPtr& event : *a) {
    if (event->key != Key("counter")) continue;
    EXPECT_EQ(Payload(event->value), std::to_string(++counted));
  }
}

TEST_F(OnEtcd, ARestartGoesOn) {
  Revision last;
  for (int i = 0; i < 3; ++i) {
    const auto engine = Open();
    ASSERT_TRUE(engine);
    const auto before = GetNow(*engine, Key("a"));
    ASSERT_TRUE(before);
    EXPECT_EQ(*before ? (*before)->revision : Revision{}, last);
    const TxnReply reply = CommitNow(*engine, {.compares = {{.key = Key("a"), .revision = last}},
                                               .puts = PutOf("a", std::to_string(i)).puts});
    ASSERT_EQ(reply.outcome, Outcome::kCommitted) << reply.error.message;
    EXPECT_GT(reply.puts[0], last);
    last = reply.puts[0];
  }
}

TEST_F(OnEtcd, CompactionInTheBackground) {
  options_.compact_interval = std::chrono::seconds(1);
  const auto engine = Open();
  ASSERT_TRUE(engine);
  const TxnReply old = CommitNow(*engine, PutOf("a", "old"));
  ASSERT_EQ(old.outcome, Outcome::kCommitted);
  ASSERT_EQ(CommitNow(*engine, PutOf("a", "new")).outcome, Outcome::kCommitted);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (engine->Compacted() <= old.puts[0] && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_GT(engine->Compacted(), old.puts[0]);
  const auto past = ScanAll(*engine, "/registry/", old.puts[0]);
  ASSERT_FALSE(past);
  EXPECT_EQ(past.error().reason, base::Reason::kExpired);
  EXPECT_EQ(ScanAll(*engine, "/registry/")->entries.size(), 1U);
}

TEST_F(OnEtcd, ARealServersRefusalsAreExplained) {
  auto cluster = testing::EtcdCluster::Start({.flags = {"--max-txn-ops=20"}});
  ASSERT_TRUE(cluster) << cluster.error().message;
  testing::LogCapture log;
  // The flag allows more than the server does.
  const auto engine = EtcdEngine::Open((*cluster)->Client(), {.max_in_flight = 1},
                                       contract::TestSlotCodec(), log.Logger(), log.Clock());
  ASSERT_TRUE(engine) << engine.error().message;
  Txn txn;
  for (int i = 0; i < 30; ++i) txn.puts.push_back(PutOf(std::to_string(i), "x").puts[0]);
  const TxnReply reply = CommitNow(**engine, txn);
  EXPECT_EQ(reply.outcome, Outcome::kRefused);
  EXPECT_THAT(reply.error.message, HasSubstr("--etcd-max-txn-ops=128"));
  // Groups that are too large for the server are split, and all their members commit.
  std::vector<Awaited<TxnReply>> replies(100);
  for (size_t i = 0; i < replies.size(); ++i) {
    (*engine)->Commit(PutOf(fmt::format("k{}", i), "x"), replies[i].Setter());
  }
  for (auto& one : replies) EXPECT_EQ(one.Wait().outcome, Outcome::kCommitted);
}

TEST_F(OnEtcd, AMemberThatDiesUnderWritersLosesNothing) {
  auto cluster = testing::EtcdCluster::Start({});
  ASSERT_TRUE(cluster) << cluster.error().message;
  testing::LogCapture log;
  const auto engine = EtcdEngine::Open((*cluster)->Client(), options_, contract::TestSlotCodec(),
                                       log.Logger(), log.Clock());
  ASSERT_TRUE(engine) << engine.error().message;
  WatchReader reader(**engine, {.prefix = Key(""), .after = *CurrentNow(**engine)});
  std::atomic<bool> stop = false;
  std::atomic<int> committed = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int n = 0; !stop; ++n) {
        const TxnReply reply =
            CommitNow(**engine, {.compares = {{.key = Key(fmt::format("{}/{}", t, n))}},
                                 .puts = PutOf(fmt::format("{}/{}", t, n), "x").puts});
        // A create that was done twice would conflict with itself.
        ASSERT_EQ(reply.outcome, Outcome::kCommitted) << reply.error.message;
        ++committed;
      }
    });
  }
  for (int round = 0; round < 2; ++round) {
    const int before = committed;
    while (committed < before + 50) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    (*cluster)->Kill(0);
    (*cluster)->Restart(0);
    ASSERT_TRUE((*cluster)->WaitHealthy());
  }
  const int before = committed;
  while (committed < before + 50) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  const auto page = ScanAll(**engine, Key(""));
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->entries.size(), static_cast<size_t>(committed));
  const auto events = reader.Next(static_cast<size_t>(committed), Soon());
  ASSERT_TRUE(events) << events.error().message;
  EXPECT_EQ(events->size(), static_cast<size_t>(committed));
}

}  // namespace
}  // namespace berth::store::etcd
