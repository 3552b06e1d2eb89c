// Users and passwords: logins, lost tokens, and the messages of refused logins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "store/etcd/etcd_client.h"
#include "store/etcd/testing/client_testing.h"
#include "store/etcd/testing/etcd_server.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;
using testing::Answer;
using testing::EtcdCluster;
using testing::Get;
using ::testing::HasSubstr;
using testing::PutNow;

constexpr char kPassword[] = "s3cret-of-root";

class ClientLoginTest : public ::testing::Test {
 protected:
  void StartMembers(int members = 1, const std::string& password = kPassword) {
    auto cluster = EtcdCluster::Start({.members = members, .root_password = password});
    ASSERT_TRUE(cluster) << cluster.error().message;
    cluster_ = std::move(*cluster);
    options_ = cluster_->Client();
    options_.call_timeout = testing::kPatience;
  }

  ~ClientLoginTest() override {
    EXPECT_FALSE(log_.Contains(kPassword, std::chrono::milliseconds(0)));
  }

  std::unique_ptr<Client> Connect() {
    auto client = Client::Connect(options_, log_.Logger(), log_.Clock());
    EXPECT_TRUE(client) << client.error().message;
    return client ? std::move(*client) : nullptr;
  }

  std::string ConnectError() {
    auto client = Client::Connect(options_, log_.Logger(), log_.Clock());
    return client ? "connected" : client.error().message;
  }

  void Admin(const std::string& path, const std::string& json) {
    const auto done = cluster_->Post(path, json);
    ASSERT_TRUE(done) << done.error().message;
  }

  testing::LogCapture log_;
  std::unique_ptr<EtcdCluster> cluster_;
  ClientOptions options_;
};

TEST_F(ClientLoginTest, AUserWithThePasswordGetsIn) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  const auto client = Connect();
  ASSERT_TRUE(client);
  const auto put = PutNow(*client, "/a", "1");
  EXPECT_TRUE(put) << put.error().error.message;
}

TEST_F(ClientLoginTest, AWrongPasswordOrUserIsNamedAtOnce) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  options_.password = "guess";
  EXPECT_EQ(ConnectError(), "cannot log in as \"root\": etcd at " + cluster_->Endpoint(0) +
                                ": wrong user or password");
  options_.user = "nobody";
  EXPECT_EQ(ConnectError(), "cannot log in as \"nobody\": etcd at " + cluster_->Endpoint(0) +
                                ": wrong user or password");
}

TEST_F(ClientLoginTest, AMissingUserIsAskedFor) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  options_.user.clear();
  options_.password.clear();
  EXPECT_EQ(ConnectError(),
            "etcd at " + cluster_->Endpoint(0) + ": etcd requires a user and a password");
}

TEST_F(ClientLoginTest, AUserThatIsNotNeededIsNoObstacle) {
  ASSERT_NO_FATAL_FAILURE(StartMembers(1, ""));
  options_.user = "root";
  options_.password = kPassword;
  const auto client = Connect();
  ASSERT_TRUE(client);
  EXPECT_TRUE(PutNow(*client, "/a", "1"));
  EXPECT_TRUE(log_.Contains("authentication switched off"));
}

TEST_F(ClientLoginTest, ATokenLostInARestartIsRenewedWithoutNotice) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  const auto client = Connect();
  ASSERT_TRUE(client);
  ASSERT_TRUE(PutNow(*client, "/a", "1"));
  cluster_->Kill(0);
  cluster_->Restart(0);
  ASSERT_TRUE(cluster_->WaitHealthy());
  std::vector<std::future<Answer<pb::TxnResponse>>> puts;
  for (int i = 0; i < 20; ++i) {
    puts.push_back(testing::BeginTxn(*client, testing::PutRequest("/a" + std::to_string(i), "2")));
  }
  int fine = 0;
  for (auto& put : puts) {
    const auto answer = put.get();
    // A call that was sent before the connection loss was noticed may be ambiguous.
    fine += answer ? 1 : 0;
    EXPECT_TRUE(answer || answer.error().ambiguous) << answer.error().error.message;
  }
  EXPECT_GT(fine, 0);
  const auto last = PutNow(*client, "/a", "3");
  EXPECT_TRUE(last) << last.error().error.message;
}

TEST_F(ClientLoginTest, AChangeOfRightsIsFollowedWithoutNotice) {
  ASSERT_NO_FATAL_FAILURE(StartMembers(3));
  const auto client = Connect();
  ASSERT_TRUE(client);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(PutNow(*client, "/a", "1"));
    // From now on, every token belongs to an older revision of the rights.
    Admin("/v3/auth/user/add", R"({"name":"u)" + std::to_string(i) + R"(","password":"x"})");
    const auto put = PutNow(*client, "/a", "2");
    EXPECT_TRUE(put) << put.error().error.message;
    const auto read = Get(*client, "/a");
    EXPECT_TRUE(read) << read.error().error.message;
  }
}

TEST_F(ClientLoginTest, APasswordChangedMeanwhileIsNotTriedOverAndOver) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  Admin("/v3/auth/user/add", R"({"name":"ann","password":"one"})");
  Admin("/v3/auth/user/grant", R"({"user":"ann","role":"root"})");
  options_.user = "ann";
  options_.password = "one";
  const auto client = Connect();
  ASSERT_TRUE(client);
  Admin("/v3/auth/user/changepw", R"({"name":"ann","password":"two"})");
  for (int i = 0; i < 50; ++i) {
    const auto put = PutNow(*client, "/a", "1");
    ASSERT_FALSE(put);
    EXPECT_FALSE(put.error().ambiguous);
    EXPECT_THAT(put.error().error.message, HasSubstr("cannot log in as \"ann\""));
  }
  EXPECT_EQ(log_.Count("login at etcd failed"), 1) << "once in five seconds is enough";
}

TEST_F(ClientLoginTest, AMissingPermissionIsSaid) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  Admin("/v3/auth/user/add", R"({"name":"ann","password":"x"})");
  options_.user = "ann";
  options_.password = "x";
  const auto client = Connect();
  ASSERT_TRUE(client);
  const auto put = PutNow(*client, "/a", "1");
  ASSERT_FALSE(put);
  EXPECT_FALSE(put.error().ambiguous);
  EXPECT_THAT(put.error().error.message, HasSubstr("lacks the permission"));
}

TEST_F(ClientLoginTest, AWatchGetsANewTokenToo) {
  ASSERT_NO_FATAL_FAILURE(StartMembers());
  const auto client = Connect();
  ASSERT_TRUE(client);
  // The client's token cannot be used for a new stream.
  Admin("/v3/auth/user/add", R"({"name":"ann","password":"x"})");
  std::promise<bool> created;
  std::promise<std::string> ended;
  pb::WatchCreateRequest request;
  request.set_key("/a");
  auto watch = client->Watch(
      request, {.on_response =
                    [&](const pb::WatchResponse& response) {
                      created.set_value(response.created() && !response.canceled());
                    },
                .on_end = [&](const CallError& error) { ended.set_value(error.error.message); }});
  auto answer = created.get_future();
  ASSERT_EQ(answer.wait_for(testing::kPatience), std::future_status::ready);
  EXPECT_TRUE(answer.get());
  watch.reset();
  EXPECT_THAT(ended.get_future().get(), HasSubstr("cancelled"));
}

}  // namespace
}  // namespace berth::store::etcd
