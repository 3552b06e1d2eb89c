// Watch streams: fragments, compaction, how they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "store/etcd/etcd_client.h"
#include "store/etcd/testing/client_testing.h"
#include "store/etcd/testing/etcd_server.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;
using std::chrono::milliseconds;
using testing::EtcdCluster;
using ::testing::HasSubstr;
using testing::PutNow;

/// Collects the responses of a watch.
class Follower {
 public:
  WatchCallbacks Callbacks() {
    return {.on_response = [this](pb::WatchResponse response) { Take(std::move(response)); },
            .on_end = [this](CallError why) { End(std::move(why)); }};
  }

  /// Waits until `done` holds for what has arrived. Returns false if that takes too long.
  template <typename Done>
  bool Await(Done done) {
    const auto end = std::chrono::steady_clock::now() + testing::kPatience;
    base::MutexLock lock(mutex_);
    while (!done(*this)) {
      const auto left = end - std::chrono::steady_clock::now();
      if (left.count() <= 0) return false;
      changed_.WaitFor(mutex_, left);
    }
    return true;
  }
  bool AwaitCreated() {
    return Await([](const Follower& f) { return !f.responses.empty(); });
  }
  bool AwaitEnd() {
    return Await([](const Follower& f) { return f.ends > 0; });
  }

  // To be read inside Await, or when nothing arrives any more.
  std::vector<pb::WatchResponse> responses;
  int events = 0;
  int ends = 0;
  std::optional<CallError> error;

 private:
  void Take(pb::WatchResponse response) {
    base::MutexLock lock(mutex_);
    EXPECT_EQ(ends, 0) << "a response after the end";
    events += response.events_size();
    responses.push_back(std::move(response));
    changed_.NotifyAll();
  }
  void End(CallError why) {
    base::MutexLock lock(mutex_);
    ++ends;
    error = std::move(why);
    changed_.NotifyAll();
  }

  base::Mutex mutex_;
  base::CondVar changed_;
};

class ClientWatchTest : public ::testing::Test {
 protected:
  void StartMembers(testing::ServerOptions options = {}) {
    auto cluster = EtcdCluster::Start(std::move(options));
    ASSERT_TRUE(cluster) << cluster.error().message;
    cluster_ = std::move(*cluster);
    auto client = Client::Connect(cluster_->Client(), log_.Logger(), log_.Clock());
    ASSERT_TRUE(client) << client.error().message;
    client_ = std::move(*client);
  }

  static pb::WatchCreateRequest Prefix(const std::string& prefix, int64_t from = 0) {
    pb::WatchCreateRequest request;
    request.set_key(prefix);
    std::string end = prefix;
    ++end.back();
    request.set_range_end(end);
    request.set_start_revision(from);
    return request;
  }

  testing::LogCapture log_;
  std::unique_ptr<EtcdCluster> cluster_;
  std::unique_ptr<Client> client_;
};

TEST_F(ClientWatchTest, EventsComeInOrderFromThePastAndThePresent) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  const auto first = PutNow(*client_, "/w/0", "0");
  ASSERT_TRUE(first);
  Follower follower;
  const auto watch =
      client_->Watch(Prefix("/w/", first->header().revision()), follower.Callbacks());
  ASSERT_TRUE(follower.AwaitCreated());
  EXPECT_TRUE(follower.Await([](const Follower& f) { return f.responses[0].created(); }));
  for (int i = 1; i < 20; ++i) ASSERT_TRUE(PutNow(*client_, "/w/" + std::to_string(i), "x"));
  ASSERT_TRUE(follower.Await([](const Follower& f) { return f.events >= 20; }));
  int64_t last = 0;
  for (const auto& response : follower.responses) {
    for (const auto& event : response.events()) {
      EXPECT_GT(event.kv().mod_revision(), last);
      last = event.kv().mod_revision();
    }
  }
  EXPECT_EQ(last, first->header().revision() + 19);
}

