#include "berth/ui/team_door.h"

#include <gtest/gtest.h>

#include <memory>

namespace berth::cli {
namespace {

http::Request Through(std::optional<http::ClientIdentity> identity) {
  auto peer = std::make_shared<http::Peer>();
  peer->tls = true;
  peer->identity = std::move(identity);
  return {.method = "GET", .path = "/", .peer = std::move(peer)};
}

TEST(TrustedProxyTest, NamesTheUser) {
  const TrustedProxy proxy{.names = {"front"}};
  http::Request request = Through(http::ClientIdentity{.common_name = "front"});
  EXPECT_FALSE(proxy.WhoIs(request));
  request.headers.Add("X-Remote-User", "jane");
  request.headers.Add("X-Remote-Group", "ops");
  request.headers.Add("x-remote-group", "dev");
  const auto who = proxy.WhoIs(request);
  ASSERT_TRUE(who);
  EXPECT_EQ(who->user, "jane");
  EXPECT_EQ(who->groups, (std::vector<std::string>{"ops", "dev"}));
  EXPECT_EQ(who->token, "");
}

TEST(TrustedProxyTest, NobodyElseIsBelieved) {
  const TrustedProxy proxy{.names = {"front"}};
  for (const auto& identity :
       {std::optional<http::ClientIdentity>(), std::optional(http::ClientIdentity{}),
        std::optional(http::ClientIdentity{.common_name = "Front"}),
        std::optional(http::ClientIdentity{.common_name = "x", .organizations = {"front"}})}) {
    http::Request request = Through(identity);
    request.headers.Add("x-remote-user", "jane");
    EXPECT_FALSE(proxy.WhoIs(request));
  }
  http::Request any = Through(http::ClientIdentity{.common_name = "x"});
  any.headers.Add("x-remote-user", "jane");
  EXPECT_TRUE(TrustedProxy().WhoIs(any));
}

TEST(TrustedProxyTest, UnclearHeadersNameNobody) {
  const TrustedProxy proxy;
  http::Request twice = Through(http::ClientIdentity{.common_name = "front"});
  twice.headers.Add("x-remote-user", "jane");
  twice.headers.Add("x-remote-user", "mallory");
  EXPECT_FALSE(proxy.WhoIs(twice));
  http::Request empty = Through(http::ClientIdentity{.common_name = "front"});
  empty.headers.Add("x-remote-user", "");
  EXPECT_FALSE(proxy.WhoIs(empty));
  http::Request endless = Through(http::ClientIdentity{.common_name = "front"});
  endless.headers.Add("x-remote-user", std::string(5000, 'x'));
  EXPECT_FALSE(proxy.WhoIs(endless));
}

}  // namespace
}  // namespace berth::cli
