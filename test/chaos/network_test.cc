// The network itself: cuts work where they should and nowhere else, and heal.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "chaos/scenario.h"
#include "store/etcd/testing/etcd_server.h"
#include "store/etcd/testing/http.h"

namespace berth::chaos {
namespace {

using namespace std::chrono_literals;
using store::etcd::testing::EtcdCluster;
using store::etcd::testing::HttpFetch;
using store::etcd::testing::ServerOptions;

class NetworkTest : public testing::Test {
 protected:
  void SetUp() override {
    if (TestNetwork() == nullptr) GTEST_SKIP() << WhyNoNetwork();
    ServerOptions options{.members = Network::kMembers};
    for (int i = 0; i < Network::kMembers; ++i) {
      options.hosts.push_back(Network::MemberHost(i));
      options.launchers.push_back(TestNetwork()->Launcher(i));
    }
    auto cluster = EtcdCluster::Start(options);
    ASSERT_TRUE(cluster) << cluster.error().message;
    cluster_ = std::move(*cluster);
  }

  void TearDown() override {
    if (TestNetwork() != nullptr) TestNetwork()->Heal();
  }

  int Port(int member) const {
    const std::string endpoint = cluster_->Endpoint(member);
    return std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
  }

  /// Writes at the member on a replica's path (-1 means the test's own). Returns whether it
  /// succeeded.
  bool Writes(int member, int replica) const {
    const std::string host = Network::MemberHost(member, replica);
    const auto answer =
        HttpFetch(host, Port(member), "/v3/kv/put", R"({"key":"YQ==","value":"YQ=="})");
    return answer && answer->code == 200;
  }

  std::unique_ptr<EtcdCluster> cluster_;
};

TEST_F(NetworkTest, AReplicaIsCutFromOneMemberAlone) {
  for (const bool replies : {false, true}) {
    ASSERT_TRUE(Writes(0, 1));
    if (replies) {
      TestNetwork()->CutReplies(1, 0);
    } else {
      TestNetwork()->CutRequests(1, 0);
    }
    EXPECT_FALSE(Writes(0, 1));
    EXPECT_TRUE(Writes(1, 1));
    EXPECT_TRUE(Writes(0, 2));
    EXPECT_TRUE(Writes(0, -1));
    TestNetwork()->Heal();
    EXPECT_TRUE(Writes(0, 1));
  }
}

TEST_F(NetworkTest, AnIsolatedLeaderIsReplacedAndCannotWrite) {
  const int old = cluster_->Leader();
  ASSERT_GE(old, 0);
  for (int peer = 0; peer < Network::kMembers; ++peer) {
    if (peer == old) continue;
    TestNetwork()->CutPeer(old, peer);
    TestNetwork()->CutPeer(peer, old);
  }
  EXPECT_FALSE(Writes(old, 0));
  EXPECT_TRUE(Within(20s, [&] { return Writes((old + 1) % Network::kMembers, 0); }));
  EXPECT_NE(cluster_->Leader(), old);
  TestNetwork()->Heal();
  EXPECT_TRUE(Within(20s, [&] { return Writes(old, 0); }));
}

TEST_F(NetworkTest, AnUnpluggedMemberIsOutOfReachAndComesBack) {
  TestNetwork()->Unplug(2);
  EXPECT_FALSE(Writes(2, -1));
  EXPECT_TRUE(Within(20s, [&] { return Writes(0, 0); }));
  TestNetwork()->Heal();
  EXPECT_TRUE(Within(20s, [&] { return Writes(2, 0); }));
}

}  // namespace
}  // namespace berth::chaos