TEST_F(ClientWatchTest, AHugeRevisionArrivesInOnePieceThoughItTravelsInFragments) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  // Old and new values of eight keys in one revision: twice the size of one of etcd's responses.
  constexpr int kKeys = 8;
  const auto all = [](char fill) {
    pb::TxnRequest txn;
    for (int i = 0; i < kKeys; ++i) {
      pb::PutRequest* put = txn.add_success()->mutable_request_put();
      put->set_key("/big/" + std::to_string(i));
      put->set_value(std::string(size_t{170} << 10, fill));
    }
    return txn;
  };
  const auto before = testing::BeginTxn(*client_, all('a')).get();
  ASSERT_TRUE(before) << before.error().error.message;
  Follower follower;
  pb::WatchCreateRequest request = Prefix("/big/", before->header().revision() + 1);
  request.set_prev_kv(true);
  const auto watch = client_->Watch(request, follower.Callbacks());
  ASSERT_TRUE(follower.AwaitCreated());
  const auto after = testing::BeginTxn(*client_, all('b')).get();
  ASSERT_TRUE(after) << after.error().error.message;
  ASSERT_TRUE(follower.Await([](const Follower& f) { return f.responses.size() >= 2; }));
  const pb::WatchResponse& whole = follower.responses[1];
  ASSERT_EQ(whole.events_size(), kKeys);
  EXPECT_GT(whole.ByteSizeLong(), size_t{2} << 20) << "too small to have been cut";
  for (int i = 0; i < kKeys; ++i) {
    EXPECT_EQ(whole.events(i).kv().mod_revision(), after->header().revision());
    EXPECT_EQ(whole.events(i).prev_kv().value().front(), 'a');
  }
  EXPECT_EQ(follower.responses.size(), 2U);
}

TEST_F(ClientWatchTest, ALongCatchUpKeepsRevisionsWhole) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  constexpr int kRevisions = 12;
  int64_t from = 0;
  for (int r = 0; r < kRevisions; ++r) {
    pb::TxnRequest txn;
    for (int i = 0; i < 3; ++i) {
      pb::PutRequest* put = txn.add_success()->mutable_request_put();
      put->set_key("/c/" + std::to_string(i));
      put->set_value(std::string(size_t{300} << 10, 'x'));
    }
    const auto done = testing::BeginTxn(*client_, txn).get();
    ASSERT_TRUE(done) << done.error().error.message;
    if (from == 0) from = done->header().revision();
  }
  Follower follower;
  const auto watch = client_->Watch(Prefix("/c/", from), follower.Callbacks());
  ASSERT_TRUE(follower.Await([](const Follower& f) { return f.events >= 3 * kRevisions; }));
  size_t responses = 0;
  for (const auto& response : follower.responses) {
    EXPECT_EQ(response.events_size() % 3, 0) << "a revision was torn";
    responses += response.events_size() > 0 ? 1 : 0;
  }
  EXPECT_GT(responses, 1U) << "whole revisions are handed on before the last fragment";
}

TEST_F(ClientWatchTest, ACompactedStartIsCancelledWithTheRevision) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  int64_t last = 0;
  for (int i = 0; i < 3; ++i) last = PutNow(*client_, "/w/a", "x")->header().revision();
  const auto compacted = testing::Begin<pb::CompactionResponse>([&](auto reply) {
                           pb::CompactionRequest request;
                           request.set_revision(last);
                           client_->Compact(request, std::move(reply));
                         }).get();
  ASSERT_TRUE(compacted) << compacted.error().error.message;
  Follower follower;
  const auto watch = client_->Watch(Prefix("/w/", last - 1), follower.Callbacks());
  ASSERT_TRUE(follower.AwaitEnd());
  EXPECT_TRUE(follower.responses.back().canceled());
  EXPECT_EQ(follower.responses.back().compact_revision(), last);
  EXPECT_EQ(follower.error->error.reason, base::Reason::kExpired);
}

