#include "kube/proxy_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace berth::kube {
namespace {

TEST(ProxyEnv, NoProxyMatchesAsInGo) {
  const struct {
    std::string_view no_proxy;
    std::string_view host;
    uint16_t port;
    bool around;
  } rows[] = {
      {"", "api.example.com", 443, false},
      {"", "localhost", 443, true},
      {"", "LocalHost", 443, true},
      {"", "127.0.0.1", 443, true},
      {"", "127.8.9.1", 443, true},
      {"", "::1", 443, true},
      {"", "128.0.0.1", 443, false},
      {"*", "api.example.com", 443, true},
      {"x, * ,y", "10.0.0.1", 443, true},
      {"example.com", "example.com", 443, true},
      {"example.com", "api.example.com", 443, true},
      {"EXAMPLE.com", "api.Example.COM", 443, true},
      {"example.com", "badexample.com", 443, false},
      {".example.com", "api.example.com", 443, true},
      {".example.com", "example.com", 443, false},
      {"*.example.com", "api.example.com", 443, true},
      {"*.example.com", "example.com", 443, false},
      {"example.com:6443", "api.example.com", 6443, true},
      {"example.com:6443", "api.example.com", 443, false},
      {"other.com, example.com", "example.com", 443, true},
      {" , ,example.com", "example.com", 443, true},
      {":443", "example.com", 443, false},
      {"10.0.0.0/8", "10.1.2.3", 443, true},
      {"10.0.0.0/8", "11.1.2.3", 443, false},
      {"10.0.0.0/8", "ten.example.com", 443, false},
      {"fd00::/8", "fd12::1", 443, true},
      {"10.1.2.3", "10.1.2.3", 443, true},
      {"10.1.2.3:6443", "10.1.2.3", 6443, true},
      {"10.1.2.3:6443", "10.1.2.3", 443, false},
      {"fd00::1", "fd00::1", 443, true},
      {"fd00:0:0::1", "fd00::1", 443, true},
      {"[fd00::1]:6443", "fd00::1", 6443, true},
      {"[fd00::1]:6443", "fd00::1", 443, false},
      {"::ffff:10.1.2.3", "10.1.2.3", 443, true},
      {"10.1.2", "10.1.2.3", 443, false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(GoesAroundProxy(row.no_proxy, row.host, row.port), row.around)
        << row.no_proxy << " for " << row.host << ":" << row.port;
  }
}

std::string ProxyFor(const std::string& server, std::map<std::string, std::string> variables) {
  const auto url = ParseServerUrl(server);
  const auto proxy = ProxyFromEnvironment(
      *url, [&](std::string_view name) { return variables[std::string(name)]; });
  return proxy ? *proxy : proxy.error().message;
}

TEST(ProxyEnv, TakesTheVariableOfTheScheme) {
  EXPECT_EQ(ProxyFor("https://a", {}), "");
  EXPECT_EQ(ProxyFor("https://a", {{"HTTPS_PROXY", "http://p:3128"}}), "http://p:3128");
  EXPECT_EQ(ProxyFor("https://a", {{"https_proxy", "http://p:3128"}}), "http://p:3128");
  EXPECT_EQ(ProxyFor("https://a", {{"HTTPS_PROXY", "http://P"}, {"https_proxy", "http://q"}}),
            "http://P");
  EXPECT_EQ(ProxyFor("https://a", {{"HTTP_PROXY", "http://p"}}), "");
  EXPECT_EQ(ProxyFor("http://a", {{"HTTP_PROXY", "http://p"}}), "http://p");
  EXPECT_EQ(ProxyFor("http://a", {{"http_proxy", "http://p"}}), "http://p");
  EXPECT_EQ(ProxyFor("http://a", {{"HTTPS_PROXY", "http://p"}}), "");
  EXPECT_EQ(ProxyFor("https://a", {{"ALL_PROXY", "http://p"}}), "") << "Go does not know it";
  EXPECT_EQ(ProxyFor("https://a", {{"HTTPS_PROXY", "p:3128"}}), "http://p:3128");
  EXPECT_EQ(ProxyFor("https://a", {{"HTTPS_PROXY", "socks5h://p"}}), "socks5://p");
  EXPECT_EQ(ProxyFor("https://a", {{"HTTPS_PROXY", "http://p"}, {"NO_PROXY", "a"}}), "");
  EXPECT_EQ(ProxyFor("https://a", {{"HTTPS_PROXY", "http://p"}, {"no_proxy", "a:443"}}), "");
  EXPECT_EQ(ProxyFor("https://a:1", {{"HTTPS_PROXY", "http://p"}, {"no_proxy", "a:443"}}),
            "http://p");
}

TEST(ProxyEnv, NamesTheVariableThatIsWrong) {
  EXPECT_EQ(ProxyFor("https://a", {{"https_proxy", "ftp://user:secret@p"}}),
            "the proxy in the environment variable https_proxy does not begin with http://, "
            "https:// or socks5://; correct it, or unset it to connect directly");
  EXPECT_EQ(ProxyFor("https://127.0.0.1", {{"https_proxy", "ftp://p"}}), "") << "not used";
}

}  // namespace
}  // namespace berth::kube
