#include "ui/sessions.h"

#include <gtest/gtest.h>

#include <map>

namespace berth::ui {
namespace {

using base::Reason;
using std::chrono::minutes;
using std::chrono::seconds;

/// Knows tokens, and may be told not to answer.
class FakeJudge final : public Judge {
 public:
  base::Result<std::string> Admit(const Credential& credential) override {
    ++asked;
    if (away) return base::Fail(Reason::kTimeout, "no answer");
    if (!credential.user.empty()) return credential.user;
    const auto found = users.find(credential.token);
    if (found == users.end()) return base::Fail(Reason::kUnauthorized, "unknown token");
    if (found->second.empty()) return base::Fail(Reason::kForbidden, "no right");
    return found->second;
  }

  std::map<std::string, std::string> users = {{"t1", "jane"}, {"t2", "joe"}, {"t3", ""}};
  bool away = false;
  int asked = 0;
};

class SessionsTest : public testing::Test {
 protected:
  http::Request With(const Sessions::Pointer& session) const {
    const std::string cookie = sessions_.CookieOf(*session);
    http::Request request;
    request.headers.Add("cookie", cookie.substr(0, cookie.find(';')));
    return request;
  }
  void Pass(seconds time) {
    clock_.Advance(time);
    sessions_.CheckDue();
  }

  base::ManualClock clock_;
  FakeJudge judge_;
  int ends_ = 0;
  Sessions sessions_{
      judge_, clock_, {.name = "c"}, {.sessions = 6, .sessions_of_user = 3}, [this] { ++ends_; }};
};

TEST_F(SessionsTest, ATokenBecomesASession) {
  const auto jane = sessions_.SignIn("t1", "a");
  ASSERT_TRUE(jane);
  EXPECT_EQ((*jane)->user(), "jane");
  EXPECT_EQ(sessions_.Find(With(*jane)), *jane);
  EXPECT_EQ(sessions_.CookieOf(**jane).find("t1"), std::string::npos);
  EXPECT_EQ(sessions_.SignIn("x", "a").error().reason, Reason::kUnauthorized);
  EXPECT_EQ(sessions_.SignIn("t3", "a").error().reason, Reason::kForbidden);
  http::Request request;
  EXPECT_EQ(sessions_.Find(request), nullptr);
  request.headers.Add("cookie", "c=; c=" + NewSecret());
  EXPECT_EQ(sessions_.Find(request), nullptr);
}

TEST_F(SessionsTest, EndsBySignOut) {
  const auto jane = *sessions_.SignIn("t1", "a");
  const auto joe = *sessions_.SignIn("t2", "a");
  sessions_.SignOut(With(jane));
  EXPECT_EQ(sessions_.Find(With(jane)), nullptr);
  EXPECT_FALSE(jane->IsOpen(clock_));
  EXPECT_TRUE(joe->IsOpen(clock_));
  EXPECT_EQ(ends_, 1);
}

TEST_F(SessionsTest, EndsByTime) {
  const auto jane = *sessions_.SignIn("t1", "a");
  for (int i = 0; i < 479; ++i) Pass(minutes(1));
  EXPECT_TRUE(jane->IsOpen(clock_));
  clock_.Advance(minutes(1));
  EXPECT_FALSE(jane->IsOpen(clock_));
  EXPECT_EQ(sessions_.Find(With(jane)), nullptr);
  sessions_.CheckDue();
  EXPECT_EQ(sessions_.size(), 0U);
}

TEST_F(SessionsTest, EndsWithTheRight) {
  const auto jane = *sessions_.SignIn("t1", "a");
  const auto joe = *sessions_.SignIn("t2", "a");
  judge_.users["t1"] = "";
  Pass(seconds(59));
  EXPECT_TRUE(jane->IsOpen(clock_));
  Pass(seconds(1));
  EXPECT_FALSE(jane->IsOpen(clock_));
  EXPECT_TRUE(joe->IsOpen(clock_));
  EXPECT_EQ(ends_, 1);
  judge_.users.erase("t2");
  Pass(seconds(60));
  EXPECT_FALSE(joe->IsOpen(clock_));
}

TEST_F(SessionsTest, AnotherUserOfTheTokenIsNotTheSame) {
  const auto jane = *sessions_.SignIn("t1", "a");
  judge_.users["t1"] = "mallory";
  Pass(seconds(60));
  EXPECT_FALSE(jane->IsOpen(clock_));
}

TEST_F(SessionsTest, OutlivesAJudgeThatIsAwayForAWhile) {
  const auto jane = *sessions_.SignIn("t1", "a");
  const auto joe = *sessions_.SignIn("t2", "a");
  judge_.away = true;
  judge_.asked = 0;
  Pass(minutes(1));
  EXPECT_EQ(judge_.asked, 1);  // The second would only wait too.
  for (int i = 0; i < 8; ++i) Pass(minutes(1));
  EXPECT_TRUE(jane->IsOpen(clock_));
  Pass(minutes(1));
  EXPECT_FALSE(jane->IsOpen(clock_));
  EXPECT_FALSE(joe->IsOpen(clock_));
}

TEST_F(SessionsTest, TheOldestOfAUserMakesRoom) {
  std::vector<Sessions::Pointer> own;
  for (int i = 0; i < 4; ++i) own.push_back(*sessions_.SignIn("t1", "a"));
  EXPECT_FALSE(own[0]->IsOpen(clock_));
  EXPECT_TRUE(own[1]->IsOpen(clock_));
  EXPECT_EQ(sessions_.size(), 3U);
}

TEST_F(SessionsTest, TheirNumberIsBounded) {
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(sessions_.AdmitNamed({.user = "u" + std::to_string(i)}));
  }
  EXPECT_EQ(sessions_.AdmitNamed({.user = "late"}).error().reason, Reason::kTooManyRequests);
}

TEST_F(SessionsTest, TriesAreBounded) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(sessions_.SignIn("x", "a").error().reason, Reason::kUnauthorized);
  }
  judge_.asked = 0;
  EXPECT_EQ(sessions_.SignIn("t1", "a").error().reason, Reason::kTooManyRequests);
  EXPECT_EQ(judge_.asked, 0);
  EXPECT_TRUE(sessions_.SignIn("t1", "b"));
  clock_.Advance(seconds(5));
  EXPECT_TRUE(sessions_.SignIn("t1", "a"));
}

