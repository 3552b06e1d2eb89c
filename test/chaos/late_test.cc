// A write whose caller has stopped waiting arrives at etcd late. It must not happen then: a refused
// write stays undone, and a write that was sent again happens once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "chaos/scenario.h"
#include "linear/linear_history.h"
#include "store/blocking.h"
#include "store/etcd/etcd_client.h"
#include "store/testing/contract_fixture.h"

namespace berth::chaos {
namespace {

using namespace std::chrono_literals;
using store::Outcome;

namespace pb = etcdserverpb;

using TxnResult = tl::expected<pb::TxnResponse, store::etcd::CallError>;
using RangeResult = tl::expected<pb::RangeResponse, store::etcd::CallError>;

/// There are two kinds of writes: to separate keys, which share etcd's transactions, and to a few
/// keys that many writes use, so that some have to wait for others.
constexpr int kWrites = 60;
constexpr int kSharedKeys = 2;

/// Records writes whose replies may take long.
class Writes {
 public:
  void Start(store::Engine& engine, const std::string& prefix) {
    for (int i = 0; i < kWrites; ++i) {
      const int key = i % 2 == 0 ? kSharedKeys + i : i % kSharedKeys;
      store::Txn txn{.puts = {{.key = fmt::format("{}{}", prefix, key)}}};
      txn.puts[0].value = fmt::format("{}", i);
      const size_t operation = recorder_->Call(0, txn);
      txn.puts[0].value = store::contract::MakeValue(txn.puts[0].value);
      engine.Commit(std::move(txn), [recorder = recorder_, operation, answered = answered_,
                                     done = replies_[static_cast<size_t>(i)].Setter()](
                                        const store::TxnReply& reply) {
        recorder->Return(operation, reply);
        done(reply);
        ++*answered;
      });
    }
  }

  /// Returns how many replies there are of each kind.
  std::map<Outcome, size_t> Wait() {
    std::map<Outcome, size_t> counts;
    for (auto& reply : replies_) ++counts[reply.Wait().outcome];
    return counts;
  }

  /// Returns whether all have been answered within the limit.
  bool WaitFor(std::chrono::seconds limit) const {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (*answered_ < kWrites) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(20ms);
    }
    return true;
  }

  linear::History Take() { return recorder_->Take(); }

 private:
  const std::shared_ptr<linear::Recorder> recorder_ = std::make_shared<linear::Recorder>();
  const std::shared_ptr<std::atomic<int>> answered_ = std::make_shared<std::atomic<int>>(0);
  std::vector<store::Awaited<store::TxnReply>> replies_{kWrites};
};

class LateTest : public testing::Test {
 protected:
  void SetUp() override {
    if (TestNetwork() == nullptr) GTEST_SKIP() << WhyNoNetwork();
    auto arena = Arena::Make({.network = TestNetwork(), .impatient = true});
    ASSERT_TRUE(arena) << arena.error().message;
    arena_ = std::move(*arena);
    client_ = Connect(arena_->Cluster().Client());  // On paths that are never cut.
  }

  std::unique_ptr<store::etcd::Client> Connect(const store::etcd::ClientOptions& options) {
    auto client = store::etcd::Client::Connect(options, arena_->Log(), arena_->Clock());
    EXPECT_TRUE(client) << client.error().message;
    return client ? std::move(*client) : nullptr;
  }

  /// From now on, replica 0 reaches one follower only, and the follower's messages to the leader
  /// are held up.
  void Divert() {
    const int leader = arena_->Cluster().Leader();
    ASSERT_GE(leader, 0);
    const int follower = (leader + 1) % Arena::kMembers;
    auto options = arena_->ClientOf(1);
    options.endpoints = {options.endpoints[static_cast<size_t>(follower)]};
    plain_ = Connect(options);
    for (int member = 0; member < Arena::kMembers; ++member) {
      if (member != follower) arena_->Net().CutRequests(0, member);
    }
    // This is the first write through the follower.
    const auto reply = store::CommitNow(arena_->At(0), {.puts = {{.key = "/registry/chaos/warm"}}});
    EXPECT_EQ(reply.outcome, Outcome::kCommitted) << reply.error.message;
    arena_->Net().CutPeer(follower, leader);
  }

  /// Puts with a plain client on the same path, where nothing prevents a late write. Waits for the
  /// put to fail.
  void PutPlainly(const std::string& key) {
    pb::TxnRequest request;
    request.add_success()->mutable_request_put()->set_key(key);
    store::Awaited<TxnResult> reply;
    plain_->Txn(request, reply.Setter());
    EXPECT_FALSE(reply.Wait());
    EXPECT_FALSE(Exists(key));
  }

