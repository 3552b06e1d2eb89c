#include "server/list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "server/testing/server_kit.h"

namespace berth::server::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Token(const Reply& reply) {
  return std::string(codec::StringAt(reply.Json(), "metadata", "continue"));
}

/// Returns -1 if the list has no remainingItemCount.
int64_t Remaining(const Reply& reply) {
  const codec::Value list = reply.Json();
  const codec::Value* count = codec::FindAt(list, "metadata", "remainingItemCount");
  return count == nullptr ? -1 : count->AsInt().value_or(-2);
}

class ListTest : public ServerTest {
 protected:
  void MakeServices(int count) {
    for (int i = 0; i < count; ++i) PutService("s" + std::to_string(100 + i));
  }
};

TEST_F(ListTest, AnEmptyListIsAListAtARevision) {
  const Reply list = Get(Services());
  EXPECT_EQ(list.code, 200);
  EXPECT_EQ(list.Header("content-type"), "application/json");
  EXPECT_EQ(list.body,
            R"({"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":")" + Now() +
                R"("},"items":[]})" + "\n");
  EXPECT_EQ(Get(Services("nowhere")).code, 200) << "a namespace that does not exist is empty";
}

TEST_F(ListTest, ItemsAreInOrderOfNamespaceSlashName) {
  for (const char* name_space : {"a", "a-b", "b"}) {
    Post("/api/v1/namespaces", std::string("{'metadata':{'name':'") + name_space + "'}}");
    for (const char* name : {"y", "x"}) {
      const Reply made =
          Post(Services(name_space), ServiceBody(name + std::string("-") + name_space));
      ASSERT_EQ(made.code, 201) << made.body;
    }
  }
  const Reply all = Get("/api/v1/services");
  EXPECT_THAT(all.Names(), ElementsAre("x-a-b", "y-a-b", "x-a", "y-a", "x-b", "y-b"));
  EXPECT_EQ(all.Version(), Now()) << "the revision of the list, not of its newest item";
  EXPECT_THAT(Get(Services("a")).Names(), ElementsAre("x-a", "y-a"));
  const codec::Value json = all.Json();
  EXPECT_FALSE(codec::HasAt(codec::ArrayAt(json, "items").front(), "kind"));
}

TEST_F(ListTest, Selectors) {
  PutService("a", "'app':'web','tier':'front'");
  PutService("b", "'app':'web'");
  PutService("c", "'app':'db'");
  PutService("d");
  const struct {
    const char* query;
    std::vector<std::string> names;
  } cases[] = {
      {"labelSelector=app=web", {"a", "b"}},
      {"labelSelector=app!%3Dweb", {"c", "d"}},
      {"labelSelector=app+in+(web,db),!tier", {"b", "c"}},
      {"labelSelector=app+notin+(web)", {"c", "d"}},
      {"labelSelector=tier", {"a"}},
      {"labelSelector=app=web&fieldSelector=metadata.name!%3Da", {"b"}},
      {"fieldSelector=metadata.name=c", {"c"}},
      {"fieldSelector=metadata.name=nobody", {}},
      {"fieldSelector=metadata.name=a,metadata.name=b", {}},
      {"fieldSelector=metadata.namespace=shop,metadata.name=a", {"a"}},
      {"fieldSelector=metadata.namespace=other", {}},
      {"fieldSelector=spec.type=ClusterIP", {"a", "b", "c", "d"}},
      {"fieldSelector=spec.type=NodePort", {}},
      {"labelSelector=&fieldSelector=", {"a", "b", "c", "d"}},
  };
  for (const auto& [query, names] : cases) {
    const Reply list = Get(Services() + "?" + query);
    EXPECT_EQ(list.code, 200) << query << ": " << list.body;
    EXPECT_EQ(list.Names(), names) << query;
    EXPECT_EQ(Get("/api/v1/services?" + std::string(query)).Names(), names) << query;
  }
  for (const char* query : {"labelSelector=a+b", "fieldSelector=spec.bogus=1", "limit=x"}) {
    const Reply list = Get(Services() + "?" + query);
    EXPECT_EQ(list.code, 400) << query;
    EXPECT_EQ(list.Text("reason"), "BadRequest") << query;
  }
  EXPECT_EQ(Get(Services() + "?fieldSelector=spec.bogus=1").Message(),
            "field label not supported: spec.bogus");
}

