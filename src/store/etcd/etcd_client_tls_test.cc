// TLS: that it works, and the messages if it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>

#include "store/etcd/etcd_client.h"
#include "store/etcd/testing/client_testing.h"
#include "store/etcd/testing/etcd_server.h"

namespace berth::store::etcd {
namespace {

using std::chrono::hours;
using testing::CertificateAuthority;
using testing::EtcdCluster;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using testing::PutNow;
using ::testing::StartsWith;

class ClientTlsTest : public ::testing::Test {
 protected:
  void StartMembers(testing::ServerOptions options) {
    auto cluster = EtcdCluster::Start(std::move(options));
    ASSERT_TRUE(cluster) << cluster.error().message;
    cluster_ = std::move(*cluster);
    options_ = cluster_->Client();
    // Cases that waiting cannot help do not wait this long.
    options_.connect_timeout = testing::kPatience;
    where_ = "cannot connect to etcd: " + cluster_->Endpoint(0) + ": ";
  }

  std::string ConnectError() {
    auto client = Client::Connect(options_, log_.Logger(), log_.Clock());
    return client ? "connected" : client.error().message;
  }

  void ExpectWorks() {
    auto client = Client::Connect(options_, log_.Logger(), log_.Clock());
    ASSERT_TRUE(client) << client.error().message;
    const auto put = PutNow(**client, "/a", "1");
    EXPECT_TRUE(put) << put.error().error.message;
  }

  testing::LogCapture log_;
  std::unique_ptr<EtcdCluster> cluster_;
  ClientOptions options_;
  std::string where_;
};

TEST_F(ClientTlsTest, WorksWithTheAuthorityOfTheServer) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({.tls = true}));
  ExpectWorks();
}

TEST_F(ClientTlsTest, WorksWithAClientCertificate) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({.tls = true, .client_cert_auth = true}));
  ExpectWorks();
}

TEST_F(ClientTlsTest, AMissingClientCertificateIsAskedFor) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({.tls = true, .client_cert_auth = true}));
  options_.cert_file.clear();
  options_.key_file.clear();
  EXPECT_EQ(ConnectError(), where_ + "it requires a client certificate");
}

TEST_F(ClientTlsTest, AClientCertificateOfAnotherAuthorityIsRefused) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({.tls = true, .client_cert_auth = true}));
  const CertificateAuthority other(cluster_->Dir(), "other-ca");
  const auto files = other.Issue({.name = "stranger"});
  options_.cert_file = files.cert;
  options_.key_file = files.key;
  EXPECT_THAT(ConnectError(),
              StartsWith(where_ + "it refuses the client certificate " + files.cert));
}

TEST_F(ClientTlsTest, AnExpiredClientCertificateIsNamedWithItsDate) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({.tls = true, .client_cert_auth = true}));
  const auto files =
      cluster_->Authority()->Issue({.name = "old", .from = hours(-48), .until = hours(-24)});
  options_.cert_file = files.cert;
  options_.key_file = files.key;
  EXPECT_THAT(ConnectError(),
              MatchesRegex("client certificate .*/old.pem expired on [0-9]{4}-[0-9]{2}-[0-9]{2} "
                           "[0-9]{2}:[0-9]{2}:[0-9]{2} UTC"));
}

TEST_F(ClientTlsTest, AnExpiredServerCertificateIsNamedWithItsDate) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({.tls = true, .expired_server_cert = true}));
  const std::string error = ConnectError();
  EXPECT_THAT(error, StartsWith(where_ + "its certificate (/CN=server) expired on 2"));
  EXPECT_THAT(error, HasSubstr(" UTC"));
}

TEST_F(ClientTlsTest, AnUnknownAuthorityIsNamed) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({.tls = true}));
  const CertificateAuthority other(cluster_->Dir(), "other-ca");
  options_.ca_file = other.File();
  EXPECT_EQ(ConnectError(), where_ +
                                "its certificate (/CN=server) is signed by an authority (/CN=ca) "
                                "that is not in " +
                                other.File());
  options_.ca_file.clear();
  EXPECT_THAT(ConnectError(), HasSubstr("that is not in the system's list"));
}

TEST_F(ClientTlsTest, ACertificateForAnotherHostIsNamed) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({.tls = true, .server_alt_name = "DNS:etcd.example"}));
  EXPECT_THAT(ConnectError(),
              StartsWith(where_ + "its certificate (/CN=server) is not valid for 127."));
}

TEST_F(ClientTlsTest, HttpToATlsEndpointIsSaid) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({.tls = true}));
  const std::string plain = "http" + cluster_->Endpoint(0).substr(5);
  options_.endpoints = {plain};
  EXPECT_EQ(ConnectError(), "cannot connect to etcd: " + plain + ": it speaks TLS: use https://");
}

TEST_F(ClientTlsTest, HttpsToAPlainEndpointIsSaid) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({}));
  const std::string tls = "https" + cluster_->Endpoint(0).substr(4);
  options_.endpoints = {tls};
  EXPECT_EQ(ConnectError(),
            "cannot connect to etcd: " + tls + ": it speaks plain HTTP, not TLS: use http://");
}

TEST_F(ClientTlsTest, FilesThatCannotBeUsedAreNamed) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({.tls = true, .client_cert_auth = true}));
  const std::string junk = cluster_->Dir() + "/junk";
  std::ofstream(junk) << "not a certificate\n";
  const ClientOptions good = options_;

  options_.ca_file = "/does/not/exist.pem";
  EXPECT_EQ(ConnectError(),
            "cannot read certificate authority /does/not/exist.pem: No such file or directory");
  options_.ca_file = junk;
  EXPECT_EQ(ConnectError(), "certificate authority " + junk + " holds no PEM certificate");
  options_.ca_file = cluster_->Dir();
  EXPECT_EQ(ConnectError(),
            "cannot read certificate authority " + cluster_->Dir() + ": Is a directory");
  options_ = good;
  options_.cert_file = junk;
  EXPECT_EQ(ConnectError(), "client certificate " + junk + " holds no PEM certificate");
  options_ = good;
  options_.key_file = junk;
  EXPECT_EQ(ConnectError(),
            "client key " + junk + " holds no PEM private key without a passphrase");
  options_.key_file = cluster_->Authority()->Issue({.name = "another"}).key;
  EXPECT_EQ(ConnectError(), "client key " + options_.key_file +
                                " does not belong to client certificate " + options_.cert_file);
  options_.key_file.clear();
  EXPECT_EQ(ConnectError(), "a client certificate needs its key file as well");
}

TEST_F(ClientTlsTest, OneGoodEndpointIsEnough) {
  ASSERT_NO_FATAL_FAILURE(StartMembers({.tls = true}));
  options_.endpoints.insert(options_.endpoints.begin(), "https://127.0.0.1:1");
  ExpectWorks();
}

}  // namespace
}  // namespace berth::store::etcd
