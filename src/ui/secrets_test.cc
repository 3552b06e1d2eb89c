#include "ui/secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace berth::ui {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(SecretTest, AreLongAndDiffer) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string secret = NewSecret();
    EXPECT_EQ(secret.size(), kSecretLetters);
    EXPECT_EQ(secret.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_TRUE(seen.insert(secret).second);
  }
}

TEST(SecretTest, OnlyTheWholeSecretIsTheSame) {
  EXPECT_TRUE(IsSame("abcd", "abcd"));
  for (const char* given : {"", "abc", "abcde", "abcdabcd", "Abcd", "abcx"}) {
    EXPECT_FALSE(IsSame("abcd", given)) << given;
  }
  // A secret that is not set lets no client in.
  EXPECT_FALSE(IsSame("", ""));
  EXPECT_FALSE(IsSame("", "a"));
}

TEST(CookieTest, FindsAllOfAName) {
  http::Headers headers;
  headers.Add("cookie", "a=1; berth-1=x; berth=no;berth-1 = n;  berth-1=y=z ;=;;berth-1");
  headers.Add("accept", "berth-1=no");
  headers.Add("cookie", "berth-1=");
  EXPECT_THAT(FindCookies(headers, "berth-1"), ElementsAre("x", "y=z", ""));
  EXPECT_THAT(FindCookies(headers, "b"), IsEmpty());
}

TEST(CookieTest, LooksAtABoundedNumber) {
  http::Headers headers;
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "c=x; ";
  headers.Add("cookie", many);
  EXPECT_EQ(FindCookies(headers, "c").size(), 20U);
}

TEST(CookieTest, CannotBeReadByScriptsNorSentByOtherSites) {
  const std::string plain = SetCookie({.name = "c"}, "v");
  EXPECT_EQ(plain, "c=v; Path=/; HttpOnly; SameSite=Strict");
  EXPECT_THAT(SetCookie({.name = "c", .secure = true}, "v"), HasSubstr("; Secure"));
  EXPECT_THAT(SetCookie({.name = "c"}, ""), HasSubstr("Max-Age=0"));
  EXPECT_THAT(NewCookieName(true), testing::StartsWith("__Host-"));
  EXPECT_THAT(NewCookieName(false), Not(HasSubstr("__Host-")));
  EXPECT_NE(NewCookieName(false), NewCookieName(false));
}

}  // namespace
}  // namespace berth::ui