TEST_F(ListTest, FieldLabelsGoByTheView) {
  Post("/api/v1/namespaces/shop/events",
       "{'metadata':{'name':'e'},'involvedObject':{'namespace':'shop','name':'web'}}");
  const std::string core = "/api/v1/namespaces/shop/events?fieldSelector=";
  const std::string other = "/apis/events.k8s.io/v1/namespaces/shop/events?fieldSelector=";
  EXPECT_THAT(Get(core + "involvedObject.name=web").Names(), ElementsAre("e"));
  EXPECT_THAT(Get(other + "regarding.name=web").Names(), ElementsAre("e"));
  EXPECT_THAT(Get(other + "regarding.name=db").Names(), ElementsAre());
  EXPECT_EQ(Get(core + "regarding.name=web").code, 400);
  const Reply list = Get("/apis/events.k8s.io/v1/namespaces/shop/events");
  EXPECT_EQ(list.Text("kind"), "EventList");
  EXPECT_EQ(list.Text("apiVersion"), "events.k8s.io/v1");
  EXPECT_THAT(list.body, HasSubstr("\"regarding\":{"));
}

TEST_F(ListTest, PagesAreOfOneRevisionWhileOthersWrite) {
  MakeServices(10);
  const Reply first = Get(Services() + "?limit=4");
  EXPECT_THAT(first.Names(), ElementsAre("s100", "s101", "s102", "s103"));
  EXPECT_EQ(Remaining(first), 6);
  // Everything that a page could get wrong: deleted, new and changed objects.
  Delete(Services() + "/s105");
  PutService("s1045");
  PutService("s106", "'late':'yes'");
  Delete(Services() + "/s103");
  const Reply second = Get(Services() + "?limit=4&continue=" + Token(first));
  EXPECT_THAT(second.Names(), ElementsAre("s104", "s105", "s106", "s107"));
  EXPECT_EQ(second.Version(), first.Version());
  EXPECT_EQ(Remaining(second), 2);
  EXPECT_THAT(second.body, ::testing::Not(HasSubstr("late")));
  const Reply last = Get(Services() + "?limit=4&continue=" + Token(second));
  EXPECT_THAT(last.Names(), ElementsAre("s108", "s109"));
  EXPECT_EQ(last.Version(), first.Version());
  EXPECT_EQ(Token(last), "");
  EXPECT_EQ(Remaining(last), -1) << "the last page has no count";
  EXPECT_THAT(Get(Services() + "?continue=" + Token(first)).Names().size(), 6U)
      << "without a limit all remaining items are sent";
}

TEST_F(ListTest, PagesWithASelectorDoNotTellHowMuchIsLeft) {
  for (int i = 0; i < 9; ++i) {
    PutService("s" + std::to_string(i), i % 3 == 0 ? "'third':'yes'" : "");
  }
  const std::string url = Services() + "?labelSelector=third&limit=1";
  std::vector<std::string> names;
  std::string token;
  do {
    const Reply page = Get(url + (token.empty() ? "" : "&continue=" + token));
    ASSERT_EQ(page.Names().size(), 1U);
    names.push_back(page.Names().front());
    EXPECT_EQ(Remaining(page), -1);
    token = Token(page);
    PutService("noise");
  } while (!token.empty() && names.size() < 10);
  EXPECT_THAT(names, ElementsAre("s0", "s3", "s6")) << "and no empty page at the end";
}

TEST_F(ListTest, AnExactNumberOfPagesEndsWithTheLast) {
  MakeServices(4);
  const Reply first = Get(Services() + "?limit=2");
  const Reply last = Get(Services() + "?limit=2&continue=" + Token(first));
  EXPECT_EQ(last.Names().size(), 2U);
  EXPECT_EQ(Token(last), "");
  EXPECT_EQ(Token(Get(Services() + "?limit=4")), "");
}

