// The client against real members that are killed, paused and restarted.
#include "store/etcd/etcd_client.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "store/etcd/testing/client_testing.h"
#include "store/etcd/testing/etcd_server.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Answer;
using testing::Begin;
using testing::EtcdCluster;
using testing::Get;
using ::testing::HasSubstr;
using testing::PutNow;

constexpr int kUnavailable = 14;  // gRPC's number.
constexpr int kDeadlineExceeded = 4;

/// Returns whether data sent to this endpoint has arrived but was not read yet, as happens with a
/// paused member.
bool HasUnreadBytes(const std::string& endpoint) {
  const int port = std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
  const std::string local = fmt::format(":{:04X}", port);
  std::ifstream sockets("/proc/net/tcp");
  std::string line;
  while (std::getline(sockets, line)) {
    std::istringstream words(line);
    std::string number, here, there, state, queues;
    words >> number >> here >> there >> state >> queues;
    if (here.ends_with(local) && state == "01" && !queues.ends_with(":00000000")) return true;
  }
  return false;
}

class ClientTest : public ::testing::Test {
 protected:
  void StartMembers(testing::ServerOptions options = {}) {
    auto cluster = EtcdCluster::Start(std::move(options));
    ASSERT_TRUE(cluster) << cluster.error().message;
    cluster_ = std::move(*cluster);
  }

  std::unique_ptr<Client> Connect(const ClientOptions& options) {
    auto client = Client::Connect(options, log_.Logger(), log_.Clock());
    EXPECT_TRUE(client) << client.error().message;
    return client ? std::move(*client) : nullptr;
  }

  std::string ConnectError(const ClientOptions& options) {
    auto client = Client::Connect(options, log_.Logger(), log_.Clock());
    return client ? "connected" : client.error().message;
  }

  testing::LogCapture log_;
  std::unique_ptr<EtcdCluster> cluster_;
};

TEST_F(ClientTest, TransactionsAndReadsDoWhatEtcdSays) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  const auto client = Connect(cluster_->Client());
  ASSERT_TRUE(client);
  EXPECT_THAT(client->ServerVersion(), ::testing::StartsWith("3."));

  const auto put = PutNow(*client, "/a", "1");
  ASSERT_TRUE(put) << put.error().error.message;
  EXPECT_TRUE(put->succeeded());
  pb::TxnRequest again = testing::PutRequest("/a", "2");
  pb::Compare* compare = again.add_compare();
  compare->set_target(pb::Compare::MOD);
  compare->set_key("/a");
  compare->set_mod_revision(0);
  const auto conflict = testing::BeginTxn(*client, again).get();
  ASSERT_TRUE(conflict) << conflict.error().error.message;
  EXPECT_FALSE(conflict->succeeded());

  const auto read = Get(*client, "/a");
  ASSERT_TRUE(read) << read.error().error.message;
  ASSERT_EQ(read->kvs_size(), 1);
  EXPECT_EQ(read->kvs(0).value(), "1");
  EXPECT_EQ(read->kvs(0).mod_revision(), put->header().revision());
}

TEST_F(ClientTest, LeasesAreGrantedKeptAndRevoked) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  const auto client = Connect(cluster_->Client());
  ASSERT_TRUE(client);
  const auto granted = Begin<pb::LeaseGrantResponse>([&](auto reply) {
                         pb::LeaseGrantRequest request;
                         request.set_ttl(100);
                         client->LeaseGrant(request, std::move(reply));
                       }).get();
  ASSERT_TRUE(granted) << granted.error().error.message;
  const auto keep = [&] {
    return Begin<pb::LeaseKeepAliveResponse>([&](auto reply) {
             pb::LeaseKeepAliveRequest request;
             request.set_id(granted->id());
             client->LeaseKeepAlive(request, std::move(reply));
           })
        .get();
  };
  const auto kept = keep();
  ASSERT_TRUE(kept) << kept.error().error.message;
  EXPECT_EQ(kept->ttl(), 100);
  const auto left = Begin<pb::LeaseTimeToLiveResponse>([&](auto reply) {
                      pb::LeaseTimeToLiveRequest request;
                      request.set_id(granted->id());
                      client->LeaseTimeToLive(request, std::move(reply));
                    }).get();
  ASSERT_TRUE(left) << left.error().error.message;
  EXPECT_EQ(left->grantedttl(), 100);
  const auto revoke = [&] {
    return Begin<pb::LeaseRevokeResponse>([&](auto reply) {
             pb::LeaseRevokeRequest request;
             request.set_id(granted->id());
             client->LeaseRevoke(request, std::move(reply));
           })
        .get();
  };
  EXPECT_TRUE(revoke());
  const auto gone = revoke();
  ASSERT_FALSE(gone);
  EXPECT_FALSE(gone.error().ambiguous);
  EXPECT_THAT(gone.error().text, HasSubstr("requested lease not found"));
  const auto dead = keep();
  ASSERT_TRUE(dead) << dead.error().error.message;
  EXPECT_EQ(dead->ttl(), 0);  // This is how etcd reports a lease that does not exist.
}

