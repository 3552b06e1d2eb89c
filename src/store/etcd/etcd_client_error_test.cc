// The parts of the client that need no server: the meaning of errors, endpoints as text, versions,
// fragments, and which endpoint is used.
#include <gmock/gmock.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "store/etcd/calls_error.h"
#include "store/etcd/channel.h"
#include "store/etcd/channel_pool.h"
#include "store/etcd/etcd_watch_stream.h"
#include "store/etcd/testing/client_testing.h"

namespace berth::store::etcd::wire {
namespace {

using base::Reason;
using grpc::Status;
using grpc::StatusCode;
using ::testing::HasSubstr;

struct Row {
  StatusCode code;
  const char* message;
  bool ambiguous;   // For a write that was sent.
  bool repeatable;  // For a write that was sent.
  bool ill;
};

// What etcd 3.4 to 3.6 and gRPC can answer to a write.
const Row kRows[] = {
    {StatusCode::DEADLINE_EXCEEDED, "Deadline Exceeded", true, false, true},
    {StatusCode::CANCELLED, "CANCELLED", true, false, false},
    {StatusCode::UNKNOWN, "context canceled", true, false, false},
    {StatusCode::INTERNAL, "Received RST_STREAM with error code 2", true, false, false},
    {StatusCode::DATA_LOSS, "etcdserver: corrupt cluster", true, false, false},
    {StatusCode::UNAVAILABLE, "etcdserver: request timed out", true, false, true},
    {StatusCode::UNAVAILABLE,
     "etcdserver: request timed out, possibly due to previous leader failure", true, false, true},
    {StatusCode::UNAVAILABLE, "etcdserver: leader changed", true, false, true},
    {StatusCode::UNAVAILABLE, "etcdserver: server stopped", true, false, true},
    {StatusCode::UNAVAILABLE, "Socket closed", true, false, true},
    {StatusCode::UNAVAILABLE, "recvmsg:Connection reset by peer", true, false, true},
    {StatusCode::UNAVAILABLE, "no leader", true, false, true},  // Not etcd's own text.
    {StatusCode::UNAVAILABLE, "etcdserver: no leader", false, true, true},
    {StatusCode::UNAVAILABLE, "etcdserver: not capable", false, true, true},
    {StatusCode::UNAVAILABLE, "etcdserver: rpc not supported for learner", false, true, true},
    {StatusCode::INVALID_ARGUMENT, "etcdserver: request is too large", false, false, false},
    {StatusCode::INVALID_ARGUMENT, "etcdserver: duplicate key given in txn request", false, false,
     false},
    {StatusCode::OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted", false,
     false, false},
    {StatusCode::FAILED_PRECONDITION, "etcdserver: lease already exists", false, false, false},
    {StatusCode::NOT_FOUND, "etcdserver: requested lease not found", false, false, false},
    {StatusCode::PERMISSION_DENIED, "etcdserver: permission denied", false, false, false},
    {StatusCode::UNAUTHENTICATED, "etcdserver: invalid auth token", false, false, false},
    {StatusCode::RESOURCE_EXHAUSTED, "etcdserver: too many requests", false, false, false},
    {StatusCode::RESOURCE_EXHAUSTED, "grpc: received message larger than max (3 vs. 2)", false,
     false, false},
    {StatusCode::RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded", true, false,
     false},
    {StatusCode::RESOURCE_EXHAUSTED, "too_many_pings", true, false, false},
};

TEST(ClientErrorTest, AWriteIsAmbiguousUnlessItCertainlyDidNotHappen) {
  for (const Row& row : kRows) {
    const Verdict verdict = Judge(Status(row.code, row.message), /*sent=*/true, /*write=*/true);
    EXPECT_EQ(verdict.ambiguous, row.ambiguous) << row.message;
    EXPECT_EQ(verdict.repeatable, row.repeatable) << row.message;
    EXPECT_EQ(verdict.endpoint_ill, row.ill) << row.message;
  }
}

TEST(ClientErrorTest, AReadIsNeverAmbiguous) {
  for (const Row& row : kRows) {
    EXPECT_FALSE(Judge(Status(row.code, row.message), true, /*write=*/false).ambiguous)
        << row.message;
  }
  for (const StatusCode code :
       {StatusCode::UNAVAILABLE, StatusCode::DEADLINE_EXCEEDED, StatusCode::CANCELLED}) {
    EXPECT_TRUE(Judge(Status(code, "x"), true, false).repeatable);
  }
  EXPECT_FALSE(Judge(Status(StatusCode::INVALID_ARGUMENT, "x"), true, false).repeatable);
}

TEST(ClientErrorTest, OnlyAFullDatabaseIsSettled) {
  for (const Row& row : kRows) {
    const bool full = std::string_view(row.message).find("database space") != std::string::npos;
    EXPECT_EQ(Judge(Status(row.code, row.message), true, true).settled, full) << row.message;
  }
}

TEST(ClientErrorTest, TheseWordsAskForANewLogin) {
  for (const char* message :
       {"etcdserver: invalid auth token", "etcdserver: revision of auth store is old",
        "etcdserver: user name is empty",
        "rpc error: code = Unauthenticated desc = etcdserver: invalid auth token"}) {
    EXPECT_TRUE(Judge(Status(StatusCode::INVALID_ARGUMENT, message), true, true).login) << message;
  }
  EXPECT_FALSE(
      Judge(Status(StatusCode::PERMISSION_DENIED, "etcdserver: permission denied"), true, true)
          .login);
}

TEST(ClientErrorTest, NeverSentOnlyWhenGrpcHadNoConnectionForIt) {
  const std::string refused =
      "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed to "
      "connect to remote host: Connection refused";
  const std::string target = "dns:///127.0.0.1:1";
  EXPECT_FALSE(WasSent(Status(StatusCode::UNAVAILABLE, refused), target));
  // The same text, but from the server.
  EXPECT_TRUE(WasSent(Status(StatusCode::UNAVAILABLE, refused), "ipv4:127.0.0.1:1"));
  EXPECT_TRUE(WasSent(Status(StatusCode::UNKNOWN, refused), target));
  EXPECT_TRUE(WasSent(Status(StatusCode::UNAVAILABLE, "Socket closed"), target));
  EXPECT_TRUE(WasSent(Status(StatusCode::DEADLINE_EXCEEDED, "Deadline Exceeded"), target));
}

TEST(ClientErrorTest, PeopleReadWhatToDo) {
  const auto message = [](StatusCode code, const std::string& text) {
    return MakeCallError(Status(code, text), true, true, "http://e:1").error;
  };
  EXPECT_EQ(message(StatusCode::RESOURCE_EXHAUSTED, "etcdserver: too many requests").reason,
            Reason::kTooManyRequests);
  EXPECT_EQ(
      message(StatusCode::OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted")
          .reason,
      Reason::kExpired);
  EXPECT_EQ(message(StatusCode::UNAVAILABLE, "Socket closed").message,
            "etcd at http://e:1: the connection was lost");
  EXPECT_EQ(message(StatusCode::UNIMPLEMENTED, "").message,
            "etcd at http://e:1: it is not an etcd (or one older than 3.4)");
  const std::string evil =
      message(StatusCode::UNKNOWN, "\x1b[31m" + std::string(5000, 'x')).message;
  EXPECT_EQ(evil.find('\x1b'), std::string::npos);
  EXPECT_LT(evil.size(), 400U);
}

TEST(EndpointUrlTest, ReadsWhatPeopleWrite) {
  const auto plain = ParseEndpoint("http://etcd-0.example:2380");
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->tls);
  EXPECT_EQ(plain->host, "etcd-0.example");
  EXPECT_EQ(plain->port, 2380);
  const auto v6 = ParseEndpoint("https://[fd00::1]/");
  ASSERT_TRUE(v6);
  EXPECT_TRUE(v6->tls);
  EXPECT_EQ(v6->host, "fd00::1");
  EXPECT_EQ(v6->text, "https://[fd00::1]:2379");
}

TEST(EndpointUrlTest, RefusesWhatIsNotAnEndpoint) {
  for (const char* text :
       {"", "127.0.0.1:2379", "etcd://a:1", "http://", "http://:2379", "http://a:0",
        "http://a:65536", "http://a:", "http://a:1x", "http://a:1/path", "http://a/b:1",
        "http://user@a:1", "http://a:1,http://b:1", "http://[::1", "http://[::1]x:1",
        "http://a b:1", "http://[]:1", "http://a?x:1", "http://\n:1"}) {
    const auto url = ParseEndpoint(text);
    ASSERT_FALSE(url) << text;
    EXPECT_THAT(url.error().message, HasSubstr("etcd endpoint"));
  }
}

TEST(VersionTest, TooOldIsAnErrorAndBuggyAWarning) {
  EXPECT_THAT(CheckVersion("3.3.27").error, HasSubstr("etcd 3.3.27"));
  EXPECT_THAT(CheckVersion("2.3.8").error, HasSubstr("3.4 or later"));
  EXPECT_THAT(CheckVersion("").error, HasSubstr("3.4 or later"));
  for (const char* version : {"3.4.0", "3.4.23", "3.4.35", "3.5.0", "3.5.17", "3.5.0-rc.1"}) {
    EXPECT_EQ(CheckVersion(version).error, "") << version;
    EXPECT_NE(CheckVersion(version).warning, "") << version;
  }
  for (const char* version : {"3.4.36", "3.5.18", "3.6.0", "3.6.0-rc.1", "3.10.1", "4.0.0"}) {
    EXPECT_EQ(CheckVersion(version).error, "") << version;
    EXPECT_EQ(CheckVersion(version).warning, "") << version;
  }
}

etcdserverpb::WatchResponse Fragment(const std::vector<int64_t>& revisions, bool more) {
  etcdserverpb::WatchResponse response;
  response.set_fragment(more);
  for (const int64_t revision : revisions) {
    response.add_events()->mutable_kv()->set_mod_revision(revision);
  }
  return response;
}

std::vector<int64_t> Revisions(const std::optional<etcdserverpb::WatchResponse>& response) {
  std::vector<int64_t> revisions;
  if (!response) return revisions;
  EXPECT_FALSE(response->fragment());
  for (const auto& event : response->events()) revisions.push_back(event.kv().mod_revision());
  return revisions;
}

TEST(FragmentJoinerTest, KeepsTheEventsOfARevisionTogether) {
  using R = std::vector<int64_t>;
  FragmentJoiner joiner;
  EXPECT_EQ(Revisions(joiner.Add(Fragment({1, 2}, false))), (R{1, 2}));
  EXPECT_EQ(Revisions(joiner.Add(Fragment({3, 3, 4}, true))), (R{3, 3}));
  EXPECT_FALSE(joiner.Add(Fragment({4, 4}, true)));
  EXPECT_EQ(Revisions(joiner.Add(Fragment({4, 5}, true))), (R{4, 4, 4, 4}));
  EXPECT_EQ(Revisions(joiner.Add(Fragment({5, 6}, false))), (R{5, 5, 6}));
  EXPECT_EQ(Revisions(joiner.Add(Fragment({7}, false))), (R{7}));
}

class PoolTest : public ::testing::Test {
 protected:
  static constexpr int kEndpoints = 3;