TEST_F(ListTest, AnExpiredTokenCanGoOnInWhatIsThereNow) {
  MakeServices(6);
  const Reply first = Get(Services() + "?limit=2");
  Delete(Services() + "/s102");
  PutService("s1035");
  store_.LoseHistory();
  PumpAll();
  const Reply expired = Get(Services() + "?limit=2&continue=" + Token(first));
  EXPECT_EQ(expired.code, 410);
  EXPECT_EQ(expired.Text("reason"), "Expired");
  EXPECT_THAT(expired.Message(),
              StartsWith("The provided continue parameter is too old to display a consistent list "
                         "result."));
  ASSERT_NE(Token(expired), "") << expired.body;

  const Reply second = Get(Services() + "?limit=2&continue=" + Token(expired));
  EXPECT_THAT(second.Names(), ElementsAre("s103", "s1035"));
  EXPECT_EQ(second.Version(), Now());
  const Reply last = Get(Services() + "?limit=2&continue=" + Token(second));
  EXPECT_THAT(last.Names(), ElementsAre("s104", "s105"));

  const Reply yaml = Get(Services() + "?continue=" + Token(first), {.accept = "application/yaml"});
  EXPECT_EQ(yaml.code, 410);
  EXPECT_THAT(yaml.body, HasSubstr("\n  continue: "));
}

TEST_F(ListTest, BadTokensAreRefused) {
  for (const char* token : {"garbage", "e30", "!"}) {
    const Reply list = Get(Services() + "?continue=" + token);
    EXPECT_EQ(list.code, 400) << token;
    EXPECT_THAT(list.Message(), StartsWith("invalid continue token")) << token;
  }
  MakeServices(3);
  const std::string token = Token(Get(Services() + "?limit=1"));
  EXPECT_EQ(Get(Services() + "?resourceVersion=3&continue=" + token).code, 400);
  EXPECT_EQ(Get(Services() + "?resourceVersion=0&continue=" + token).code, 200)
      << "as Kubernetes accepts it";
}

TEST_F(ListTest, AtWhichRevision) {
  const std::string one = PutService("one");
  const std::string two = PutService("two");
  PutService("three");
  const struct {
    std::string query;
    int code;
    std::vector<std::string> names;
    std::string version;
  } cases[] = {
      {"", 200, {"one", "three", "two"}, Now()},
      {"resourceVersion=0", 200, {"one", "three", "two"}, Now()},
      {"resourceVersion=0&resourceVersionMatch=NotOlderThan", 200, {"one", "three", "two"}, Now()},
      {"resourceVersion=" + one, 200, {"one", "three", "two"}, Now()},
      {"resourceVersion=" + one + "&resourceVersionMatch=NotOlderThan",
       200,
       {"one", "three", "two"},
       Now()},
      {"resourceVersion=" + one + "&resourceVersionMatch=Exact", 200, {"one"}, one},
      {"resourceVersion=" + two + "&limit=5", 200, {"one", "two"}, two},
      {"resourceVersion=" + two + "&limit=5&resourceVersionMatch=NotOlderThan",
       200,
       {"one", "three", "two"},
       Now()},
      {"resourceVersion=" + Now() + "&resourceVersionMatch=Exact",
       200,
       {"one", "three", "two"},
       Now()},
      {"resourceVersion=0&resourceVersionMatch=Exact", 422, {}, ""},
      {"resourceVersionMatch=Exact", 422, {}, ""},
      {"resourceVersion=1&resourceVersionMatch=Bogus", 422, {}, ""},
      {"sendInitialEvents=true", 422, {}, ""},
  };
  for (const auto& [query, code, names, version] : cases) {
    const Reply list = Get(Services() + "?" + query);
    EXPECT_EQ(list.code, code) << query << ": " << list.body;
    EXPECT_EQ(list.Names(), names) << query;
    if (code == 200) {
      EXPECT_EQ(list.Version(), version) << query;
    } else {
      EXPECT_EQ(list.Text("reason"), "Invalid") << query;
    }
  }
  const Reply page = Get(Services() + "?limit=1&resourceVersionMatch=Exact&resourceVersion=" + two);
  EXPECT_THAT(page.Names(), ElementsAre("one"));
  EXPECT_EQ(Remaining(page), 1) << "as it was then";
  EXPECT_THAT(Get(Services() + "?continue=" + Token(page)).Names(), ElementsAre("two"));
}

