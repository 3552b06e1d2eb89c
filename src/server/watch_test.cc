#include "server/watch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/server_kit.h"

namespace berth::server::testing {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class WatchTest : public ServerTest {
 protected:
  Stream Watch(const std::string& query, const With& with = {}) {
    return WatchAt(Services() + "?watch=1&" + query, with);
  }
  Stream WatchAt(const std::string& url, const With& with = {}) {
    const Reply reply = Get(url, with);
    EXPECT_EQ(reply.code, 200) << reply.body;
    EXPECT_EQ(reply.Header("content-type"), "application/json");
    return Stream(reply);
  }
  std::string Remove(const std::string& name) { return Delete(Services() + "/" + name).Version(); }
};

TEST_F(WatchTest, FromARevisionComesEveryChangeAfterItAndNothingElse) {
  const std::string one = PutService("a");
  const std::string two = PutService("b");
  Stream watch = Watch("resourceVersion=" + one);
  EXPECT_THAT(watch.Lines(), ElementsAre("ADDED b@" + two));
  EXPECT_THAT(watch.Lines(), IsEmpty());
  const std::string three = PutService("a", "'v':'2'");
  const std::string four = Remove("b");
  EXPECT_THAT(watch.Lines(), ElementsAre("MODIFIED a@" + three, "DELETED b@" + four));
  EXPECT_GT(std::stoll(four), std::stoll(three)) << "a deletion has a revision of its own";
  EXPECT_FALSE(watch.Ended());
}

TEST_F(WatchTest, WithoutARevisionWhatIsThereComesFirst) {
  const std::string one = PutService("a");
  const std::string two = PutService("b");
  for (const char* query : {"", "resourceVersion=0", "resourceVersion="}) {
    Stream watch = Watch(query);
    EXPECT_THAT(watch.Lines(), ElementsAre("ADDED a@" + one, "ADDED b@" + two)) << query;
    const std::string changed = PutService("c", std::string("'q':'") + Now() + "'");
    EXPECT_THAT(watch.Lines(), ElementsAre(HasSubstr(" c@" + changed))) << query;
    Remove("c");
  }
}

TEST_F(WatchTest, ARevisionOfTheFutureIsWaitedFor) {
  PutService("a");
  const std::string after = std::to_string(std::stoll(Now()) + 2);
  Stream watch = Watch("resourceVersion=" + after);
  EXPECT_THAT(watch.Lines(), IsEmpty());
  PutService("a", "'v':'1'");
  EXPECT_EQ(PutService("a", "'v':'2'"), after);
  EXPECT_THAT(watch.Lines(), IsEmpty());
  const std::string third = PutService("a", "'v':'3'");
  EXPECT_THAT(watch.Lines(), ElementsAre("MODIFIED a@" + third));
}

TEST_F(WatchTest, TooOldARevisionIsAnErrorEventAndTheEnd) {
  PutService("a");
  PutService("b");
  Restart({});  // The events are no longer in memory.
  store_.LoseHistory();
  PumpAll();
  Stream watch = Watch("resourceVersion=1&allowWatchBookmarks=true");
  const std::vector<codec::Value> events = watch.Events();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(codec::StringAt(events[0], "type"), "ERROR");
  EXPECT_EQ(codec::StringAt(events[0], "object", "kind"), "Status");
  EXPECT_EQ(codec::IntAt(events[0], "object", "code"), 410);
  EXPECT_EQ(codec::StringAt(events[0], "object", "reason"), "Expired");
  EXPECT_THAT(std::string(codec::StringAt(events[0], "object", "message")),
              StartsWith("too old resource version: 1 ("));
  EXPECT_TRUE(watch.Ended());
}

TEST_F(WatchTest, WhatLeftMemoryIsReadFromHistory) {
  Open({.hub = {.ring_bytes = 4096, .segment_events = 4, .segment_bytes = 1024}});
  const std::string start = Now();
  std::vector<std::string> expected;
  for (int i = 0; i < 60; ++i) {
    const std::string version = PutService("a", "'v':'" + std::to_string(i) + "'");
    expected.push_back((i == 0 ? "ADDED a@" : "MODIFIED a@") + version);
  }
  ASSERT_GT(parts_->hub.Floor(1), std::stoll(start)) << "the first ones have left";
  EXPECT_EQ(Watch("resourceVersion=" + start).Lines(), expected);
}

TEST_F(WatchTest, ASlowClientHoldsNothing) {
  Open({.hub = {.ring_bytes = 8192, .segment_events = 4, .segment_bytes = 1024}});
  Stream slow = Watch("resourceVersion=" + Now());
  EXPECT_THAT(slow.Lines(), IsEmpty());
  for (int i = 0; i < 200; ++i) PutService("a", "'v':'" + std::to_string(i) + "'");
  EXPECT_LT(parts_->hub.GetStats().bytes, 2 * 8192U) << "whoever reads or not";
  EXPECT_THAT(slow.Events(100), SizeIs(200)) << "and yet it gets all of it";
  for (int i = 0; i < 20; ++i) PutService("a", "'v':'" + std::to_string(i) + "'");
  store_.LoseHistory();
  PumpAll();
  for (int i = 0; i < 20; ++i) PutService("a", "'w':'" + std::to_string(i) + "'");
  EXPECT_THAT(slow.Lines(), ElementsAre("ERROR 410")) << "until history is gone as well";
  EXPECT_TRUE(slow.Ended());
}

TEST_F(WatchTest, AClientTakesAboutWhatItHasRoomFor) {
  for (int i = 0; i < 100; ++i) PutService("s" + std::to_string(i));
  Stream initial = Watch("");
  http::Pieces pieces;
  EXPECT_EQ(initial.Source().Pull(pieces, 2000), http::Pulled::kMore);
  EXPECT_GE(pieces.bytes(), 2000U);
  EXPECT_LT(pieces.bytes(), 4000U);
}

TEST_F(WatchTest, StartingAndCeasingToMatchIsBeingAddedAndDeleted) {
  const std::string start = Now();
  Stream watch = Watch("labelSelector=app=web&resourceVersion=" + start);
  PutService("a");
  const std::string in = PutService("a", "'app':'web','v':'1'");
  const std::string still = PutService("a", "'app':'web','v':'2'");
  const std::string out = PutService("a", "'app':'db','v':'3'");
  PutService("a", "'app':'db','v':'4'");
  const std::string again = PutService("a", "'app':'web','v':'5'");
  const std::string gone = Remove("a");
  const std::vector<codec::Value> events = watch.Events();
  ASSERT_THAT(events, SizeIs(5));
  const std::vector<std::pair<std::string, std::string>> expected = {{"ADDED 1", in},
                                                                     {"MODIFIED 2", still},
                                                                     {"DELETED 2", out},
                                                                     {"ADDED 5", again},
                                                                     {"DELETED 5", gone}};
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(std::string(codec::StringAt(events[i], "type")) + " " +
                  std::string(codec::StringAt(events[i], "object", "metadata", "labels", "v")),
              expected[i].first)
        << "what ceases to match is shown as it last did";
    EXPECT_EQ(codec::StringAt(events[i], "object", "metadata", "resourceVersion"),
              expected[i].second)
        << "at the revision of the change";
  }
}