  bool Exists(const std::string& key) {
    pb::RangeRequest request;
    request.set_key(key);
    store::Awaited<RangeResult> reply;
    client_->Range(request, reply.Setter());
    const RangeResult result = reply.Wait();
    EXPECT_TRUE(result) << result.error().error.message;
    return result && result->kvs_size() > 0;
  }

  /// Heals everything. Returns whether the plain put, which had failed, happens now.
  bool HealAndLook(const std::string& key) {
    EXPECT_TRUE(arena_->Heal());
    const auto end = std::chrono::steady_clock::now() + 5s;
    while (!Exists(key)) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(20ms);
    }
    return true;
  }

  /// Checks that what happened is what the replies said.
  void Check(Writes& writes, const std::string& prefix, store::Revision start) {
    const auto all = ReadHistory(*arena_, prefix, start);
    ASSERT_TRUE(all) << all.error().message;
    EXPECT_EQ(linear::CheckWatch(writes.Take(), *all), "") << arena_->Logs();
  }

  std::unique_ptr<Arena> arena_;
  std::unique_ptr<store::etcd::Client> client_;
  std::unique_ptr<store::etcd::Client> plain_;
};

TEST_F(LateTest, WhatIsSentAgainHappensOnce) {
  size_t late = 0;
  // Repeats the round if nothing arrived late, because that would show nothing.
  for (int round = 0; round < Rounds() || (late == 0 && round < 5); ++round) {
    const std::string prefix = fmt::format("/registry/chaos/late/{}/", round);
    const std::string plain = fmt::format("/plain/{}", round);
    const auto start = store::CurrentNow(arena_->At(0));
    ASSERT_TRUE(start) << start.error().message;
    Divert();
    Writes writes;
    writes.Start(arena_->At(0), prefix);
    PutPlainly(plain);
    arena_->Net().HealReplicas();
    EXPECT_EQ(writes.Wait()[Outcome::kCommitted], size_t{kWrites});
    if (HealAndLook(plain)) ++late;
    Check(writes, prefix, *start);
    if (HasFailure()) break;
  }
  fmt::print("sent again: {} plain writes, which had failed, happened late; none of a replica\n",
             late);
  EXPECT_GT(late, 0U);
}

TEST_F(LateTest, WhatWasRefusedStaysUndone) {
  size_t late = 0;
  size_t refused = 0;
  size_t unknown = 0;
  for (int round = 0; round < Rounds() || (late == 0 && round < 5); ++round) {
    const std::string prefix = fmt::format("/registry/chaos/refused/{}/", round);
    const std::string plain = fmt::format("/plain/{}", round);
    const auto start = store::CurrentNow(arena_->At(1));
    ASSERT_TRUE(start) << start.error().message;
    Divert();
    Writes writes;
    writes.Start(arena_->At(0), prefix);
    PutPlainly(plain);
    arena_->At(0).Close();
    auto counts = writes.Wait();
    refused += counts[Outcome::kRefused];
    unknown += counts[Outcome::kUnknown];
    if (HealAndLook(plain)) ++late;
    Check(writes, prefix, *start);
    if (HasFailure()) break;
  }
  fmt::print(
      "closed: {} plain writes happened late; of the replica's {} were refused and {} left "
      "in doubt\n",
      late, refused, unknown);
  EXPECT_GT(late, 0U);
  EXPECT_GT(refused, 0U);
}

/// Replica 0 reaches no member. Its writes in flight stay in doubt until it does. Later writes must
/// not wait for them; they must be refused in time and stay undone.
TEST_F(LateTest, AReplicaThatIsCutOffRefusesInTime) {
  const std::string prefix = "/registry/chaos/cut/";
  const auto start = store::CurrentNow(arena_->At(1));
  ASSERT_TRUE(start) << start.error().message;
  for (int member = 0; member < Arena::kMembers; ++member) arena_->Net().CutReplies(0, member);
  Writes before;
  before.Start(arena_->At(0), prefix + "before/");
  std::this_thread::sleep_for(2s);  // Longer than it waits for a reply.
  Writes after;
  after.Start(arena_->At(0), prefix + "after/");
  EXPECT_TRUE(after.WaitFor(30s)) << arena_->Logs();
  EXPECT_TRUE(arena_->Heal());
  EXPECT_EQ(after.Wait()[Outcome::kRefused], size_t{kWrites});
  auto counts = before.Wait();
  EXPECT_EQ(counts[Outcome::kUnknown], 0U) << "it could have been resolved";
  fmt::print("cut off: of the writes before {} were committed and {} refused, all after were\n",
             counts[Outcome::kCommitted], counts[Outcome::kRefused]);
  Check(before, prefix + "before/", *start);
  Check(after, prefix + "after/", *start);
}

}  // namespace
}  // namespace berth::chaos
