// networking.k8s.io/v1beta1, which old clients ask for without looking for it in discovery.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/testing/server_kit.h"

namespace berth::server::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kOldWarning =
    "299 - \"networking.k8s.io/v1beta1 IPAddress is deprecated in v1.34+, unavailable in "
    "v1.37+\"";

class OldVersionTest : public ServerTest {
 protected:
  static std::string Path(const std::string& version, const std::string& rest) {
    return "/apis/networking.k8s.io/" + version + "/" + rest;
  }
  static std::string Old(const std::string& rest) { return Path("v1beta1", rest); }
  static std::string New(const std::string& rest) { return Path("v1", rest); }

  void MakeService(const std::string& name, const std::string& ip) {
    EXPECT_EQ(Post(Services(), "{'metadata':{'name':'" + name + "'},'spec':{'clusterIP':'" + ip +
                                   "','ports':[{'port':80}]}}")
                  .code,
              201);
  }
};

/// Returns the text of the new version as that of the old one.
std::string InOldVersion(std::string text) {
  const std::string version = "networking.k8s.io/v1\"";
  const size_t at = text.find(version);
  if (at != std::string::npos) text.insert(at + version.size() - 1, "beta1");
  return text;
}

TEST_F(OldVersionTest, GetsWhatTheNewOneGets) {
  MakeService("web", "10.96.0.10");
  for (const std::string rest :
       {"ipaddresses/10.96.0.10", "ipaddresses", "servicecidrs/kubernetes", "servicecidrs",
        "ipaddresses?fieldSelector=metadata.name%3D10.96.0.10"}) {
    const Reply old = Get(Old(rest));
    EXPECT_EQ(old.code, 200) << old.body;
    EXPECT_EQ(old.Text("apiVersion"), "networking.k8s.io/v1beta1");
    EXPECT_EQ(old.body, InOldVersion(Get(New(rest)).body));
  }
  EXPECT_THAT(Get(Old("ipaddresses/10.96.0.10")).Warnings(), ElementsAre(kOldWarning));
  EXPECT_THAT(Get(Old("servicecidrs")).Warnings(),
              ElementsAre(HasSubstr("v1beta1 ServiceCIDR is")));
  EXPECT_EQ(Get(Old("ipaddresses"), {.accept = kTable}).body,
            Get(New("ipaddresses"), {.accept = kTable}).body);
  const Reply none = Get(Old("ipaddresses/10.96.0.11"));
  EXPECT_EQ(none.code, 404);
  EXPECT_EQ(none.Message(), "ipaddresses.networking.k8s.io \"10.96.0.11\" not found");
}

TEST_F(OldVersionTest, IsThereInProtobuf) {
  MakeService("web", "10.96.0.10");
  const With proto{.accept = "application/vnd.kubernetes.protobuf"};
  const std::string body = Get(Old("ipaddresses/10.96.0.10"), proto).body;
  EXPECT_THAT(body, HasSubstr("networking.k8s.io/v1beta1"));
  EXPECT_THAT(body, HasSubstr("10.96.0.10"));
}

TEST_F(OldVersionTest, WatchersOfEachVersionSeeTheirOwn) {
  Stream watch_old(Get(Old("ipaddresses?watch=1")));
  Stream watch_new(Get(New("ipaddresses?watch=1")));
  Stream watch_view(Get("/apis/allocation.berth.io/v1alpha1/ipaddresses?watch=1"));
  MakeService("web", "10.96.0.10");
  const auto version = [](Stream& stream) {
    const std::vector<codec::Value> events = stream.Events();
    EXPECT_THAT(events, SizeIs(1));
    return events.empty() ? "" : std::string(codec::StringAt(events[0], "object", "apiVersion"));
  };
  EXPECT_EQ(version(watch_view), "allocation.berth.io/v1alpha1");
  EXPECT_EQ(version(watch_old), "networking.k8s.io/v1beta1");
  EXPECT_EQ(version(watch_new), "networking.k8s.io/v1");
}

TEST_F(OldVersionTest, CannotBeWritten) {
  MakeService("web", "10.96.0.10");
  const std::string body =
      "{'metadata':{'name':'10.96.0.11'},'spec':{'parentRef':{'resource':'services',"
      "'namespace':'shop','name':'web'}}}";
  const Reply unknown = Get(Old("ingresses"));
  EXPECT_EQ(unknown.code, 404);
  const std::vector<Reply> replies = {Post(Old("ipaddresses"), body),
                                      Put(Old("ipaddresses/10.96.0.10"), body),
                                      Delete(Old("ipaddresses/10.96.0.10")),
                                      Delete(Old("ipaddresses")),
                                      Call("PATCH " + Old("servicecidrs/kubernetes"), "{}",
                                           {.content_type = "application/merge-patch+json"}),
                                      Get(Old("servicecidrs/kubernetes/status"))};
  for (const Reply& reply : replies) {
    EXPECT_EQ(reply.code, 404);
    EXPECT_EQ(reply.body, unknown.body) << "as for any path that is not served";
  }
  EXPECT_EQ(Get(New("ipaddresses/10.96.0.10")).code, 200);
}

TEST_F(OldVersionTest, IsNotInDiscovery) {
  for (const std::string path : {"/apis", "/apis/networking.k8s.io", "/openapi/v3", "/"}) {
    const Reply shown = Get(path);
    EXPECT_EQ(shown.code, 200);
    EXPECT_THAT(shown.body, Not(HasSubstr("networking.k8s.io/v1beta1"))) << path;
  }
  EXPECT_EQ(Get("/apis/networking.k8s.io/v1beta1").code, 404);
  EXPECT_EQ(Get("/apis/networking.k8s.io/v1beta1").body, Get("/apis/networking.k8s.io/v2").body);
}

TEST_F(OldVersionTest, IsCountedUnderItsName) {
  Get(Old("ipaddresses"));
  EXPECT_THAT(Get("/metrics").body,
              HasSubstr(R"(resource="ipaddresses",scope="cluster",subresource="",verb="LIST",)"
                        R"(version="v1beta1"} 1)"));
}

}  // namespace
}  // namespace berth::server::testing