TEST_F(ClientTest, ReadingACompactedRevisionIsExpired) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  const auto client = Connect(cluster_->Client());
  ASSERT_TRUE(client);
  int64_t last = 0;
  for (int i = 0; i < 3; ++i) last = PutNow(*client, "/a", "x")->header().revision();
  ASSERT_TRUE(Begin<pb::CompactionResponse>([&](auto reply) {
                pb::CompactionRequest request;
                request.set_revision(last);
                client->Compact(request, std::move(reply));
              }).get());
  const auto old = Begin<pb::RangeResponse>([&](auto reply) {
                     pb::RangeRequest request;
                     request.set_key("/a");
                     request.set_revision(last - 1);
                     client->Range(request, std::move(reply));
                   }).get();
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().error.reason, base::Reason::kExpired);
}

TEST_F(ClientTest, WhatIsTooLargeForEtcdIsRefusedForGood) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({.flags = {"--max-txn-ops=4"}}));
  const auto client = Connect(cluster_->Client());
  ASSERT_TRUE(client);
  // One is above etcd's limit for requests, the other above the limit of its gRPC.
  for (const size_t bytes : {size_t{1700} << 10, size_t{6} << 20}) {
    const auto large = PutNow(*client, "/large", std::string(bytes, 'x'));
    ASSERT_FALSE(large);
    EXPECT_FALSE(large.error().ambiguous) << large.error().text;
    EXPECT_EQ(large.error().error.reason, base::Reason::kRequestEntityTooLarge)
        << large.error().text;
  }
  pb::TxnRequest many;
  for (int i = 0; i < 5; ++i)
    *many.add_success() = testing::PutRequest("/" + std::to_string(i), "x").success(0);
  const auto refused = testing::BeginTxn(*client, many).get();
  ASSERT_FALSE(refused);
  EXPECT_FALSE(refused.error().ambiguous);
  EXPECT_THAT(refused.error().error.message, HasSubstr("--max-txn-ops"));
}

TEST_F(ClientTest, AnswersBeyondGrpcsDefaultOfFourMegabytesArrive) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  const auto client = Connect(cluster_->Client());
  ASSERT_TRUE(client);
  constexpr int kValues = 8;
  const std::string value(size_t{1} << 20, 'x');
  for (int i = 0; i < kValues; ++i) ASSERT_TRUE(PutNow(*client, "/v" + std::to_string(i), value));
  const auto all = Begin<pb::RangeResponse>([&](auto reply) {
                     pb::RangeRequest request;
                     request.set_key("/v");
                     request.set_range_end("/w");
                     client->Range(request, std::move(reply));
                   }).get();
  ASSERT_TRUE(all) << all.error().error.message;
  EXPECT_EQ(all->kvs_size(), kValues);
  EXPECT_EQ(all->kvs(kValues - 1).value(), value);
}

TEST_F(ClientTest, AFullDatabaseIsNamedAndLeavesTheOutcomeToBeRead) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({.flags = {"--quota-backend-bytes=4194304"}}));
  const auto client = Connect(cluster_->Client());
  ASSERT_TRUE(client);
  Answer<pb::TxnResponse> put;
  for (int i = 0; i < 100 && put; ++i) {
    put = PutNow(*client, "/fill" + std::to_string(i), std::string(size_t{1} << 19, 'x'));
  }
  ASSERT_FALSE(put);
  EXPECT_TRUE(put.error().ambiguous);
  EXPECT_TRUE(put.error().settled);
  EXPECT_THAT(put.error().error.message, HasSubstr("etcd's database is full"));
  EXPECT_TRUE(Get(*client, "/fill0"));
}

TEST_F(ClientTest, NothingListensSaysSoAndWhere) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  ClientOptions options = cluster_->Client();
  options.connect_timeout = milliseconds(2000);
  cluster_->Kill(0);
  EXPECT_EQ(ConnectError(options), "cannot connect to etcd: " + cluster_->Endpoint(0) +
                                       ": nothing listens there (connection refused)");
}

