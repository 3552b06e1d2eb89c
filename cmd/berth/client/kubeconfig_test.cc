#include "berth/client/kubeconfig.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/temp_dir.h"

namespace berth::cli {
namespace {

using ::testing::HasSubstr;

class KubeconfigTest : public ::testing::Test {
 protected:
  base::Result<ApiTarget> Read(const std::string& text) {
    std::ofstream(dir_.Path() + "/config") << text;
    return ReadKubeconfig(dir_.Path() + "/config");
  }

  static std::string With(const std::string& server, const std::string& user) {
    return "apiVersion: v1\nkind: Config\ncurrent-context: there\n"
           "contexts:\n- name: elsewhere\n  context: {cluster: b, user: u}\n"
           "- name: there\n  context: {cluster: a, user: u}\n"
           "clusters:\n- name: a\n  cluster:\n    server: " +
           server + "\n    certificate-authority: ca.pem\nusers:\n- name: u\n  user: " + user +
           "\n";
  }

  base::TempDir dir_;
};

TEST_F(KubeconfigTest, TakesTheCurrentContext) {
  std::ofstream(dir_.Path() + "/ca.pem") << "authority";
  const auto target = Read(With("https://10.0.0.5:6443/",
                                "{client-certificate-data: Y2VydA==, "
                                "client-key-data: a2V5, token: secret}"));
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(target->client.host, "10.0.0.5");
  EXPECT_EQ(target->client.port, 6443);
  EXPECT_EQ(target->client.tls->ca_pem, "authority");
  EXPECT_EQ(target->client.tls->certificate_pem, "cert");
  EXPECT_EQ(target->client.tls->key_pem, "key");
  EXPECT_EQ(target->client.token, "secret");
}

TEST_F(KubeconfigTest, UnderstandsTheFormsOfAServer) {
  std::ofstream(dir_.Path() + "/ca.pem") << "authority";
  const auto host_and_port = [&](const std::string& server) {
    const auto target = Read(With(server, "{}"));
    return target ? fmt::format("{} {}", target->client.host, target->client.port)
                  : target.error().message;
  };
  EXPECT_EQ(host_and_port("https://berth.example"), "berth.example 443");
  EXPECT_EQ(host_and_port("'https://[fd00::1]:7000'"), "fd00::1 7000");
  EXPECT_EQ(host_and_port("'https://[fd00::1]'"), "fd00::1 443");
  EXPECT_THAT(host_and_port("http://berth.example"), HasSubstr("does not begin with https://"));
  EXPECT_THAT(host_and_port("https://berth.example:99999"), HasSubstr("has no valid port"));
}

TEST_F(KubeconfigTest, SaysWhatIsMissing) {
  EXPECT_THAT(Read("current-context: x\n").error().message, HasSubstr("it has no context \"x\""));
  EXPECT_THAT(Read("a: [").error().message, HasSubstr("cannot be used"));
  EXPECT_THAT(Read(With("https://a", "{}")).error().message, HasSubstr("ca.pem"));
  EXPECT_THAT(ReadKubeconfig("/does/not/exist").error().message, HasSubstr("/does/not/exist"));
}

}  // namespace
}  // namespace berth::cli
