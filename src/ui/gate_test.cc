#include "ui/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::ui {
namespace {

using testing::HasSubstr;
using testing::Not;

http::Request Visit(std::string path, const char* method = "GET") {
  return {.method = method, .path = std::move(path)};
}

http::Request With(const std::string& cookie) {
  http::Request request = Visit("/");
  request.headers.Add("cookie", cookie);
  return request;
}

/// Returns "name=value" of the cookie that an answer sets.
std::string CookieOf(const http::Response& response) {
  const std::string cookie(response.headers.Find("set-cookie").value_or(""));
  return cookie.substr(0, cookie.find(';'));
}

TEST(GateTest, ALinkBecomesACookieOnce) {
  Gate gate;
  const std::string link = gate.NewLink();
  EXPECT_FALSE(gate.MayPass(Visit("/")));
  const Gate::Opened first = gate.Open(Visit(link));
  EXPECT_EQ(first.visit, Gate::Visit::kOpened);
  EXPECT_EQ(first.response.code, 200);
  EXPECT_THAT(first.response.body.Flatten(), HasSubstr("http-equiv=\"refresh\""));
  const std::string cookie = CookieOf(first.response);
  EXPECT_THAT(cookie, testing::StartsWith(gate.cookie_name() + "="));
  EXPECT_THAT(cookie, Not(HasSubstr(link.substr(Gate::kLinkPath.size()))));
  EXPECT_TRUE(gate.MayPass(With(cookie)));
  EXPECT_TRUE(gate.MayPass(With("other=1; " + gate.cookie_name() + "=wrong; " + cookie)));

  const Gate::Opened second = gate.Open(Visit(link));
  EXPECT_EQ(second.visit, Gate::Visit::kUsedBefore);
  EXPECT_EQ(second.response.code, 401);
  EXPECT_EQ(CookieOf(second.response), "");
  EXPECT_THAT(second.response.body.Flatten(), HasSubstr("This link was used"));
}

TEST(GateTest, OnlyTheWholeCookieCounts) {
  Gate gate;
  Gate other;
  const std::string cookie = CookieOf(gate.Open(Visit(gate.NewLink())).response);
  const std::string theirs = CookieOf(other.Open(Visit(other.NewLink())).response);
  EXPECT_FALSE(other.MayPass(With(cookie)));
  const std::string value = theirs.substr(theirs.find('='));
  for (const std::string& wrong :
       {gate.cookie_name(), gate.cookie_name() + "=", cookie.substr(0, cookie.size() - 1),
        cookie + "0", gate.cookie_name() + value, "x" + cookie}) {
    EXPECT_FALSE(gate.MayPass(With(wrong))) << wrong;
  }
}

TEST(GateTest, WrongLinksOpenNothing) {
  Gate gate;
  EXPECT_EQ(gate.Open(Visit("/open/")).visit, Gate::Visit::kUnknown);
  const std::string link = gate.NewLink();
  for (const std::string& wrong : {std::string("/open/"), link + "0", link + "/",
                                   link.substr(0, link.size() - 1), "/open/" + NewSecret()}) {
    const Gate::Opened opened = gate.Open(Visit(wrong));
    EXPECT_EQ(opened.visit, Gate::Visit::kUnknown) << wrong;
    EXPECT_EQ(opened.response.code, 401);
    EXPECT_EQ(CookieOf(opened.response), "");
  }
  EXPECT_EQ(gate.Open(Visit(link)).visit, Gate::Visit::kOpened);
}

TEST(GateTest, LookingAheadDoesNotUseTheLink) {
  Gate gate;
  const std::string link = gate.NewLink();
  EXPECT_EQ(gate.Open(Visit(link, "HEAD")).visit, Gate::Visit::kNotYet);
  http::Request prefetch = Visit(link);
  prefetch.headers.Add("sec-purpose", "prefetch;prerender");
  EXPECT_EQ(gate.Open(prefetch).visit, Gate::Visit::kNotYet);
  EXPECT_EQ(CookieOf(gate.Open(prefetch).response), "");
  EXPECT_EQ(gate.Open(Visit(link)).visit, Gate::Visit::kOpened);
}

TEST(GateTest, ANewLinkReplacesTheOneBefore) {
  Gate gate;
  const std::string old = gate.NewLink();
  const std::string link = gate.NewLink();
  EXPECT_EQ(gate.Open(Visit(old)).visit, Gate::Visit::kUnknown);
  EXPECT_EQ(gate.Open(Visit(link)).visit, Gate::Visit::kOpened);
}

}  // namespace
}  // namespace berth::ui