TEST_F(WatchTest, FieldSelectorsNarrowIt) {
  Post("/api/v1/namespaces", "{'metadata':{'name':'other'}}");
  const std::string start = Now();
  Stream one = Watch("fieldSelector=metadata.name=a&resourceVersion=" + start);
  Stream everywhere =
      WatchAt("/api/v1/services?watch=1&fieldSelector=metadata.name=a&resourceVersion=" + start);
  Stream by_namespace = WatchAt(
      "/api/v1/services?watch=1&fieldSelector=metadata.namespace=other&resourceVersion=" + start);
  Stream not_a = Watch("fieldSelector=metadata.name!%3Da&resourceVersion=" + start);
  const std::string a = PutService("a");
  const std::string b = PutService("b");
  const std::string other = Post(Services("other"), ServiceBody("a")).Version();
  EXPECT_THAT(one.Lines(), ElementsAre("ADDED a@" + a));
  EXPECT_THAT(everywhere.Lines(), ElementsAre("ADDED a@" + a, "ADDED a@" + other));
  EXPECT_THAT(by_namespace.Lines(), ElementsAre("ADDED a@" + other));
  EXPECT_THAT(not_a.Lines(), ElementsAre("ADDED b@" + b));
  EXPECT_THAT(Watch("fieldSelector=metadata.name=b").Lines(), ElementsAre("ADDED b@" + b))
      << "what is there already, too";
}