TEST_F(SessionsTest, NamesOfAProxyAreAskedOnce) {
  const Credential who{.user = "jane", .groups = {"ops"}};
  EXPECT_EQ(sessions_.FindNamed(who), nullptr);
  const auto jane = *sessions_.AdmitNamed(who);
  EXPECT_EQ(*sessions_.AdmitNamed(who), jane);
  EXPECT_EQ(judge_.asked, 1);
  EXPECT_EQ(sessions_.FindNamed({.user = "jane"}), nullptr);
  // It has no cookie, so no cookie leads to it.
  EXPECT_EQ(sessions_.Find(With(jane)), nullptr);
}

TEST(TryLimitTest, RemembersABoundedNumberOfClients) {
  TryLimit limit({.of_client = {.burst = 1, .per_second = 0.001},
                  .of_all = {.burst = 1e9, .per_second = 0},
                  .clients = 10});
  const base::SteadyTime now{};
  EXPECT_TRUE(limit.Take("mallory", now));
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(limit.Take(std::to_string(i), now));
}

TEST(TryLimitTest, AllTogetherAreBounded) {
  TryLimit limit({.of_all = {.burst = 3, .per_second = 1}});
  const base::SteadyTime now{};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.Take(std::to_string(i), now));
  EXPECT_FALSE(limit.Take("x", now));
  EXPECT_TRUE(limit.Take("x", now + seconds(1)));
}

}  // namespace
}  // namespace berth::ui