TEST_F(ClientWatchTest, AKilledMemberEndsTheWatchOnceAndAnotherTakesTheNext) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({.members = 3}));
  const auto put = PutNow(*client_, "/w/a", "1");
  ASSERT_TRUE(put);
  Follower follower;
  const auto watch = client_->Watch(Prefix("/w/"), follower.Callbacks());
  ASSERT_TRUE(follower.AwaitCreated());
  cluster_->Kill(cluster_->Leader());  // The member in use.
  ASSERT_TRUE(follower.AwaitEnd());
  EXPECT_THAT(follower.error->error.message, HasSubstr("the connection was"));
  Follower next;
  const auto again = client_->Watch(Prefix("/w/", put->header().revision()), next.Callbacks());
  EXPECT_TRUE(next.Await([](const Follower& f) { return f.events >= 1; }))
      << (next.error ? next.error->error.message : "");
  EXPECT_EQ(follower.ends, 1);
}

TEST_F(ClientWatchTest, AMemberThatLosesItsLeaderEndsTheWatch) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({.members = 3}));
  Follower follower;
  const auto watch = client_->Watch(Prefix("/w/"), follower.Callbacks());
  ASSERT_TRUE(follower.AwaitCreated());
  const int leader = cluster_->Leader();
  cluster_->Kill((leader + 1) % 3);
  cluster_->Kill((leader + 2) % 3);
  ASSERT_TRUE(follower.AwaitEnd());
  EXPECT_THAT(follower.error->error.message, HasSubstr("the member has no leader"));
}

TEST_F(ClientWatchTest, WithNobodyToTalkToTheWatchEndsInTime) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  ClientOptions options = cluster_->Client();
  options.call_timeout = milliseconds(500);
  auto client = Client::Connect(options, log_.Logger(), log_.Clock());
  ASSERT_TRUE(client) << client.error().message;
  cluster_->Kill(0);
  Follower follower;
  const auto watch = (*client)->Watch(Prefix("/w/"), follower.Callbacks());
  ASSERT_TRUE(follower.AwaitEnd());
  EXPECT_TRUE(follower.responses.empty());
  EXPECT_NE(follower.error->error.message, "");
}

TEST_F(ClientWatchTest, DestroyingItEndsItOnceAndWaitsForACallback) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  Follower follower;
  std::atomic<bool> inside{false};
  std::atomic<bool> left{false};
  WatchCallbacks callbacks = follower.Callbacks();
  callbacks.on_response = [&](const pb::WatchResponse&) {
    inside.store(true);
    std::this_thread::sleep_for(milliseconds(200));
    left.store(true);
  };
  auto watch = client_->Watch(Prefix("/w/"), std::move(callbacks));
  while (!inside.load()) std::this_thread::yield();
  watch.reset();
  EXPECT_TRUE(left.load());
  EXPECT_EQ(follower.ends, 1);
  EXPECT_EQ(follower.error->error.message, "the watch was cancelled");
}

TEST_F(ClientWatchTest, ASlowWatcherHoldsUpNeitherCallsNorOtherWatches) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  std::atomic<bool> release{false};
  Follower slow;
  WatchCallbacks callbacks = slow.Callbacks();
  callbacks.on_response = [&](const pb::WatchResponse&) {
    while (!release.load()) std::this_thread::sleep_for(milliseconds(5));
  };
  const auto stuck = client_->Watch(Prefix("/w/"), std::move(callbacks));
  Follower quick;
  const auto watch = client_->Watch(Prefix("/w/"), quick.Callbacks());
  ASSERT_TRUE(quick.AwaitCreated());
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(PutNow(*client_, "/w/a", "x"));
  EXPECT_TRUE(quick.Await([](const Follower& f) { return f.events >= 50; }));
  release.store(true);
}

TEST_F(ClientWatchTest, DestroyingTheClientEndsItsWatches) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  Follower follower;
  const auto watch = client_->Watch(Prefix("/w/"), follower.Callbacks());
  ASSERT_TRUE(follower.AwaitCreated());
  client_.reset();
  EXPECT_EQ(follower.ends, 1);
}

}  // namespace
}  // namespace berth::store::etcd