  PoolTest() {
    std::vector<std::unique_ptr<Endpoint>> endpoints;
    for (int i = 0; i < kEndpoints; ++i) {
      endpoints.push_back(
          std::make_unique<Endpoint>(*ParseEndpoint("http://127.0.0.1:" + std::to_string(i + 1)),
                                     grpc::InsecureChannelCredentials(),
                                     ChannelSettings{.connect_timeout = std::chrono::seconds(1),
                                                     .keepalive = std::chrono::seconds(30)},
                                     1));
      endpoints_.push_back(endpoints.back().get());
    }
    pool_ = std::make_unique<Pool>(std::move(endpoints), log_.Logger());
  }

  /// Reports that member i + 1 answered a check.
  void Answers(int i, uint64_t leader, uint64_t cluster = 7, uint64_t term = 1) {
    Checkup checkup{.answered = true, .status = {}, .why = {}, .hopeless = false};
    checkup.status.mutable_header()->set_cluster_id(cluster);
    checkup.status.mutable_header()->set_member_id(static_cast<uint64_t>(i) + 1);
    checkup.status.set_leader(leader);
    checkup.status.set_raftterm(term);
    checkup.status.set_version("3.6.1");
    pool_->Report(*endpoints_[static_cast<size_t>(i)], checkup, now_);
  }
  Endpoint* At(int i) { return endpoints_[static_cast<size_t>(i)]; }