TEST_F(ListTest, WhatIsCompactedIsExpired) {
  const std::string one = PutService("one");
  PutService("two");
  store_.LoseHistory();
  PumpAll();
  const Reply list = Get(Services() + "?resourceVersionMatch=Exact&resourceVersion=" + one);
  EXPECT_EQ(list.code, 410);
  EXPECT_EQ(list.Text("reason"), "Expired");
  EXPECT_EQ(Token(list), "") << "there was no earlier page to continue";
  EXPECT_EQ(Get(Services() + "?resourceVersion=" + one).code, 200) << "a newer state is allowed";
}

TEST_F(ListTest, ARevisionOfTheFutureIsWaitedForALittle) {
  PutService("one");
  const std::string next = std::to_string(std::stoll(Now()) + 1);
  for (const std::string& url : {Services() + "?resourceVersion=" + next,
                                 Services() + "?resourceVersionMatch=Exact&resourceVersion=" + next,
                                 Services() + "/one?resourceVersion=" + next}) {
    const uint32_t waits = Send("GET " + url);
    EXPECT_EQ(Answer(waits).code, 0) << url;
    Advance(std::chrono::milliseconds(3100));
    const Reply late = Answer(waits);
    EXPECT_EQ(late.code, 504) << url;
    EXPECT_EQ(late.Text("reason"), "Timeout");
    EXPECT_THAT(late.Message(), StartsWith("Timeout: Too large resource version: " + next));
    EXPECT_EQ(late.Header("retry-after"), "1");
    const codec::Value status = late.Json();
    const codec::Array& causes = codec::ArrayAt(status, "details", "causes");
    ASSERT_EQ(causes.size(), 1U) << late.body;
    EXPECT_EQ(codec::StringAt(causes[0], "reason"), "ResourceVersionTooLarge");
  }
  const uint32_t hurried = Send("GET " + Services() + "?timeout=1s&resourceVersion=" + next);
  Advance(std::chrono::milliseconds(1100));
  EXPECT_EQ(Answer(hurried).code, 504) << "Clients may ask for less patience";
  const uint32_t waits = Send("GET " + Services() + "?resourceVersion=" + next);
  PutService("two");
  EXPECT_THAT(Answer(waits).Names(), ElementsAre("one", "two"));
}

TEST_F(ListTest, AMegabyteComesInPieces) {
  constexpr size_t kObjects = 60;
  const std::string note(20'000, 'x');
  for (size_t i = 0; i < kObjects; ++i) {
    Post(Services(), "{'metadata':{'name':'s" + std::to_string(i) + "','annotations':{'note':'" +
                         note + "'}},'spec':{'ports':[{'port':80}]}}");
  }
  const Reply list = Get(Services());
  ASSERT_NE(list.source, nullptr);
  PutService("late");
  std::string text;
  http::Pulled pulled = http::Pulled::kMore;
  size_t pulls = 0;
  for (; pulled == http::Pulled::kMore; ++pulls) {
    http::Pieces pieces;
    pulled = list.source->Pull(pieces, 50'000);
    EXPECT_LT(pieces.bytes(), 80'000U);
    text += pieces.Flatten();
  }
  EXPECT_EQ(pulled, http::Pulled::kEnd);
  EXPECT_GT(pulls, 10U);
  const codec::Value json = ParseJson(text);
  EXPECT_EQ(codec::ArrayAt(json, "items").size(), kObjects)
      << "the state at the time of the request";
}

TEST_F(ListTest, SelectorsOverManyObjectsAreForAWorker) {
  MakeServices(2100);
  PutService("web", "'app':'web'");
  const uint32_t stream = Send("GET " + Services() + "?labelSelector=app");
  Reply reply;
  while ((reply = Answer(stream)).code == 0) std::this_thread::yield();
  EXPECT_THAT(reply.Names(), ElementsAre("web"));
}

}  // namespace
}  // namespace berth::server::testing