TEST_F(WatchTest, EventsCarryTheirKindInTheViewThatIsWatched) {
  Stream core = WatchAt("/api/v1/namespaces/shop/events?watch=1&resourceVersion=" + Now());
  Stream other =
      WatchAt("/apis/events.k8s.io/v1/namespaces/shop/events?watch=1&resourceVersion=" + Now());
  Post("/api/v1/namespaces/shop/events",
       "{'metadata':{'name':'e'},'involvedObject':{'namespace':'shop'},'message':'m'}");
  const codec::Value in_core = core.Events().front();
  EXPECT_EQ(codec::StringAt(in_core, "object", "apiVersion"), "v1");
  EXPECT_EQ(codec::StringAt(in_core, "object", "kind"), "Event");
  EXPECT_EQ(codec::StringAt(in_core, "object", "message"), "m");
  const codec::Value in_other = other.Events().front();
  EXPECT_EQ(codec::StringAt(in_other, "object", "apiVersion"), "events.k8s.io/v1");
  EXPECT_EQ(codec::StringAt(in_other, "object", "note"), "m");
}

TEST_F(WatchTest, ItEndsWhenItsTimeIsUp) {
  Stream watch = Watch("timeoutSeconds=30&resourceVersion=" + Now());
  EXPECT_THAT(watch.Lines(), IsEmpty());
  Advance(seconds(29));
  EXPECT_THAT(watch.Lines(), IsEmpty());
  EXPECT_FALSE(watch.Ended());
  EXPECT_EQ(watch.Source().wake_at(), store_.clock.Steady() + seconds(1));
  const std::string last = PutService("a");
  Advance(seconds(1));
  EXPECT_THAT(watch.Lines(), ElementsAre("ADDED a@" + last)) << "what has happened comes first";
  EXPECT_TRUE(watch.Ended());
}

TEST_F(WatchTest, WithoutATimeoutItEndsAfterHalfAnHourToAnHour) {
  Stream watch = Watch("resourceVersion=" + Now());
  EXPECT_THAT(watch.Lines(), IsEmpty());
  Advance(std::chrono::minutes(30) - seconds(1));
  EXPECT_THAT(watch.Lines(), IsEmpty());
  EXPECT_FALSE(watch.Ended());
  Advance(std::chrono::minutes(30) + seconds(1));
  watch.Lines();
  EXPECT_TRUE(watch.Ended());
}

TEST_F(WatchTest, ItEndsWellWhenTheServerGoesDown) {
  Stream watch = Watch("allowWatchBookmarks=true&resourceVersion=" + Now());
  watch.Lines();
  const std::string last = PutService("a");
  watch.Source().OnDrain();
  EXPECT_THAT(watch.Lines(), ElementsAre("ADDED a@" + last, "BOOKMARK @" + last));
  EXPECT_TRUE(watch.Ended());
}

