// Watches in protobuf.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/protobuf_testing.h"

namespace berth::server::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using ProtobufWatchTest = ProtobufTest;

TEST_F(ProtobufWatchTest, TheWholeLifeOfAWatch) {
  PutService("a");
  const Reply watch = Watch(Services() +
                            "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
                            "&resourceVersionMatch=NotOlderThan");
  std::vector<Event> events = Events(watch, 1);
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].type, "ADDED");
  EXPECT_EQ(events[0].object, GetProto(Services() + "/a").body);
  EXPECT_EQ(events[1].type, "BOOKMARK");
  codec::Value bookmark = Object(events[1].object, api::kServiceKind);
  EXPECT_EQ(
      bookmark,
      codec::Value(codec::Object{
          {"metadata",
           codec::Object{{"resourceVersion", Now()},
                         {"annotations", codec::Object{{"k8s.io/initial-events-end", "true"}}}}}}));
  PutService("a", "'v':'2'");
  const std::string changed = GetProto(Services() + "/a").body;
  const std::string deletion = Delete(Services() + "/a").Version();
  events = Events(watch);
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].type, "MODIFIED");
  EXPECT_EQ(events[0].object, changed);
  EXPECT_EQ(events[1].type, "DELETED");
  const codec::Value last = Object(events[1].object, api::kServiceKind);
  EXPECT_EQ(codec::StringAt(last, "metadata", "resourceVersion"), deletion);
  EXPECT_EQ(codec::StringAt(last, "metadata", "labels", "v"), "2");
  Advance(std::chrono::seconds(61));
  events = Events(watch);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(Object(events[0].object, api::kServiceKind),
            codec::Value(codec::Object{{"metadata", codec::Object{{"resourceVersion", Now()}}}}));
}

TEST_F(ProtobufWatchTest, AnEventByteForByte) {
  const Reply watch =
      Watch("/api/v1/namespaces?watch=1&allowWatchBookmarks=true&resourceVersion=" + Now());
  EXPECT_THAT(Events(watch), IsEmpty());
  ASSERT_THAT(Now(), SizeIs(1));
  Advance(std::chrono::seconds(61));
  http::Pieces pieces;
  watch.source->Pull(pieces, 65'536);
  EXPECT_EQ(pieces.Flatten(), Bytes("00000042 0a08'BOOKMARK' 1236 0a34"
                                    "'k8s' 00 0a0f 0a02'v1' 1209'Namespace' 1219"
                                    "0a11 0a00 1200 1a00 2200 2a00 3201'" +
                                    Now() + "'3800 4200 1200 1a02 0a00 1a00 2200"));
}

TEST_F(ProtobufWatchTest, TooOldAWatchEndsWithAnError) {
  PutService("a");
  PutService("b");
  Restart({});
  store_.LoseHistory();
  PumpAll();
  for (const std::string& accept : {std::string(kProtobufWatch), As("PartialObjectMetadata")}) {
    const Reply watch = Watch(Services() + "?watch=1&resourceVersion=1", accept);
    const std::vector<Event> events = Events(watch);
    ASSERT_THAT(events, SizeIs(1));
    EXPECT_EQ(events[0].type, "ERROR");
    const codec::Value status = Decoded(Unwrapped(events[0].object, "v1", "Status"), api::kStatus);
    EXPECT_EQ(codec::IntAt(status, "code"), 410);
    EXPECT_EQ(codec::StringAt(status, "reason"), "Expired");
  }
}

TEST_F(ProtobufWatchTest, WatchesOfOneChangeInSeveralForms) {
  const std::string events = "/namespaces/shop/events";
  const std::string from = "?watch=1&resourceVersion=" + Now();
  const Reply core = Watch("/api/v1" + events + from, kProtobufOrJson);
  const Reply also = Watch("/api/v1" + events + from, kProtobufOrJson);
  const Reply view = Watch("/apis/events.k8s.io/v1" + events + from);
  const Reply meta = Watch("/api/v1" + events + from, As("PartialObjectMetadata"));
  const Reply old = Watch("/api/v1" + events + from, As("PartialObjectMetadata", "v1beta1"));
  Stream json(Get("/api/v1" + events + from));
  const Reply made = Post(Samples().at(&api::kEventKind).url, Samples().at(&api::kEventKind).body);
  const std::string name(codec::StringAt(made.Json(), "metadata", "name"));
  const std::string url = events + "/" + name;
  const auto only = [](const Reply& reply) {
    const std::vector<Event> all = Events(reply);
    EXPECT_THAT(all, SizeIs(1));
    return all.empty() ? std::string() : all[0].object;
  };
  EXPECT_EQ(only(core), GetProto("/api/v1" + url).body);
  EXPECT_EQ(only(also), GetProto("/api/v1" + url).body);
  EXPECT_EQ(only(view), GetProto("/apis/events.k8s.io/v1" + url).body);
  EXPECT_EQ(only(meta), GetProto("/api/v1" + url, As("PartialObjectMetadata")).body);
  EXPECT_EQ(only(old), GetProto("/api/v1" + url, As("PartialObjectMetadata", "v1beta1")).body);
  EXPECT_THAT(json.Lines(), ElementsAre("ADDED " + name + "@" + Now()));
}

}  // namespace
}  // namespace berth::server::testing
