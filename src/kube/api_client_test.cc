#include "kube/api_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "kube/status.h"
#include "kube/testing/scripted_server.h"

namespace berth::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::Not;

/// Notes how long it should sleep.
class Sleeps {
 public:
  ApiClientContext Context() {
    return {.random = random_, .sleep = [this](nanoseconds time) {
              slept.push_back(time);
              return true;
            }};
  }
  std::vector<nanoseconds> slept;

 private:
  base::SeededRandom random_{1};
};

/// Hands out a new token or certificate after each 401, up to a number of times.
class TestCredentials final : public Credentials {
 public:
  explicit TestCredentials(std::vector<Identity> identities) : identities_(std::move(identities)) {}
  base::Result<Identity> Get() override { return identities_[at_]; }
  bool OnUnauthorized(const Identity& used) override {
    refused.push_back(used.token);
    if (at_ + 1 == identities_.size()) return false;
    ++at_;
    return true;
  }
  std::vector<std::string> refused;

 private:
  const std::vector<Identity> identities_;
  size_t at_ = 0;
};

TEST(ApiClient, SendsPathPrefixHeadersAndIdentity) {
  ScriptedServer server([](const auto&, size_t) { return Reply(200, "{}"); });
  Sleeps sleeps;
  Access access = server.MakeAccess();
  access.path_prefix = "/k8s/clusters/c-1";
  access.headers = {{"Impersonate-User", "jane"}};
  access.credentials =
      std::make_shared<TestCredentials>(std::vector<Identity>{{.user = "u", .password = "p"}});
  ApiClient client(access, sleeps.Context());
  ASSERT_TRUE(client.Get({.path = "/version"}).has_value());
  EXPECT_THAT(server.Heads()[0],
              AllOf(HasSubstr("GET /k8s/clusters/c-1/version HTTP/1.1"),
                    HasSubstr("impersonate-user: jane"), HasSubstr("authorization: Basic dTpw"),
                    HasSubstr("accept: application/json")));
}

TEST(ApiClient, AsksForANewIdentityOnceAfter401) {
  ScriptedServer server([](const std::string& head, size_t) {
    return head.find("Bearer new") != std::string::npos
               ? Reply(200, "yes")
               : Reply(401, StatusBody(401, "Unauthorized", "Unauthorized"));
  });
  Sleeps sleeps;
  Access access = server.MakeAccess();
  auto credentials =
      std::make_shared<TestCredentials>(std::vector<Identity>{{.token = "old"}, {.token = "new"}});
  access.credentials = credentials;
  {
    ApiClient client(access, sleeps.Context());
    const auto answer = client.Get({.path = "/"});
    ASSERT_TRUE(answer.has_value()) << answer.error().error.message;
    EXPECT_EQ(answer->body, "yes");
  }
  EXPECT_THAT(credentials->refused, ElementsAre("old"));
  EXPECT_EQ(server.Connections(), 1) << "a token needs no new connection";

  access.credentials = std::make_shared<TestCredentials>(
      std::vector<Identity>{{.token = "a"}, {.token = "b"}, {.token = "new"}});
  ApiClient wrong(access, sleeps.Context());
  const auto refused = wrong.Get({.path = "/"});
  ASSERT_FALSE(refused.has_value()) << "it asks only once";
  EXPECT_EQ(refused.error().code, 401);
  EXPECT_THAT(refused.error().error.message,
              AllOf(HasSubstr("does not accept the credentials"), HasSubstr("(a test)")));
}

TEST(ApiClient, OpensANewConnectionForANewCertificate) {
  ScriptedServer server(
      [](const auto&, size_t index) { return index == 0 ? Reply(401, "no") : Reply(200, "yes"); });
  Sleeps sleeps;
  Access access = server.MakeAccess();
  access.credentials = std::make_shared<TestCredentials>(
      std::vector<Identity>{{.certificate_pem = "one"}, {.certificate_pem = "two"}});
  ApiClient client(access, sleeps.Context());
  EXPECT_TRUE(client.Get({.path = "/"}).has_value());
  EXPECT_EQ(server.Connections(), 2);
}

TEST(ApiClient, WaitsAsLongAsABusyServerAsks) {
  ScriptedServer server([](const auto&, size_t index) {
    if (index == 0) return Reply(429, "busy", "Retry-After: 7\r\n");
    if (index == 1) return Reply(503, "starting", "Retry-After: 2\r\n");
    return Reply(200, "yes");
  });
  Sleeps sleeps;
  ApiClient client(server.MakeAccess(), sleeps.Context());
  ASSERT_TRUE(client.Get({.path = "/"}).has_value());
  EXPECT_THAT(sleeps.slept, ElementsAre(AllOf(Ge(seconds(7)), Le(seconds(9))),
                                        AllOf(Ge(seconds(2)), Le(seconds(3)))));
}