  testing::LogCapture log_;
  std::vector<Endpoint*> endpoints_;
  std::unique_ptr<Pool> pool_;
  TimePoint now_ = std::chrono::steady_clock::now();
};

TEST_F(PoolTest, NothingIsUsedBeforeItAnswered) {
  EXPECT_EQ(pool_->Pick(), nullptr);
  Answers(1, 1);
  EXPECT_EQ(pool_->Pick(), At(1));
}

TEST_F(PoolTest, PrefersTheLeaderAndStaysWithOneOtherwise) {
  Answers(0, 3);
  EXPECT_EQ(pool_->Pick(), At(0));
  Answers(1, 3);
  EXPECT_EQ(pool_->Pick(), At(0));
  Answers(2, 3);
  EXPECT_EQ(pool_->Pick(), At(2));
  pool_->PutAside(*At(2), "gone");
  Endpoint* other = pool_->Pick();
  EXPECT_NE(other, At(2));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(pool_->Pick(), other);
  // A member that was cut off still reports the old leader.
  Answers(1, 2, 7, /*term=*/2);
  EXPECT_EQ(pool_->Pick(), At(1));
  Answers(0, 1, 7, /*term=*/1);
  EXPECT_EQ(pool_->Pick(), At(1));
}

TEST_F(PoolTest, AMemberWithoutALeaderIsNotUsed) {
  Answers(0, 1);
  Answers(0, 0);
  EXPECT_EQ(pool_->Pick(), nullptr);
  EXPECT_EQ(pool_->TroubleText().substr(0, 48), "http://127.0.0.1:1: the member has no leader; ht");
}

TEST_F(PoolTest, OnlyTheClusterThatAnsweredFirstIsUsed) {
  Answers(0, 1, 7);
  Answers(1, 1, 8);
  pool_->PutAside(*At(0), "gone");
  EXPECT_EQ(pool_->Pick(), nullptr);
  EXPECT_THAT(pool_->StrangerText(), HasSubstr("another etcd cluster (8) than http://127.0.0.1:1"));
  Answers(1, 1, 7);
  EXPECT_EQ(pool_->Pick(), At(1)) << "it has been put right";
}

TEST_F(PoolTest, ChecksOfWhatIsIllComeSoonAndThenLessOften) {
  ASSERT_EQ(pool_->TakeDue(now_).size(), size_t{kEndpoints});
  EXPECT_TRUE(pool_->TakeDue(now_).empty()) << "they are being checked already";
  const Checkup ill{.answered = false, .status = {}, .why = "gone", .hopeless = false};
  auto pause = std::chrono::steady_clock::duration::zero();
  for (int i = 0; i < 8; ++i) {
    pool_->Report(*At(0), ill, now_);
    const auto next = pool_->NextDue() - now_;
    EXPECT_GE(next, pause);
    EXPECT_LE(next, std::chrono::seconds(1));
    pause = next;
    now_ += pause;
    ASSERT_EQ(pool_->TakeDue(now_).size(), 1U);
  }
  EXPECT_EQ(pause, std::chrono::seconds(1));
}

TEST_F(PoolTest, WaitingForTheFirstEndsWhenThereIsNoPoint) {
  const Checkup hopeless{.answered = false, .status = {}, .why = "expired", .hopeless = true};
  for (Endpoint* endpoint : endpoints_) pool_->Report(*endpoint, hopeless, now_);
  EXPECT_FALSE(pool_->AwaitFirst(now_ + std::chrono::hours(1)));
  Answers(0, 1);
  EXPECT_TRUE(pool_->AwaitFirst(now_ + std::chrono::hours(1)));
}

}  // namespace
}  // namespace berth::store::etcd::wire
