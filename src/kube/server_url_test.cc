#include "kube/server_url.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "kube/request_timeout.h"

namespace berth::kube {
namespace {

std::string Shown(std::string_view text) {
  const auto url = ParseServerUrl(text);
  if (!url) return url.error().message;
  return fmt::format("{} {} {} {}", url->tls ? "tls" : "plain", url->host, url->port,
                     url->path_prefix);
}

TEST(ServerUrl, UnderstandsTheFormsOfAServer) {
  EXPECT_EQ(Shown("https://10.0.0.5:6443"), "tls 10.0.0.5 6443 ");
  EXPECT_EQ(Shown("https://berth.example"), "tls berth.example 443 ");
  EXPECT_EQ(Shown("https://berth.example/"), "tls berth.example 443 ");
  EXPECT_EQ(Shown("HTTPS://berth.example:"), "tls berth.example 443 ");
  EXPECT_EQ(Shown("http://127.0.0.1:8001"), "plain 127.0.0.1 8001 ");
  EXPECT_EQ(Shown("http://berth.example"), "plain berth.example 80 ");
  EXPECT_EQ(Shown("localhost:8001"), "plain localhost 8001 ");
  EXPECT_EQ(Shown("https://[fd00::1]:7000"), "tls fd00::1 7000 ");
  EXPECT_EQ(Shown("https://[fd00::1]/k8s/clusters/c-1/"), "tls fd00::1 443 /k8s/clusters/c-1");
  EXPECT_EQ(Shown("https://[fe80::1%25eth0]"), "tls fe80::1%eth0 443 ");
  EXPECT_EQ(Shown("https://rancher.example/k8s/clusters/c-1?x=1#y"),
            "tls rancher.example 443 /k8s/clusters/c-1");
}

TEST(ServerUrl, SaysWhatIsWrong) {
  EXPECT_EQ(Shown("ftp://a"), "does not begin with https:// or http://");
  EXPECT_EQ(Shown("https://"), "has no host");
  EXPECT_EQ(Shown("https://:6443"), "has no host");
  EXPECT_EQ(Shown("https:///path"), "has no host");
  EXPECT_EQ(Shown("https://a:99999"), "has the port \"99999\", which is not from 1 to 65535");
  EXPECT_EQ(Shown("https://a:0"), "has the port \"0\", which is not from 1 to 65535");
  EXPECT_EQ(Shown("https://a:6443x"), "has the port \"6443x\", which is not from 1 to 65535");
  EXPECT_EQ(Shown("https://fd00::1"),
            "has a host with several colons; write an IPv6 address in brackets: [fd00::1]");
  EXPECT_EQ(Shown("https://[fd00::1"), "has a host with [ but without ]");
  EXPECT_EQ(Shown("https://[fd00::1]x"), "has text after the ] of its host");
  EXPECT_EQ(Shown("https://[10.0.0.1]"), "has the host [10.0.0.1], which is not an IPv6 address");
  EXPECT_EQ(Shown("https://[fe80::1%eth0]"),
            "has the host [fe80::1%eth0], which is not an IPv6 address");
  EXPECT_EQ(Shown("https://a b"), "contains a character that a URL cannot have");
  EXPECT_EQ(Shown("https://a\r\nHost: b"), "contains a character that a URL cannot have");
  EXPECT_EQ(Shown("https://a*b"), "has the host \"a*b\", which is not a name or an address");
  EXPECT_EQ(Shown("https://jane:pw@a"),
            "contains a user; user and password belong to the user of the kubeconfig");
  EXPECT_EQ(Shown("https://" + std::string(3000, 'a')), "is too long");
}

TEST(ServerUrl, ChecksProxies) {
  const auto shown = [](std::string_view text) {
    const auto url = CheckProxyUrl(text);
    return url ? *url : url.error().message;
  };
  EXPECT_EQ(shown("http://proxy:3128"), "http://proxy:3128");
  EXPECT_EQ(shown("HTTP://user:p%40w@proxy:3128/"), "http://user:p%40w@proxy:3128");
  EXPECT_EQ(shown("https://[fd00::1]:3128"), "https://[fd00::1]:3128");
  EXPECT_EQ(shown("socks5://proxy"), "socks5://proxy");
  EXPECT_EQ(shown("proxy:3128"), "does not begin with http://, https:// or socks5://");
  EXPECT_EQ(shown("http://user:secret@"), "has no host");
}

TEST(RequestTimeout, ReadsWhatKubectlReads) {
  const auto shown = [](std::string_view text) {
    const auto time = ParseRequestTimeout(text);
    return time ? fmt::to_string(time->count()) : time.error().message;
  };
  EXPECT_EQ(shown(""), "0");
  EXPECT_EQ(shown("0"), "0");
  EXPECT_EQ(shown("30"), "30000000000");
  EXPECT_EQ(shown("1m30s"), "90000000000");
  EXPECT_EQ(shown("1.5s"), "1500000000");
  EXPECT_EQ(shown("500ms"), "500000000");
  EXPECT_EQ(shown("2h"), "7200000000000");
  for (const char* bad :
       {"x", "-1", "1x", "1.5", "5s3", "0s3", "s", "inf", "nan", "1e3", " 1", "99999999999999h"}) {
    EXPECT_EQ(shown(bad), fmt::format("--request-timeout \"{}\" is not a time: write seconds, like "
                                      "30, or numbers with units, like 1m30s",
                                      bad));
  }
}

}  // namespace
}  // namespace berth::kube
