#include "kube/user_credentials.h"

#include <gtest/gtest.h>

#include <string>

#include "kube/login.h"
#include "kube/testing/kube_kit.h"

namespace berth::kube {
namespace {

class UserCredentialsTest : public ::testing::Test {
 protected:
  std::string TokenOf(UserCredentials& credentials) {
    const auto identity = credentials.Get();
    return identity ? identity->token : identity.error().message;
  }

  TestMachine machine;
  UserSettings user{.where = "user \"jane\" in /c"};
};

TEST_F(UserCredentialsTest, ReadsTheTokenAgainEveryMinute) {
  user.token_file = "/token";
  machine.files["/token"] = " one\n";
  UserCredentials credentials(user, machine.Around());
  EXPECT_EQ(TokenOf(credentials), "one");
  machine.files["/token"] = "two\n";
  machine.clock.Advance(std::chrono::seconds(59));
  EXPECT_EQ(TokenOf(credentials), "one");
  machine.clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(TokenOf(credentials), "two");
}

TEST_F(UserCredentialsTest, KeepsTheTokenWhileItsFileIsMissing) {
  user.token_file = "/token";
  machine.files["/token"] = "one";
  UserCredentials credentials(user, machine.Around());
  EXPECT_EQ(TokenOf(credentials), "one");
  machine.files.clear();
  machine.clock.Advance(std::chrono::hours(1));
  EXPECT_EQ(TokenOf(credentials), "one");
  machine.files["/token"] = "two";
  EXPECT_EQ(TokenOf(credentials), "two");
}

TEST_F(UserCredentialsTest, ReadsTheTokenAgainAfterARefusal) {
  user.token_file = "/token";
  machine.files["/token"] = "one";
  UserCredentials credentials(user, machine.Around());
  const Identity one = *credentials.Get();
  EXPECT_FALSE(credentials.OnUnauthorized(one)) << "the file has not changed";
  machine.files["/token"] = "two";
  EXPECT_TRUE(credentials.OnUnauthorized(one));
  EXPECT_EQ(TokenOf(credentials), "two");
  EXPECT_TRUE(credentials.OnUnauthorized(one)) << "it has another identity already";

  UserCredentials fixed({.where = {}, .token = "fixed"}, machine.Around());
  EXPECT_FALSE(fixed.OnUnauthorized(*fixed.Get()));
}

TEST_F(UserCredentialsTest, TheFileOfATokenCountsBeforeTheToken) {
  user.token = "inline";
  user.token_file = "/token";
  machine.files["/token"] = "file";
  UserCredentials both(user, machine.Around());
  EXPECT_EQ(TokenOf(both), "file");
  machine.files.clear();
  UserCredentials missing(user, machine.Around());
  EXPECT_EQ(TokenOf(missing), "inline");
}

TEST_F(UserCredentialsTest, ReadsCertificatesAgainToo) {
  user.certificate.path = "/cert";
  user.key = {.pem = "-----BEGIN K", .path = "/not/read"};
  machine.files["/cert"] = "-----BEGIN 1";
  UserCredentials credentials(user, machine.Around());
  EXPECT_EQ(credentials.Get()->certificate_pem, "-----BEGIN 1");
  EXPECT_EQ(credentials.Get()->key_pem, "-----BEGIN K");
  machine.files["/cert"] = "-----BEGIN 2";
  machine.clock.Advance(std::chrono::minutes(1));
  EXPECT_EQ(credentials.Get()->certificate_pem, "-----BEGIN 2");
}

TEST_F(UserCredentialsTest, SaysWhatIsWrong) {
  const auto message = [&](UserSettings settings) {
    settings.where = user.where;
    UserCredentials credentials(std::move(settings), machine.Around());
    const auto identity = credentials.Get();
    return identity ? "no error" : identity.error().message;
  };
  machine.files = {{"/empty", "\n"}, {"/text", "two words"}, {"/der", "\x30\x82"}};
  const std::string who = "user \"jane\" in /c: ";
  EXPECT_EQ(message({.token_file = "/none"}),
            who + "tokenFile: cannot read /none: No such file or directory");
  EXPECT_EQ(message({.token_file = "/empty"}), who + "tokenFile: /empty is empty");
  EXPECT_EQ(message({.token_file = "/text"}),
            who + "the token in /text contains spaces or other characters that no token has");
  EXPECT_EQ(message({.token = "a\nb"}),
            who + "the token contains spaces or other characters that no token has");
  EXPECT_EQ(message({.certificate = {.pem = {}, .path = "/none"}}),
            who + "client-certificate: cannot read /none: No such file or directory");
  EXPECT_EQ(message({.key = {.pem = {}, .path = "/der"}}),
            who + "client-key: /der does not contain PEM (a block that begins with -----BEGIN)");
}

TEST_F(UserCredentialsTest, BecomesOptionsAndHeadersOfAClient) {
  Access access{.headers = {{"Impersonate-Group", "a"}, {"Impersonate-Group", "b"}},
                .request_timeout = std::chrono::seconds(5)};
  access.client.tls = http::ClientTls{.ca_pem = "ca"};
  const Identity token{.token = "t", .certificate_pem = "c", .key_pem = "k"};
  const http::ClientOptions options = ClientOptionsOf(access, token);
  EXPECT_EQ(options.token, "t");
  EXPECT_EQ(options.tls->ca_pem, "ca");
  EXPECT_EQ(options.tls->certificate_pem, "c");
  EXPECT_EQ(options.tls->key_pem, "k");
  EXPECT_EQ(options.read_timeout, std::chrono::seconds(5));
  EXPECT_EQ(HeadersOf(access, token).FindAll("impersonate-group").size(), 2);
  EXPECT_FALSE(HeadersOf(access, token).Find("authorization"));
  EXPECT_EQ(HeadersOf(access, {.user = "jane", .password = "pw"}).Find("authorization"),
            "Basic amFuZTpwdw==");
}

}  // namespace
}  // namespace berth::kube
