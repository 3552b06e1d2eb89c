#include "ui/origin_check.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace berth::ui {
namespace {

using Fields = std::initializer_list<std::pair<std::string_view, std::string_view>>;

http::Request Get(Fields headers, const char* method = "GET") {
  return {.method = method, .path = "/", .headers = headers};
}

OriginCheck Local() { return OriginCheck({.hosts = LoopbackHosts(4321)}); }

TEST(OriginTest, OnlyLoopbackWithThePortIsOwn) {
  const OriginCheck check = Local();
  for (const char* own : {"127.0.0.1:4321", "localhost:4321", "[::1]:4321", "LocalHost:4321"}) {
    EXPECT_TRUE(check.IsOwnHost(own)) << own;
  }
  for (const char* other :
       {"", "127.0.0.1", "127.0.0.1:4322", "127.0.0.1:04321", "localhost.:4321", "evil.com:4321",
        "localhost.evil.com:4321", "127.0.0.1:4321.evil.com", "[::1]", "::1:4321", "[::1:4321",
        "127.0.0.2:4321", "user@127.0.0.1:4321", "127.0.0.1:4321 ", "[", "]", ":", "[]:4321"}) {
    EXPECT_FALSE(check.IsOwnHost(other)) << other;
  }
  EXPECT_FALSE(check.IsOwnHost(std::string(100000, 'a')));
}

TEST(OriginTest, Port80IsLeftOut) {
  const OriginCheck check({.hosts = LoopbackHosts(80)});
  EXPECT_TRUE(check.IsOwnHost("127.0.0.1"));
  EXPECT_TRUE(check.IsOwnHost("localhost:80"));
}

TEST(OriginTest, NamesOfATeamCountWithEveryPort) {
  const OriginCheck check({.tls = true, .names = {"ui.example.com", "*.Corp.example"}});
  for (const char* own : {"ui.example.com", "UI.example.com:9464", "a.corp.example:443"}) {
    EXPECT_TRUE(check.IsOwnHost(own)) << own;
  }
  for (const char* other :
       {"example.com", "x.ui.example.com", "corp.example", "a.b.corp.example", ".corp.example",
        "10.0.0.1", "ui.example.com:x", "ui.example.com:123456", "ui.example.com:1:2"}) {
    EXPECT_FALSE(check.IsOwnHost(other)) << other;
  }
}

TEST(OriginTest, AddressesMayCount) {
  const OriginCheck check({.any_address = true});
  for (const char* own : {"10.0.0.1", "10.0.0.1:9464", "[fd00::1]:9464", "[::ffff:1.2.3.4]"}) {
    EXPECT_TRUE(check.IsOwnHost(own)) << own;
  }
  for (const char* other : {"10.0.0.evil", "1.2.3.4.evil.com", "1.2.3", "a.1.2.3", "[evil.com]"}) {
    EXPECT_FALSE(check.IsOwnHost(other)) << other;
  }
}

TEST(OriginTest, OtherSitesAreRefused) {
  const OriginCheck check = Local();
  const auto is_refused = [&check](Fields headers, Asked asked, const char* method = "GET") {
    return check.WhyRefused(Get(headers, method), asked).has_value();
  };
  const std::pair<std::string_view, std::string_view> host = {"host", "127.0.0.1:4321"};
  for (const Asked asked : {Asked::kPage, Asked::kData}) {
    EXPECT_FALSE(is_refused({host}, asked));
    EXPECT_FALSE(is_refused({host, {"origin", "http://127.0.0.1:4321"}}, asked));
    EXPECT_FALSE(is_refused({host, {"sec-fetch-site", "same-origin"}}, asked));
    EXPECT_FALSE(is_refused({host, {"sec-fetch-site", "none"}}, asked));
    EXPECT_TRUE(is_refused({}, asked));
    EXPECT_TRUE(is_refused({{"host", "evil.com:4321"}}, asked));
    for (const char* origin : {"null", "", "http://evil.com", "https://127.0.0.1:4321",
                               "http://127.0.0.1:4322", "http://localhost:4321"}) {
      EXPECT_TRUE(is_refused({host, {"origin", origin}}, asked)) << origin;
    }
    EXPECT_TRUE(is_refused(
        {host, {"origin", "http://127.0.0.1:4321"}, {"origin", "http://127.0.0.1:4321"}}, asked));
    for (const char* site : {"cross-site", "same-site", "Same-Origin", ""}) {
      EXPECT_TRUE(is_refused({host, {"sec-fetch-site", site}}, asked)) << site;
    }
  }
}

TEST(OriginTest, PeopleMayFollowLinksToPages) {
  const OriginCheck check = Local();
  const Fields visit = {{"host", "127.0.0.1:4321"},
                        {"sec-fetch-site", "cross-site"},
                        {"sec-fetch-mode", "navigate"},
                        {"sec-fetch-dest", "document"}};
  EXPECT_FALSE(check.WhyRefused(Get(visit), Asked::kPage));
  EXPECT_TRUE(check.WhyRefused(Get(visit), Asked::kData));
  EXPECT_TRUE(check.WhyRefused(Get(visit, "POST"), Asked::kPage));
  EXPECT_TRUE(check.WhyRefused(Get({{"host", "127.0.0.1:4321"},
                                    {"sec-fetch-site", "cross-site"},
                                    {"sec-fetch-mode", "navigate"},
                                    {"sec-fetch-dest", "iframe"}}),
                               Asked::kPage));
}

TEST(OriginTest, AProxyMayChangeTheHost) {
  const OriginCheck check({.tls = true, .names = {"ui.example.com"}, .any_address = true});
  const auto is_refused = [&check](const char* origin) {
    return check.WhyRefused(Get({{"host", "10.0.0.1:9464"}, {"origin", origin}}), Asked::kData)
        .has_value();
  };
  EXPECT_FALSE(is_refused("https://ui.example.com"));
  EXPECT_FALSE(is_refused("https://10.0.0.1:9464"));
  EXPECT_TRUE(is_refused("https://10.0.0.2"));
  EXPECT_TRUE(is_refused("http://ui.example.com"));
  EXPECT_TRUE(is_refused("https://evil.com"));
}

}  // namespace
}  // namespace berth::ui