TEST_F(ClientTest, BadEndpointsAreRefusedBeforeAnythingHappens) {
  ClientOptions options;
  EXPECT_THAT(ConnectError(options), HasSubstr("no etcd endpoint is given"));
  options.endpoints = {"127.0.0.1:2379"};
  EXPECT_EQ(ConnectError(options),
            "etcd endpoint \"127.0.0.1:2379\": must begin with http:// or https://");
}

TEST_F(ClientTest, ConnectWaitsForAMemberThatIsStillStarting) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  cluster_->Kill(0);
  std::thread starter([&] {
    std::this_thread::sleep_for(milliseconds(300));
    cluster_->Restart(0);
  });
  ClientOptions options = cluster_->Client();
  options.connect_timeout = testing::kPatience;
  EXPECT_TRUE(Connect(options));
  starter.join();
}

TEST_F(ClientTest, AWriteThatNobodySawIsNotAmbiguous) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  ClientOptions options = cluster_->Client();
  options.call_timeout = milliseconds(500);
  const auto client = Connect(options);
  ASSERT_TRUE(client);
  cluster_->Kill(0);
  // The first may still find the connection alive; after it the loss is known.
  PutNow(*client, "/a", "1");
  const auto put = PutNow(*client, "/a", "2");
  ASSERT_FALSE(put);
  EXPECT_TRUE(put.error().never_sent);
  EXPECT_FALSE(put.error().ambiguous);
  EXPECT_EQ(put.error().code, kUnavailable);
  EXPECT_EQ(put.error().error.reason, base::Reason::kServiceUnavailable);
  EXPECT_THAT(put.error().error.message, HasSubstr("connection refused"));
}

TEST_F(ClientTest, AWriteWhoseAnswerNeverComesIsAmbiguous) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  ClientOptions options = cluster_->Client();
  options.call_timeout = milliseconds(700);
  const auto client = Connect(options);
  ASSERT_TRUE(client);
  ASSERT_TRUE(PutNow(*client, "/a", "1"));
  cluster_->Pause(0);
  const auto put = PutNow(*client, "/a", "2");
  ASSERT_FALSE(put);
  EXPECT_TRUE(put.error().ambiguous);
  EXPECT_FALSE(put.error().never_sent);
  EXPECT_EQ(put.error().code, kDeadlineExceeded);
  EXPECT_EQ(put.error().error.reason, base::Reason::kTimeout);
  const auto read = Get(*client, "/a");
  ASSERT_FALSE(read);
  EXPECT_FALSE(read.error().ambiguous) << "a read changes nothing";
  cluster_->Resume(0);
  const auto end = std::chrono::steady_clock::now() + testing::kPatience;
  while (!Get(*client, "/a") && std::chrono::steady_clock::now() < end) continue;
  EXPECT_TRUE(Get(*client, "/a")) << "it does not come back";
}

TEST_F(ClientTest, AWriteUnderWayWhenTheMemberDiesIsAmbiguous) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  const auto client = Connect(cluster_->Client());
  ASSERT_TRUE(client);
  cluster_->Pause(0);
  auto put = testing::BeginTxn(*client, testing::PutRequest("/a", "1"));
  const auto end = std::chrono::steady_clock::now() + testing::kPatience;
  while (!HasUnreadBytes(cluster_->Endpoint(0)) && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  cluster_->Kill(0);
  const auto answer = put.get();
  ASSERT_FALSE(answer);
  EXPECT_TRUE(answer.error().ambiguous) << answer.error().error.message;
  EXPECT_FALSE(answer.error().never_sent);
}

TEST_F(ClientTest, AMemberThatRestartsIsUsedAgainAndCallsWaitForIt) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  ClientOptions options = cluster_->Client();
  options.call_timeout = testing::kPatience;
  const auto client = Connect(options);
  ASSERT_TRUE(client);
  ASSERT_TRUE(PutNow(*client, "/a", "1"));
  cluster_->Kill(0);
  auto read = testing::BeginGet(*client, "/a");
  cluster_->Restart(0);
  const auto answer = read.get();
  ASSERT_TRUE(answer) << answer.error().error.message;
  EXPECT_EQ(answer->kvs_size(), 1);
  EXPECT_TRUE(log_.Contains("etcd endpoint put aside"));
  EXPECT_TRUE(log_.Contains("etcd endpoint is back"));
}