TEST_F(WatchTest, BookmarksComeEveryMinuteAndShortBeforeTheEnd) {
  Stream asked = Watch("allowWatchBookmarks=true&timeoutSeconds=100&resourceVersion=" + Now());
  Stream silent = Watch("timeoutSeconds=100&resourceVersion=" + Now());
  Stream other = WatchAt(
      "/api/v1/namespaces/shop/events?watch=1&allowWatchBookmarks=true&"
      "timeoutSeconds=100&resourceVersion=" +
      Now());
  EXPECT_THAT(asked.Lines(), IsEmpty());
  EXPECT_THAT(other.Lines(), IsEmpty());
  const std::string a = PutService("a");
  EXPECT_THAT(asked.Lines(), ElementsAre("ADDED a@" + a));
  EXPECT_EQ(asked.Source().wake_at(), store_.clock.Steady() + seconds(60));
  Advance(seconds(60));
  EXPECT_THAT(asked.Lines(), ElementsAre("BOOKMARK @" + a));
  EXPECT_THAT(other.Lines(), ElementsAre("BOOKMARK @" + a)) << "though it has no events";
  EXPECT_EQ(asked.Source().wake_at(), store_.clock.Steady() + seconds(38));
  Advance(seconds(38));
  EXPECT_THAT(asked.Lines(), ElementsAre("BOOKMARK @" + a));
  EXPECT_FALSE(asked.Ended());
  Advance(seconds(2));
  asked.Lines();
  EXPECT_TRUE(asked.Ended());
  EXPECT_THAT(silent.Lines(), ElementsAre("ADDED a@" + a)) << "only to those who ask";
}

TEST_F(WatchTest, ABookmarkIsAnObjectWithAVersionOnly) {
  for (const auto& [accept, kind, version] :
       {std::tuple("", "Service", "v1"),
        std::tuple(kPartial, "PartialObjectMetadata", "meta.k8s.io/v1")}) {
    Stream watch = Watch("allowWatchBookmarks=1&timeoutSeconds=1&resourceVersion=" + Now(),
                         {.accept = accept});
    Advance(seconds(1));
    const codec::Value event = watch.Events().back();
    EXPECT_EQ(codec::StringAt(event, "type"), "BOOKMARK");
    EXPECT_EQ(codec::StringAt(event, "object", "kind"), kind);
    EXPECT_EQ(codec::StringAt(event, "object", "apiVersion"), version);
    EXPECT_EQ(codec::StringAt(event, "object", "metadata", "resourceVersion"), Now());
    EXPECT_EQ(codec::StringAt(event, "object", "metadata", "name"), "");
  }
}

