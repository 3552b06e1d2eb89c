#include "kube/exec_plugin.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "codec/json.h"
#include "kube/testing/kube_kit.h"

namespace berth::kube {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kV1 = "client.authentication.k8s.io/v1";
constexpr std::string_view kBeta = "client.authentication.k8s.io/v1beta1";

std::string Credential(std::string_view status, std::string_view version = kV1) {
  return fmt::format(R"({{"apiVersion":"{}","kind":"ExecCredential","status":{}}})", version,
                     status);
}

std::string WithToken(std::string_view token, std::string_view expires = "") {
  return Credential(expires.empty() ? fmt::format(R"({{"token":"{}"}})", token)
                                    : fmt::format(R"({{"token":"{}","expirationTimestamp":"{}"}})",
                                                  token, expires));
}

// --- the answer ----------------------------------------------------------------------------------

TEST(ExecAnswer, TakesATokenOrACertificate) {
  const auto token = ParseExecAnswer(WithToken("abc", "2027-01-15T09:00:00Z"), kV1);
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_EQ(token->identity, (Identity{.token = "abc"}));
  EXPECT_EQ(token->expires, base::WallTime(std::chrono::seconds(1'800'003'600)));

  const auto certificate = ParseExecAnswer(
      Credential(R"({"clientCertificateData":"-----BEGIN C","clientKeyData":"-----BEGIN K"})",
                 kBeta),
      kBeta);
  ASSERT_TRUE(certificate) << certificate.error().message;
  EXPECT_EQ(certificate->identity,
            (Identity{.certificate_pem = "-----BEGIN C", .key_pem = "-----BEGIN K"}));
  EXPECT_FALSE(certificate->expires);

  const auto yaml = ParseExecAnswer(
      fmt::format("apiVersion: {}\nkind: ExecCredential\nstatus: {{token: abc}}\n", kV1), kV1);
  ASSERT_TRUE(yaml) << yaml.error().message;
  EXPECT_EQ(yaml->identity.token, "abc");
}

TEST(ExecAnswer, SaysWhatIsWrong) {
  const struct {
    std::string output;
    std::string message;
  } rows[] = {
      {"", "printed nothing"},
      {" \n", "printed nothing"},
      {"rubbish", "did not print an object of the kind ExecCredential"},
      {"{", "did not print an ExecCredential: "},
      {"\x01\x02\xff", "did not print an ExecCredential: yaml: "},
      {"{}", "did not print an object of the kind ExecCredential"},
      {"[1]", "did not print an object of the kind ExecCredential"},
      {Credential("{}", kBeta),
       "answered with the API version \"client.authentication.k8s.io/v1beta1\", but the kubeconfig "
       "says \"client.authentication.k8s.io/v1\"; make exec.apiVersion and the plugin agree"},
      {Credential("null"), "printed no status, which has to contain the credential"},
      {Credential("{}"), "printed neither a token nor a certificate with its key"},
      {Credential(R"({"token":""})"), "printed neither a token nor a certificate with its key"},
      {Credential(R"({"token":5})"), "printed a status.token that is not a text"},
      {Credential(R"({"token":"a b"})"),
       "printed a token with spaces or other characters that no token has"},
      {Credential(R"({"token":"a\r\nX-Header: y"})"),
       "printed a token with spaces or other characters that no token has"},
      {Credential(R"({"clientCertificateData":"-----BEGIN C"})"),
       "printed a certificate without its key"},
      {Credential(R"({"clientKeyData":"-----BEGIN K"})"), "printed a key without its certificate"},
      {Credential(R"({"clientCertificateData":"C","clientKeyData":"K"})"),
       "printed a certificate or a key that is not PEM"},
      {Credential(R"({"token":"a","expirationTimestamp":"tomorrow"})"),
       "printed the expirationTimestamp \"tomorrow\", which is not a time like "
       "2026-11-15T04:35:00Z"},
      {Credential(R"({"token":"a","expirationTimestamp":17})"),
       "printed the expirationTimestamp 17, which is not a time like 2026-11-15T04:35:00Z"},
  };
  for (const auto& row : rows) {
    const auto answer = ParseExecAnswer(row.output, kV1);
    ASSERT_FALSE(answer) << row.output;
    EXPECT_THAT(answer.error().message, StartsWith(row.message)) << row.output;
  }
}

// --- the plugin ----------------------------------------------------------------------------------

class ExecPluginTest : public ::testing::Test {
 protected:
  std::shared_ptr<ExecPlugin> Make(codec::Value cluster = {}) {
    return std::make_shared<ExecPlugin>(exec, "user \"jane\" in /config", std::move(cluster),
                                        machine.Around());
  }

  std::string FailureOf() {
    const auto identity = Make()->Get();
    return identity ? "no failure" : identity.error().message;
  }

  size_t Runs() const { return machine.runner->commands.size(); }

  TestMachine machine;
  ExecSettings exec{.api_version = std::string(kV1), .command = "get-token"};
};

TEST_F(ExecPluginTest, TellsThePluginWhatItIsFor) {
  exec.arguments = {"eks", "--cluster=prod"};
  exec.environment = {{"AWS_PROFILE", "dev"}, {"HOME", "/elsewhere"}};
  machine.runner->Print(WithToken("abc"));
  ASSERT_EQ(Make()->Get()->token, "abc");
  const PluginCommand& command = machine.runner->commands.at(0);
  EXPECT_EQ(command.program, "get-token");
  EXPECT_THAT(command.arguments, ElementsAre("eks", "--cluster=prod"));
  EXPECT_THAT(
      command.environment,
      ElementsAre("AWS_PROFILE=dev", "HOME=/elsewhere",
                  "KUBERNETES_EXEC_INFO={\"kind\":\"ExecCredential\",\"apiVersion\":\"client."
                  "authentication.k8s.io/v1\",\"spec\":{\"interactive\":false}}"));
  EXPECT_FALSE(command.interactive);
}

TEST_F(ExecPluginTest, DescribesTheClusterIfAsked) {
  ClusterSettings cluster{.where = {},
                          .server = "https://a",
                          .authority = {},
                          .insecure = true,
                          .tls_server_name = "b",
                          .proxy_url = "http://p",
                          .disable_compression = true,
                          .exec_config = codec::Object{{"audience", "x"}}};
  EXPECT_EQ(codec::WriteJson(ExecClusterInfo(cluster, "pem")),
            R"({"server":"https://a","tls-server-name":"b","insecure-skip-tls-verify":true,)"
            R"("certificate-authority-data":"cGVt","proxy-url":"http://p",)"
            R"("disable-compression":true,"config":{"audience":"x"}})");
  EXPECT_EQ(codec::WriteJson(ExecClusterInfo({.server = "https://a"}, "")),
            R"({"server":"https://a","config":null})");
  EXPECT_EQ(ExecInfo(kBeta, true, codec::Object{{"server", "s"}}),
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1",)"
            R"("spec":{"cluster":{"server":"s"},"interactive":true}})");
}

TEST_F(ExecPluginTest, TalksToTheUserAsTheModeSays) {
  const struct {
    InteractiveMode mode;
    bool terminal;
    bool interactive;
  } rows[] = {{InteractiveMode::kNever, true, false},
              {InteractiveMode::kNever, false, false},
              {InteractiveMode::kIfAvailable, true, true},
              {InteractiveMode::kIfAvailable, false, false},
              {InteractiveMode::kAlways, true, true}};
  for (const auto& row : rows) {
    exec.interactive_mode = row.mode;
    machine.terminal = row.terminal;
    machine.runner->Print(WithToken("abc"));
    ASSERT_TRUE(Make()->Get());
    EXPECT_EQ(machine.runner->commands.back().interactive, row.interactive);
    EXPECT_THAT(machine.runner->commands.back().environment,
                Contains(EndsWith(fmt::format("\"interactive\":{}}}}}", row.interactive))));
  }
  machine.terminal = false;
  EXPECT_EQ(FailureOf(),
            "user \"jane\" in /config: the credential plugin \"get-token\" wants to talk to you "
            "(interactiveMode is Always), but standard input is not a terminal");
}

TEST_F(ExecPluginTest, KeepsTheCredentialUntilItExpires) {
  machine.runner->Print(WithToken("one", "2027-01-15T08:10:00Z"));  // In ten minutes.
  machine.runner->Print(WithToken("two"));
  const auto plugin = Make();
  EXPECT_EQ(plugin->Get()->token, "one");
  machine.clock.Advance(std::chrono::minutes(10) - std::chrono::nanoseconds(1));
  EXPECT_EQ(plugin->Get()->token, "one");
  EXPECT_EQ(Runs(), 1);
  machine.clock.Advance(std::chrono::nanoseconds(1));
  EXPECT_EQ(plugin->Get()->token, "two");
  machine.clock.Advance(std::chrono::hours(10'000));
  EXPECT_EQ(plugin->Get()->token, "two") << "it has no expiry";
  EXPECT_EQ(Runs(), 2);
}

TEST_F(ExecPluginTest, IsAskedAgainAfterARefusal) {
  machine.runner->Print(WithToken("one"));
  machine.runner->Print(WithToken("two"));
  const auto plugin = Make();
  const Identity one = *plugin->Get();
  EXPECT_TRUE(plugin->OnUnauthorized(one));
  const Identity two = *plugin->Get();
  EXPECT_EQ(two.token, "two");
  EXPECT_TRUE(plugin->OnUnauthorized(one)) << "another thread was late; `two` is new to it";
  EXPECT_EQ(*plugin->Get(), two);
  EXPECT_EQ(Runs(), 2);
}

TEST_F(ExecPluginTest, IsAskedOnceForACredentialThatStaysTheSame) {
  for (int i = 0; i < 3; ++i) machine.runner->Print(WithToken("same"));
  const auto plugin = Make();
  const Identity same = *plugin->Get();
  EXPECT_TRUE(plugin->OnUnauthorized(same));
  EXPECT_EQ(*plugin->Get(), same);
  EXPECT_FALSE(plugin->OnUnauthorized(same));
  EXPECT_EQ(*plugin->Get(), same);
  EXPECT_EQ(Runs(), 2);
  machine.clock.Advance(std::chrono::minutes(1));
  EXPECT_TRUE(plugin->OnUnauthorized(same)) << "a long-running program tries again";
  EXPECT_TRUE(plugin->Get());
  EXPECT_EQ(Runs(), 3);
}

TEST_F(ExecPluginTest, UsesAnExpiredCredentialUntilTheServerRefusesIt) {
  for (int i = 0; i < 3; ++i) machine.runner->Print(WithToken("old", "2027-01-15T07:00:00Z"));
  const auto plugin = Make();
  const Identity old = *plugin->Get();
  EXPECT_EQ(old.token, "old");
  EXPECT_TRUE(plugin->Get());
  EXPECT_EQ(Runs(), 1) << "not once for each request";
  EXPECT_TRUE(plugin->OnUnauthorized(old));
  const auto refused = plugin->Get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().message,
      "user \"jane\" in /config: the credential plugin \"get-token\" printed a credential that "
      "expired at 2027-01-15T07:00:00Z (it is 2027-01-15T08:00:00Z now), and the server "
      "refuses it; log in again, or correct the clock");
}

TEST_F(ExecPluginTest, SaysHowItFailed) {
  const std::string who = "user \"jane\" in /config: the credential plugin \"get-token\" ";
  machine.runner->runs.emplace_back(PluginRun{.code = 1, .errors = "no \x1b[31mlogin\r\nsorry\n"});
  EXPECT_EQ(FailureOf(), who + "failed with exit status 1; it wrote:\nno ?[31mlogin\nsorry");
  machine.runner->runs.emplace_back(PluginRun{.ending = PluginRun::Ending::kSignalled, .code = 11});
  EXPECT_EQ(FailureOf(), who + "was ended by signal 11 (Segmentation fault)");
  machine.runner->runs.emplace_back(PluginRun{.ending = PluginRun::Ending::kTimedOut});
  EXPECT_EQ(FailureOf(), who +
                             "did not answer within 60 s and was ended; run it by hand to see "
                             "what it waits for");
  machine.runner->runs.emplace_back(PluginRun{.ending = PluginRun::Ending::kTooMuchOutput});
  EXPECT_EQ(FailureOf(), who + "printed more than 1 MiB and was ended");
  machine.runner->runs.emplace_back(base::Fail(base::Reason::kInternalError, "Permission denied"));
  EXPECT_EQ(FailureOf(), who + "cannot be started: Permission denied");
  machine.runner->runs.emplace_back(PluginRun{.output = "{}", .errors = "careful"});
  EXPECT_EQ(FailureOf(), who +
                             "did not print an object of the kind ExecCredential; it wrote:\n"
                             "careful");
  EXPECT_EQ(machine.shown, "");
}

TEST_F(ExecPluginTest, AFailureIsNotKept) {
  machine.runner->runs.emplace_back(PluginRun{.code = 1});
  machine.runner->Print(WithToken("abc"));
  const auto plugin = Make();
  EXPECT_FALSE(plugin->Get());
  EXPECT_EQ(plugin->Get()->token, "abc");
}

TEST_F(ExecPluginTest, SaysHowToInstallIt) {
  EXPECT_EQ(FailureOf(),
            "user \"jane\" in /config: the credential plugin \"get-token\" is not on "
            "the PATH; install it, or use another user");
  exec.install_hint = "Get it from:\n  https://example.com \x1b[0m\n";
  EXPECT_THAT(FailureOf(),
              EndsWith("use another user\n\nGet it from:\n  https://example.com ?[0m"));
  exec.command = "/opt/get-token";
  EXPECT_THAT(FailureOf(), HasSubstr("\"/opt/get-token\" does not exist; install it"));
  exec.install_hint = std::string(100'000, 'x');
  EXPECT_LT(FailureOf().size(), 5000);
}

TEST_F(ExecPluginTest, ShowsWarningsOfASuccess) {
  machine.runner->runs.emplace_back(
      PluginRun{.output = WithToken("abc"), .errors = "old version\n"});
  EXPECT_TRUE(Make()->Get());
  EXPECT_EQ(machine.shown, "old version\n");
}

TEST_F(ExecPluginTest, ThreadsShareOneRun) {
  machine.runner->Print(WithToken("abc"));
  const auto plugin = Make();
  std::vector<std::string> tokens(8);
  std::vector<std::thread> threads;
  for (std::string& token : tokens) {
    threads.emplace_back([&] {
      if (const auto identity = plugin->Get()) token = identity->token;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(tokens, ::testing::Each("abc"));
  EXPECT_EQ(Runs(), 1);
}

}  // namespace
}  // namespace berth::kube
