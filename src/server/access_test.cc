// Authentication, authorization, requests in flight and health checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "server/authenticate.h"
#include "server/health.h"
#include "server/in_flight.h"

namespace berth::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Authenticator WithTokens(std::string_view csv) {
  auto tokens = ParseTokens(csv, "tokens.csv");
  EXPECT_TRUE(tokens) << tokens.error().message;
  return Authenticator(*std::move(tokens));
}

TEST(Tokens, AUserIsFoundByItsToken) {
  const Authenticator authenticator =
      WithTokens("# comment\nsecret,amy,7,\"system:masters,dev\"\r\n\nother,bob,8\n");
  const auto amy = authenticator.Authenticate("Bearer secret", std::nullopt);
  ASSERT_TRUE(amy);
  EXPECT_EQ(amy->name, "amy");
  EXPECT_EQ(amy->uid, "7");
  EXPECT_THAT(amy->groups, ElementsAre("system:masters", "dev", "system:authenticated"));
  EXPECT_THAT(authenticator.Authenticate("bearer other", std::nullopt)->groups,
              ElementsAre("system:authenticated"));
}

TEST(Tokens, WrongCredentialsAreNotAnonymous) {
  const Authenticator authenticator = WithTokens("secret,amy,7");
  for (const char* header : {"Bearer secre", "Bearer secret2", "Basic YTpi", "secret", "Bearer "}) {
    const auto user = authenticator.Authenticate(header, std::nullopt);
    ASSERT_FALSE(user) << header;
    EXPECT_EQ(user.error().reason, base::Reason::kUnauthorized);
  }
  EXPECT_EQ(authenticator.Authenticate("", std::nullopt)->name, "system:anonymous");
}

TEST(Tokens, ABadFileSaysWhichLine) {
  EXPECT_THAT(ParseTokens("a,b", "f").error().message, HasSubstr("at least 3 columns"));
  EXPECT_THAT(ParseTokens("ok,b,c\n,b,c", "f").error().message, HasSubstr("line 2: empty token"));
  EXPECT_THAT(ParseTokens("a,b,c,\"open", "f").error().message, HasSubstr("quote"));
}

TEST(Certificates, TheSubjectIsTheUser) {
  const Authenticator authenticator = WithTokens("");
  const auto user = authenticator.Authenticate(
      "", CertificateIdentity{.common_name = "carol", .organizations = {"ops"}});
  ASSERT_TRUE(user);
  EXPECT_EQ(user->name, "carol");
  EXPECT_THAT(user->groups, ElementsAre("ops", "system:authenticated"));
}

Attributes Asking(std::vector<std::string> groups, std::string verb, std::string path,
                  std::string resource = "") {
  Attributes attributes;
  attributes.user = {.name = "u", .uid = {}, .groups = std::move(groups)};
  attributes.verb = std::move(verb);
  attributes.path = std::move(path);
  attributes.is_resource = !resource.empty();
  attributes.resource = std::move(resource);
  attributes.name_space = attributes.is_resource ? "shop" : "";
  return attributes;
}

TEST(Authorization, WhoMayWhat) {
  EXPECT_FALSE(Authorize(Asking({"system:masters"}, "delete", "/x", "services")));
  EXPECT_FALSE(Authorize(Asking({"system:unauthenticated"}, "get", "/readyz/store")));
  EXPECT_FALSE(Authorize(Asking({"system:unauthenticated"}, "get", "/version")));
  EXPECT_FALSE(Authorize(Asking({"system:authenticated"}, "get", "/openapi/v3")));
  EXPECT_FALSE(Authorize(Asking({"system:monitoring"}, "get", "/metrics")));
  EXPECT_TRUE(Authorize(Asking({"system:monitoring"}, "get", "/x", "services")));
  EXPECT_TRUE(Authorize(Asking({"system:monitoring"}, "post", "/metrics")));
  EXPECT_TRUE(Authorize(Asking({"system:authenticated"}, "get", "/metrics")));
  EXPECT_EQ(Authorize(Asking({"system:unauthenticated"}, "get", "/api"))->reason,
            base::Reason::kUnauthorized);
  const auto refused = Authorize(Asking({"system:authenticated"}, "list", "/x", "services"));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->message,
            "services is forbidden: User \"u\" cannot list resource \"services\" in API group \"\" "
            "in the namespace \"shop\"");
}

TEST(InFlight, NobodyGetsMoreThanAShareOnceItIsTight) {
  InFlight slots(10);
  std::vector<InFlight::Slot> greedy;
  while (auto slot = slots.Take("greedy")) greedy.push_back(*std::move(slot));
  EXPECT_EQ(greedy.size(), 9U) << "a user that is alone may take nearly all";
  greedy.resize(8);
  std::vector<InFlight::Slot> modest;
  while (auto slot = slots.Take("modest")) modest.push_back(*std::move(slot));
  EXPECT_EQ(modest.size(), 2U);
  greedy.resize(7);
  EXPECT_FALSE(slots.Take("greedy")) << "it has more than its share";
  EXPECT_TRUE(slots.Take("modest"));
}

TEST(InFlight, WhoComesLateFindsAPlace) {
  InFlight slots(20);
  std::vector<InFlight::Slot> greedy;
  while (auto slot = slots.Take("greedy")) greedy.push_back(*std::move(slot));
  EXPECT_EQ(greedy.size(), 18U);
  std::vector<InFlight::Slot> second;
  while (auto slot = slots.Take("second")) second.push_back(*std::move(slot));
  EXPECT_EQ(second.size(), 2U);
  for (const char* late : {"third", "fourth"}) {
    greedy.pop_back();
    EXPECT_FALSE(slots.Take("greedy")) << "it has more than its share";
    second.push_back(*slots.Take(late));
  }
  EXPECT_TRUE(InFlight(1).Take("alone"));
}

TEST(InFlight, PlacesComeBack) {
  InFlight slots(1);
  {
    const auto slot = slots.Take("a");
  }
  auto again = slots.Take("a");
  EXPECT_TRUE(again);
  InFlight::Slot moved = *std::move(again);
  EXPECT_EQ(slots.Count(), 1U);
  moved = InFlight::Slot();
  EXPECT_EQ(slots.Count(), 0U);
}

TEST(Health, ChecksAreNamedAndCanBeLeftOut) {
  Health health;
  std::optional<std::string> trouble;
  health.AddLive("ping", [] { return std::nullopt; });
  health.AddReady("store", [&] { return trouble; });
  const auto ask = [&](const char* path, const char* query = "") {
    return health.Ask(path, Query(query));
  };
  EXPECT_EQ(ask("/readyz")->text, "ok");
  EXPECT_EQ(ask("/readyz", "verbose")->text, "[+]ping ok\n[+]store ok\nreadyz check passed\n");
  trouble = "the disk is full";
  EXPECT_EQ(ask("/readyz")->code, 500);
  EXPECT_THAT(ask("/readyz")->text, HasSubstr("[-]store failed: the disk is full"));
  EXPECT_EQ(ask("/livez")->code, 200) << "a full disk is no reason to kill the server";
  EXPECT_EQ(ask("/readyz", "exclude=store")->code, 200);
  EXPECT_EQ(ask("/readyz/ping")->code, 200);
  EXPECT_EQ(ask("/readyz/nope"), std::nullopt);
}

}  // namespace
}  // namespace berth::server