TEST_F(WatchTest, InitialEventsEndWithAMarkedBookmark) {
  const std::string one = PutService("a", "'app':'web'");
  PutService("b");
  const std::string list =
      "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const std::string from_one = fmt::format("{}&resourceVersion={}", list, one);
  for (const std::string& query : {list, list + "&resourceVersion=0", from_one}) {
    const std::string at = Now();
    Stream watch = Watch(query + "&labelSelector=app");
    const std::vector<codec::Value> events = watch.Events();
    ASSERT_THAT(events, SizeIs(2)) << query;
    EXPECT_EQ(codec::StringAt(events[0], "type"), "ADDED");
    EXPECT_EQ(codec::StringAt(events[0], "object", "metadata", "resourceVersion"), one);
    EXPECT_EQ(codec::StringAt(events[1], "type"), "BOOKMARK");
    EXPECT_EQ(codec::StringAt(events[1], "object", "metadata", "resourceVersion"), at)
        << "of the state, not of its newest object";
    EXPECT_EQ(codec::StringAt(events[1], "object", "metadata", "annotations",
                              "k8s.io/initial-events-end"),
              "true");
    const std::string next = PutService("b", "'app':'x'");
    EXPECT_THAT(watch.Lines(), ElementsAre("ADDED b@" + next)) << "and live from there on";
    PutService("b");
    EXPECT_THAT(watch.Lines(), SizeIs(1));
  }
  Stream without = Watch("sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
  EXPECT_THAT(without.Lines(), SizeIs(2)) << "no bookmark for who did not ask for one";
  Stream from_now = Watch("sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
  EXPECT_THAT(from_now.Lines(), IsEmpty());
  const std::string next = PutService("c");
  EXPECT_THAT(from_now.Lines(), ElementsAre("ADDED c@" + next));
}

TEST_F(WatchTest, InitialEventsOfTheFutureAreWaitedForALittle) {
  PutService("a");
  const std::string next = std::to_string(std::stoll(Now()) + 1);
  const std::string line = "GET " + Services() +
                           "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
                           "allowWatchBookmarks=true&resourceVersion=" +
                           next;
  const uint32_t late = Send(line);
  EXPECT_EQ(Answer(late).code, 0);
  Advance(std::chrono::milliseconds(3100));
  EXPECT_EQ(Answer(late).code, 504);
  const uint32_t in_time = Send(line);
  PutService("a", "'v':'2'");
  Stream watch(Answer(in_time));
  EXPECT_THAT(watch.Lines(), ElementsAre("ADDED a@" + next, "BOOKMARK @" + next));
}

TEST_F(WatchTest, TablesHaveTheirColumnsOnce) {
  std::vector<std::string> versions = {PutService("a")};
  Stream watch = Watch("", {.accept = kTable});
  versions.push_back(PutService("b"));
  versions.push_back(Remove("b"));
  const std::vector<codec::Value> events = watch.Events();
  ASSERT_THAT(events, SizeIs(3));
  for (size_t i = 0; i < events.size(); ++i) {
    const codec::Value& table = *events[i].Find("object");
    EXPECT_EQ(codec::StringAt(table, "kind"), "Table");
    EXPECT_EQ(codec::StringAt(table, "apiVersion"), "meta.k8s.io/v1");
    EXPECT_EQ(codec::ArrayAt(table, "columnDefinitions").empty(), i > 0);
    const codec::Array& rows = codec::ArrayAt(table, "rows");
    ASSERT_THAT(rows, SizeIs(1));
    EXPECT_EQ(*codec::ArrayAt(rows[0], "cells")[0].AsString(), i == 0 ? "a" : "b");
    EXPECT_EQ(codec::StringAt(rows[0], "object", "kind"), "PartialObjectMetadata");
    EXPECT_EQ(codec::StringAt(rows[0], "object", "metadata", "resourceVersion"), versions[i]);
  }
  EXPECT_EQ(codec::StringAt(events[2], "type"), "DELETED");
}

TEST_F(WatchTest, ManyFormsOfOneEventDoNotMix) {
  const std::string start = "resourceVersion=" + Now();
  Stream plain = Watch(start);
  Stream partial = Watch(start, {.accept = kPartial});
  Stream table = Watch(start + "&includeObject=None", {.accept = kTable});
  Stream matching = Watch(start + "&labelSelector=app");
  PutService("a");
  PutService("a", "'app':'x'");
  EXPECT_THAT(plain.Lines(), ElementsAre(StartsWith("ADDED a"), StartsWith("MODIFIED a")));
  EXPECT_THAT(matching.Lines(), ElementsAre(StartsWith("ADDED a")));
  const std::vector<codec::Value> bare = partial.Events();
  ASSERT_THAT(bare, SizeIs(2));
  EXPECT_EQ(codec::StringAt(bare[1], "type"), "MODIFIED");
  EXPECT_EQ(codec::StringAt(bare[1], "object", "kind"), "PartialObjectMetadata");
  EXPECT_FALSE(codec::HasAt(bare[1], "object", "spec"));
  EXPECT_FALSE(
      codec::HasAt(codec::ArrayAt(table.Events()[0], "object", "rows")[0], "object", "metadata"));
}

TEST_F(WatchTest, WhatCannotBeWatched) {
  const struct {
    const char* query;
    const char* accept;
    int code;
    const char* reason;
  } cases[] = {
      {"", "application/yaml", 406, "NotAcceptable"},
      {"resourceVersion=abc", "", 500, ""},
      {"labelSelector=a+b", "", 400, "BadRequest"},
      {"fieldSelector=spec.bogus=1", "", 400, "BadRequest"},
      {"timeoutSeconds=x", "", 400, "BadRequest"},
      {"sendInitialEvents=true", "", 422, "Invalid"},
      {"sendInitialEvents=true&resourceVersionMatch=Exact", "", 422, "Invalid"},
      {"resourceVersionMatch=NotOlderThan&resourceVersion=1", "", 422, "Invalid"},
  };
  for (const auto& [query, accept, code, reason] : cases) {
    const Reply reply = Get(Services() + "?watch=1&" + query, {.accept = accept});
    EXPECT_EQ(reply.code, code) << query;
    if (accept == std::string()) {
      EXPECT_EQ(reply.Text("reason"), reason) << query;
    }
  }
}

}  // namespace
}  // namespace berth::server::testing
