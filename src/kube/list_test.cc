#include "kube/list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/kinds.h"
#include "api/meta.h"
#include "base/random.h"
#include "codec/proto_frame.h"
#include "codec/protobuf.h"
#include "codec/read.h"
#include "codec/testing_text.h"
#include "kube/testing/scripted_server.h"

namespace berth::kube {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string Page(const std::vector<std::string>& names, std::string_view token,
                 std::string_view revision = "7") {
  std::string items;
  for (const std::string& name : names) {
    items += fmt::format(R"({}{{"metadata":{{"name":"{}"}}}})", items.empty() ? "" : ",", name);
  }
  return fmt::format(
      R"({{"kind":"ServiceList","metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})",
      revision, token, items);
}

/// Lists Services from a server, and notes what comes.
struct ListRun {
  explicit ListRun(ScriptedServer::Answerer answerer, const ListOptions& options = {})
      : server(std::move(answerer)) {
    ApiClient client(server.MakeAccess(), {.random = random});
    listed = List(client, TargetOf(api::kServiceKind),
                  {.begin =
                       [this] {
                         ++begins;
                         names.clear();
                       },
                   .object =
                       [this](const codec::Value& object) {
                         names.emplace_back(codec::StringAt(object, "metadata", "name"));
                       }},
                  options);
  }
  std::string Head(size_t index) const { return server.Heads().at(index); }

  base::SeededRandom random{1};
  ScriptedServer server;
  Answer<Listed> listed;
  int begins = 0;
  std::vector<std::string> names;
};

TEST(List, FollowsPages) {
  const ListRun run([](const auto&, size_t index) {
    return Reply(200, index == 0 ? Page({"a", "b"}, "more+1/=") : Page({"c"}, ""));
  });
  ASSERT_TRUE(run.listed.has_value()) << run.listed.error().error.message;
  EXPECT_THAT(run.names, ElementsAre("a", "b", "c"));
  EXPECT_EQ(run.listed->objects, 3U);
  EXPECT_EQ(run.listed->resource_version, "7");
  EXPECT_TRUE(run.listed->one_revision);
  EXPECT_THAT(run.Head(0),
              AllOf(HasSubstr("GET /api/v1/services?limit=500 HTTP"),
                    HasSubstr("application/vnd.kubernetes.protobuf,application/json")));
  EXPECT_THAT(run.Head(1), HasSubstr("?limit=500&continue=more%2B1%2F%3D HTTP"));
}

TEST(List, TakesProtobufIfTheServerHasIt) {
  std::string raw;
  codec::AppendProtoField(
      raw, 1, codec::EncodeProto(codec::Json("{'resourceVersion':'9'}"), api::kListMeta));
  codec::AppendProtoField(
      raw, 2,
      codec::EncodeProto(codec::Json("{'metadata':{'name':'p'}}"), *api::kServiceKind.message));
  const ListRun run([&](const auto&, size_t) {
    return Reply(200, codec::WrapEnvelope("v1", "ServiceList", raw));
  });
  ASSERT_TRUE(run.listed.has_value()) << run.listed.error().error.message;
  EXPECT_THAT(run.names, ElementsAre("p"));
  EXPECT_EQ(run.listed->resource_version, "9");
  EXPECT_TRUE(run.listed->protobuf);
}

TEST(List, TakesTheRestAsItIsNowWhenTheRevisionIsGone) {
  const ListRun run([](const auto&, size_t index) {
    if (index == 0) return Reply(200, Page({"a"}, "old"));
    if (index == 1) return Reply(410, StatusBody(410, "Expired", "too old", "fresh"));
    return Reply(200, Page({"b"}, "", "9"));
  });
  ASSERT_TRUE(run.listed.has_value()) << run.listed.error().error.message;
  EXPECT_THAT(run.names, ElementsAre("a", "b"));
  EXPECT_FALSE(run.listed->one_revision);
  EXPECT_THAT(run.Head(2), HasSubstr("continue=fresh"));
}

TEST(List, AsksForARevision) {
  const ListRun run(
      [](const auto&, size_t index) {
        return Reply(200, index == 0 ? Page({"a"}, "more") : Page({"b"}, ""));
      },
      {.revision = "5"});
  ASSERT_TRUE(run.listed.has_value()) << run.listed.error().error.message;
  EXPECT_THAT(run.Head(0),
              HasSubstr("?limit=500&resourceVersion=5&resourceVersionMatch=Exact HTTP"));
  EXPECT_THAT(run.Head(1), HasSubstr("?limit=500&continue=more HTTP"))
      << "a server refuses a revision beside a token";
}

TEST(List, DoesNotStartAnewIfToldSo) {
  const ListRun run(
      [](const auto&, size_t index) {
        return index == 0 ? Reply(200, Page({"a"}, "old"))
                          : Reply(410, StatusBody(410, "Expired", "too old", "fresh"));
      },
      {.one_revision = true, .restarts = 0});
  ASSERT_FALSE(run.listed.has_value());
  EXPECT_EQ(run.listed.error().code, 410);
  EXPECT_EQ(run.begins, 1);
}

TEST(List, StartsAnewIfTheListMustShowOneRevision) {
  const ListRun run(
      [](const std::string& head, size_t index) {
        if (head.find("limit=") == std::string::npos) return Reply(200, Page({"x", "y"}, "", "9"));
        return index % 2 == 0 ? Reply(200, Page({"a"}, "old"))
                              : Reply(410, StatusBody(410, "Expired", "too old", "fresh"));
      },
      {.one_revision = true});
  ASSERT_TRUE(run.listed.has_value()) << run.listed.error().error.message;
  EXPECT_THAT(run.names, ElementsAre("x", "y"));
  EXPECT_EQ(run.listed->objects, 2U);
  EXPECT_EQ(run.listed->resource_version, "9");
  EXPECT_TRUE(run.listed->one_revision);
  EXPECT_EQ(run.begins, 3) << "two attempts with pages, and one without";
  EXPECT_THAT(run.Head(4), Not(HasSubstr("limit")));
}

TEST(List, FailsInWordsWhenTheAnswerIsNoList) {
  const ListRun run([](const auto&, size_t) { return Reply(200, "<html>login</html>"); });
  ASSERT_FALSE(run.listed.has_value());
  EXPECT_THAT(
      run.listed.error().error.message,
      AllOf(HasSubstr("(a test) to /api/v1/services cannot be read"), HasSubstr("not a list")));
  const ListRun gone([](const auto&, size_t) {
    return Reply(410, StatusBody(410, "Expired", "too old", "fresh"));
  });
  EXPECT_EQ(gone.listed.error().code, 410) << "without pages there is nothing to go on with";
}

TEST(List, KnowsThePathsOfKinds) {
  EXPECT_EQ(TargetOf(api::kServiceKind, "shop").path, "/api/v1/namespaces/shop/services");
  EXPECT_EQ(TargetOf(api::kIpAddressKind).path, "/apis/networking.k8s.io/v1/ipaddresses");
}

}  // namespace
}  // namespace berth::kube