TEST_F(ClientTest, ReadsAndNewWritesGoOnWhenTheMemberInUseDies) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({.members = 3}));
  const auto client = Connect(cluster_->Client());
  ASSERT_TRUE(client);
  ASSERT_TRUE(PutNow(*client, "/a", "1"));
  std::atomic<bool> stop{false};
  std::atomic<int> reads{0};
  std::string failure;
  std::thread reader([&] {
    while (!stop.load()) {
      const auto read = Get(*client, "/a");
      if (!read) failure = read.error().error.message;
      ++reads;
    }
  });
  cluster_->Kill(cluster_->Leader());  // The client prefers the leader, so this is the one in use.
  const int before = reads.load();
  const auto end = std::chrono::steady_clock::now() + testing::kPatience;
  while (reads.load() < before + 100 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  stop.store(true);
  reader.join();
  EXPECT_EQ(failure, "");
  EXPECT_GE(reads.load(), before + 100);
  const auto put = PutNow(*client, "/a", "2");
  EXPECT_TRUE(put) << put.error().error.message;
}

TEST_F(ClientTest, AMemberThatHangsIsLeftForAnother) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({.members = 3}));
  ClientOptions options = cluster_->Client();
  options.call_timeout = seconds(4);
  const auto client = Connect(options);
  ASSERT_TRUE(client);
  ASSERT_TRUE(PutNow(*client, "/a", "1"));
  cluster_->Pause(cluster_->Leader());
  // Half of its time is for this member, the rest for another.
  const auto read = Get(*client, "/a");
  ASSERT_TRUE(read) << read.error().error.message;
  const auto put = PutNow(*client, "/a", "2");
  EXPECT_TRUE(put) << put.error().error.message;
}

TEST_F(ClientTest, WithoutAMajorityWritesFailWithoutBeingAmbiguousForLong) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({.members = 3}));
  ClientOptions options = cluster_->Client();
  options.call_timeout = seconds(1);
  const auto client = Connect(options);
  ASSERT_TRUE(client);
  const int leader = cluster_->Leader();
  cluster_->Kill((leader + 1) % 3);
  cluster_->Kill((leader + 2) % 3);
  // The remaining member stops leading after an election timeout. Then it turns calls away, and
  // calls that were turned away have not happened.
  Answer<pb::TxnResponse> put;
  const auto end = std::chrono::steady_clock::now() + testing::kPatience;
  do {
    put = PutNow(*client, "/a", "1");
  } while ((put || put.error().ambiguous) && std::chrono::steady_clock::now() < end);
  ASSERT_FALSE(put);
  EXPECT_FALSE(put.error().ambiguous);
  EXPECT_THAT(put.error().error.message, HasSubstr("the member has no leader"));
}

TEST_F(ClientTest, EndpointsOfTwoClustersAreRefused) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  auto other = EtcdCluster::Start({});
  ASSERT_TRUE(other) << other.error().message;
  ClientOptions options = cluster_->Client();
  options.endpoints.push_back((*other)->Endpoint(0));
  EXPECT_THAT(ConnectError(options), HasSubstr("belongs to another etcd cluster"));
}

TEST_F(ClientTest, AStrangerThatComesUpLaterIsNeverUsed) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  auto other = EtcdCluster::Start({});
  ASSERT_TRUE(other) << other.error().message;
  (*other)->Kill(0);
  ClientOptions options = cluster_->Client();
  options.endpoints.push_back((*other)->Endpoint(0));
  options.call_timeout = milliseconds(600);
  const auto client = Connect(options);
  ASSERT_TRUE(client);
  (*other)->Restart(0);
  EXPECT_TRUE(log_.Contains("belongs to another etcd cluster", testing::kPatience));
  cluster_->Kill(0);
  PutNow(*client, "/a", "1");
  const auto put = PutNow(*client, "/a", "1");
  ASSERT_FALSE(put) << "it went to a stranger";
  EXPECT_THAT(put.error().error.message, HasSubstr("belongs to another etcd cluster"));
}

TEST_F(ClientTest, DestroyingTheClientGivesEveryReply) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  auto client = Connect(cluster_->Client());
  ASSERT_TRUE(client);
  cluster_->Pause(0);
  std::atomic<int> replies{0};
  constexpr int kCalls = 64;
  for (int i = 0; i < kCalls; ++i) {
    client->Txn(testing::PutRequest("/a", "1"), [&](const Answer<pb::TxnResponse>& answer) {
      EXPECT_FALSE(answer);
      ++replies;
    });
  }
  client.reset();
  EXPECT_EQ(replies.load(), kCalls);
}

TEST_F(ClientTest, AnOldVersionIsWarnedOf) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  const auto client = Connect(cluster_->Client());
  ASSERT_TRUE(client);
  ASSERT_THAT(client->ServerVersion(), ::testing::StartsWith("3.4."))
      << "this is about the etcd of Debian 12";
  EXPECT_TRUE(log_.Contains("known bugs in watches"));
}

}  // namespace
}  // namespace berth::store::etcd
