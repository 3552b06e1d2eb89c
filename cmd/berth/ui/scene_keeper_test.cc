#include "berth/ui/scene_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "codec/json.h"
#include "http/source.h"
#include "inspect/cluster_reader.h"

namespace berth::cli {
namespace {

using observe::WatchedKind;
using testing::HasSubstr;

codec::Value ServiceObject(const std::string& name, const std::string& address) {
  return *codec::ParseJson(R"({"metadata":{"namespace":"shop","name":")" + name + R"(","uid":"u-)" +
                           name + R"("},"spec":{"type":"ClusterIP","clusterIP":")" + address +
                           R"(","clusterIPs":[")" + address + R"("]}})");
}

/// Waits for a condition that another thread makes true. The limit is only for a test that fails.
template <typename Condition>
bool Eventually(const Condition& condition) {
  for (int i = 0; i < 5000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

class SceneKeeperTest : public testing::Test {
 protected:
  void Describe() {
    keeper_.Describe({.kinds = {WatchedKind::kServices, WatchedKind::kServiceCidrs},
                      .head = {.source = "https://cluster"}});
  }
  void List(WatchedKind kind, const std::vector<codec::Value>& objects) {
    keeper_.BeginList(kind);
    for (const codec::Value& object : objects) keeper_.Put(kind, object);
    keeper_.EndList(kind, 1);
  }
  void ListAll() {
    Describe();
    List(WatchedKind::kServices, {ServiceObject("web", "10.96.0.10")});
    List(WatchedKind::kServiceCidrs, {});
  }
  bool WaitForSeq(uint64_t seq) {
    return Eventually([&] {
      const auto scene = board_.newest().scene;
      return scene != nullptr && scene->seq() >= seq;
    });
  }

  const base::SystemClock clock_;
  SceneBoard board_{clock_};
  SceneKeeper keeper_{board_,
                      {},
                      clock_,
                      {.least_pause = std::chrono::milliseconds(1),
                       .pause_factor = 0,
                       .worth_telling = std::chrono::nanoseconds(0)}};
};

TEST_F(SceneKeeperTest, ThereIsNoSceneBeforeEverythingIsListed) {
  Describe();
  List(WatchedKind::kServices, {ServiceObject("web", "10.96.0.10")});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(board_.newest().scene, nullptr);
  List(WatchedKind::kServiceCidrs, {});
  ASSERT_TRUE(WaitForSeq(1));
  const auto scene = board_.newest().scene;
  EXPECT_EQ(scene->cluster().source, "https://cluster");
  EXPECT_EQ(scene->cluster().services.size(), 1U);
  EXPECT_TRUE(scene->options().live);
}

TEST_F(SceneKeeperTest, AChangeMakesANewScene) {
  ListAll();
  ASSERT_TRUE(WaitForSeq(1));
  keeper_.Put(WatchedKind::kServices, ServiceObject("api", "10.96.0.11"));
  ASSERT_TRUE(WaitForSeq(2));
  EXPECT_EQ(board_.newest().scene->cluster().services.size(), 2U);
  keeper_.Remove(WatchedKind::kServices, ServiceObject("web", "10.96.0.10"));
  ASSERT_TRUE(WaitForSeq(3));
  EXPECT_EQ(board_.newest().scene->cluster().services.size(), 1U);
}

TEST_F(SceneKeeperTest, AListForgetsWhatItDoesNotName) {
  ListAll();
  ASSERT_TRUE(WaitForSeq(1));
  keeper_.Lost(WatchedKind::kServices, "listed again");
  List(WatchedKind::kServices, {ServiceObject("api", "10.96.0.11")});
  EXPECT_TRUE(Eventually([&] {
    const auto scene = board_.newest().scene;
    return scene->cluster().services.size() == 1 &&
           scene->cluster().services[0].object.name == "api";
  }));
}

TEST_F(SceneKeeperTest, RangesThatNoObjectShowsMayChange) {
  ListAll();
  ASSERT_TRUE(WaitForSeq(1));
  inspect::ClusterReader given({});
  ASSERT_TRUE(given.AddGivenRange("10.96.0.0/26", "a flag of the API server", true));
  keeper_.GiveRanges(given.view().ranges);
  EXPECT_TRUE(Eventually([&] {
    const auto scene = board_.newest().scene;
    return !scene->top().ranges.empty() && scene->top().ranges[0].text() == "10.96.0.0/26";
  }));
}

TEST_F(SceneKeeperTest, TellsWhyItIsNotFollowed) {
  const auto trouble = [this] { return board_.newest().trouble; };
  // Before the first answer of the server there is no outline.
  keeper_.Late(WatchedKind::kServices, "connection refused");
  ASSERT_TRUE(Eventually([&] { return trouble().has_value(); }));
  EXPECT_EQ(trouble()->message, "connection refused");
  ListAll();
  ASSERT_TRUE(Eventually([&] { return !trouble().has_value(); }));
  // A watch that has just ended is no trouble.
  keeper_.Late(WatchedKind::kServices, "");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(trouble().has_value());
  keeper_.Late(WatchedKind::kServices, "broken");
  ASSERT_TRUE(Eventually([&] { return trouble().has_value(); }));
  keeper_.Seen(WatchedKind::kServices, 2);
  EXPECT_TRUE(Eventually([&] { return !trouble().has_value(); }));
}

TEST(SceneBoardTest, TellsOpenPages) {
  const base::ManualClock clock;
  SceneBoard board(clock);
  const auto show = [&](uint64_t seq, const std::vector<std::string>& names) {
    inspect::Cluster cluster;
    for (const std::string& name : names) {
      cluster.services.push_back(
          {.object = {.resource = "services", .name_space = "shop", .name = name, .uid = name},
           .type = "ClusterIP"});
    }
    board.Show(std::make_shared<const Scene>(std::move(cluster), SceneOptions{.seq = seq}));
  };
  show(1, {});
  const auto stream = *board.hub().Open("", [] { return true; });
  const auto sent = [&stream] {
    http::Pieces out;
    stream->Pull(out, 1 << 16);
    return out.Flatten();
  };
  EXPECT_THAT(sent(), HasSubstr("event: view\ndata: {\"seq\":1,"));
  show(2, {"web"});
  EXPECT_THAT(sent(), HasSubstr("event: view\ndata: {\"seq\":2,"));
  board.SetTrouble(SceneTrouble{.message = "away"});
  EXPECT_THAT(sent(), HasSubstr("event: trouble\ndata: {\"message\":\"away\","));
  board.SetTrouble(std::nullopt);
  EXPECT_EQ(sent(), "event: well\ndata: {}\n\n");
}

}  // namespace
}  // namespace berth::cli