TEST(ApiClient, GivesUpOnAServerThatStaysBusy) {
  ScriptedServer server(
      [](const auto&, size_t) { return Reply(429, "busy", "Retry-After: 1\r\n"); });
  Sleeps sleeps;
  ApiClient client(server.MakeAccess(), sleeps.Context());
  const auto answer = client.Get({.path = "/"});
  EXPECT_EQ(answer.error().error.reason, base::Reason::kTooManyRequests);
  EXPECT_EQ(server.Heads().size(), 6U);
  ScriptedServer slow(
      [](const auto&, size_t) { return Reply(429, "busy", "Retry-After: 3600\r\n"); });
  ApiClient impatient(slow.MakeAccess(), sleeps.Context());
  EXPECT_FALSE(impatient.Get({.path = "/"}).has_value());
  EXPECT_EQ(slow.Heads().size(), 1U) << "an hour is too long";
  ScriptedServer broken([](const auto&, size_t) { return Reply(500, "oh"); });
  ApiClient direct(broken.MakeAccess(), sleeps.Context());
  EXPECT_EQ(direct.Get({.path = "/"}).error().error.reason, base::Reason::kInternalError);
  EXPECT_EQ(broken.Heads().size(), 1U);
}

TEST(ApiClient, TriesAgainAfterALostConnection) {
  ScriptedServer server([](const auto&, size_t index) {
    return index < 2 ? Script{"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhal", Then::kCut}
                     : Reply(200, "whole");
  });
  Sleeps sleeps;
  ApiClient client(server.MakeAccess(), sleeps.Context());
  EXPECT_EQ(client.Get({.path = "/"})->body, "whole");
  EXPECT_EQ(sleeps.slept.size(), 2U);
  EXPECT_LT(sleeps.slept[0], sleeps.slept[1]);

  ScriptedServer cut([](const auto&, size_t) {
    return Script{"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhal", Then::kCut};
  });
  ApiClient streaming(cut.MakeAccess(), sleeps.Context());
  std::string seen;
  const auto answer = streaming.Get({.path = "/"}, [&](const auto&, std::string_view part) {
    seen += part;
    return true;
  });
  EXPECT_FALSE(answer.has_value());
  EXPECT_EQ(seen, "hal") << "bytes that were delivered are not delivered again";
  EXPECT_THAT(answer.error().error.message,
              AllOf(HasSubstr("cannot reach the server http://127.0.0.1:"), HasSubstr("(a test)")));
}

TEST(ApiClient, LimitsTheTimeOfARequestButNotOfAWatch) {
  ScriptedServer server([](const auto&, size_t) { return Stream({"x"}, Then::kHang); });
  Sleeps sleeps;
  Access access = server.MakeAccess();
  access.request_timeout = milliseconds(50);
  ApiClient client(access, sleeps.Context());
  EXPECT_EQ(client.Get({.path = "/"}).error().error.reason, base::Reason::kTimeout);
  EXPECT_TRUE(sleeps.slept.empty()) << "the user wants no longer wait";
  const auto silent = client.Get({.path = "/", .read_timeout = milliseconds(60), .endless = true});
  EXPECT_THAT(silent.error().error.message, HasSubstr("does not answer"));
}

TEST(ApiClient, NamesTheMissingRight) {
  const std::string_view list =
      R"(ipaddresses.networking.k8s.io is forbidden: User "jane" cannot list resource "ipaddresses" in API group "networking.k8s.io" at the cluster scope: RBAC: not found)";
  EXPECT_EQ(MissingRight(list),
            R"(user "jane" may not list ipaddresses.networking.k8s.io at the cluster scope)");
  EXPECT_EQ(
      MissingRight(
          R"(services is forbidden: User "system:serviceaccount:a:b" cannot watch resource "services" in API group "" in the namespace "shop")"),
      R"(user "system:serviceaccount:a:b" may not watch services in the namespace "shop")");
  EXPECT_EQ(MissingRight(R"(forbidden: User "system:anonymous" cannot get path "/flagz")"),
            R"(user "system:anonymous" may not get /flagz)");
  EXPECT_EQ(MissingRight("go away"), "go away");
  ScriptedServer server([](const auto&, size_t) {
    return Reply(403, StatusBody(403, "Forbidden",
                                 R"(services is forbidden: User \"jo\" cannot list resource )"
                                 R"(\"services\" in API group \"\" at the cluster scope)"));
  });
  Sleeps sleeps;
  ApiClient client(server.MakeAccess(), sleeps.Context());
  const auto answer = client.Get({.path = "/api/v1/services"});
  EXPECT_EQ(answer.error().error.reason, base::Reason::kForbidden);
  EXPECT_THAT(answer.error().error.message,
              testing::StartsWith(R"(user "jo" may not list services at the cluster scope)"));
}

TEST(ApiClient, TellsWhatIsMissingFromWhatIsBroken) {
  ScriptedServer server([](const std::string& head, size_t) {
    if (head.find("/missing") != std::string::npos) return Reply(404, "404 page not found\n");
    if (head.find("/moved") != std::string::npos) {
      return Reply(302, "", "Location: https://login.example\r\n");
    }
    return Reply(502, "<html>\r\n\x01\xff bad gateway</html>");
  });
  Sleeps sleeps;
  ApiClient client(server.MakeAccess(), sleeps.Context());
  const auto missing = client.Get({.path = "/missing?limit=1"});
  EXPECT_EQ(missing.error().code, 404);
  EXPECT_EQ(missing.error().error.reason, base::Reason::kNotFound);
  EXPECT_THAT(missing.error().error.message, HasSubstr("does not have /missing: 404 page"));
  EXPECT_THAT(client.Get({.path = "/moved"}).error().error.message,
              HasSubstr("redirects to https://login.example"));
  const std::string message = client.Get({.path = "/"}).error().error.message;
  EXPECT_THAT(message,
              AllOf(HasSubstr("answered 502"), HasSubstr("bad gateway"), Not(HasSubstr("\x01"))));
}

}  // namespace
}  // namespace berth::kube
