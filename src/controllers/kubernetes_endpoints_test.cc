#include "controllers/kubernetes_endpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "codec/testing_text.h"
#include "controllers/testing/controllers_kit.h"

namespace berth::controllers {
namespace {

using codec::Json;
using registry::Target;
using std::chrono::seconds;

TEST(KubernetesEndpoints, ASubsetForEachPort) {
  const codec::Value object =
      KubernetesEndpoints({{"10.0.0.1", 6443}, {"10.0.0.2", 6444}, {"10.0.0.3", 6443}});
  EXPECT_EQ(*object.Find("subsets"),
            Json("[{'addresses':[{'ip':'10.0.0.1'},{'ip':'10.0.0.3'}],"
                 "'ports':[{'name':'https','port':6443,'protocol':'TCP'}]},"
                 "{'addresses':[{'ip':'10.0.0.2'}],"
                 "'ports':[{'name':'https','port':6444,'protocol':'TCP'}]}]"));
  EXPECT_EQ(
      codec::StringAt(object, "metadata", "labels", "endpointslice.kubernetes.io/skip-mirror"),
      "true");
  EXPECT_EQ(KubernetesEndpoints({}).Find("subsets"), nullptr);
}

TEST(KubernetesEndpoints, ASliceHasOnePortAndOneType) {
  const auto text = [](const std::vector<ServerEndpoint>& endpoints) {
    const codec::Value slice = KubernetesEndpointSlice(endpoints);
    std::string out(codec::StringAt(slice, "addressType"));
    for (const codec::Value& port : codec::ArrayAt(slice, "ports")) {
      out += " " + std::to_string(codec::IntAt(port, "port"));
    }
    for (const codec::Value& endpoint : codec::ArrayAt(slice, "endpoints")) {
      EXPECT_TRUE(codec::BoolAt(endpoint, "conditions", "ready"));
      out += " " + codec::Texts(codec::ArrayAt(endpoint, "addresses")).front();
    }
    return out;
  };
  EXPECT_EQ(text({{"10.0.0.1", 6444}, {"10.0.0.2", 6443}, {"10.0.0.3", 6443}}),
            "IPv4 6443 10.0.0.2 10.0.0.3");
  EXPECT_EQ(text({{"fd00::1", 6443}}), "IPv6 6443 fd00::1");
  EXPECT_EQ(text({{"10.0.0.1", 6443}, {"fd00::1", 6443}}), "IPv4 6443 10.0.0.1");
  EXPECT_EQ(text({}), "IPv4");
}

class KubernetesEndpointsTest : public testing::ControllersTest {
 protected:
  KubernetesEndpointsTest() {
    Must(Create(At("namespaces", "", ""), "{'metadata':{'name':'default'}}"));
    StartAs("10.0.0.1");
  }

  /// Starts the server that others reach at this address. One that ran before has ended in order.
  void StartAs(const std::string& address, uint16_t port = 6443) {
    controllers_.reset();
    if (const Target own = At("allocation.berth.io/replicas", "", "own"); Exists(own)) Delete(own);
    replica_ = {.id = "own", .advertised = address, .port = port};
    Restart();
    Advance(seconds(10));
  }
  Target Endpoints() const { return At("endpoints", "default", "kubernetes"); }
  Target Slice() const { return At("discovery.k8s.io/endpointslices", "default", "kubernetes"); }

  /// Registers another server, as it would itself.
  void Join(const std::string& name, const std::string& address) {
    const Target target = At("allocation.berth.io/replicas", "", name);
    Must(Wait([&](registry::Done done) {
      registry_->Create(
          target, ReplicaOf({.id = name, .advertised = address, .port = 6443}, store_.clock.Now()),
          {}, std::move(done));
    }));
  }

  /// Returns the addresses in both objects: "10.0.0.1 10.0.0.2 | 10.0.0.1 10.0.0.2".
  std::string Addresses() const {
    std::string text;
    const codec::Value endpoints = Get(Endpoints()).value_or(codec::Object());
    for (const codec::Value& subset : codec::ArrayAt(endpoints, "subsets")) {
      for (const codec::Value& address : codec::ArrayAt(subset, "addresses")) {
        text += std::string(codec::StringAt(address, "ip")) + " ";
      }
    }
    text += "|";
    const codec::Value slice = Get(Slice()).value_or(codec::Object());
    for (const codec::Value& endpoint : codec::ArrayAt(slice, "endpoints")) {
      text += " " + codec::Texts(codec::ArrayAt(endpoint, "addresses")).front();
    }
    return text;
  }
};

TEST_F(KubernetesEndpointsTest, NameThisServer) {
  EXPECT_EQ(Addresses(), "10.0.0.1 | 10.0.0.1");
  EXPECT_EQ(codec::StringAt(*Get(Slice()), "metadata", "labels", "kubernetes.io/service-name"),
            "kubernetes");
}

TEST_F(KubernetesEndpointsTest, NothingIsWrittenWhileTheyAreRight) {
  const auto before = std::pair(Get(Endpoints()), Get(Slice()));
  for (int i = 0; i < 30; ++i) Advance(seconds(1));
  EXPECT_EQ(std::pair(Get(Endpoints()), Get(Slice())), before);
}

TEST_F(KubernetesEndpointsTest, ComeBackAfterADelete) {
  Advance(seconds(1));
  Delete(Endpoints());
  Delete(Slice());
  EXPECT_EQ(Addresses(), "|");
  Advance(seconds(1));
  EXPECT_EQ(Addresses(), "10.0.0.1 | 10.0.0.1");
}

TEST_F(KubernetesEndpointsTest, ComeBackAfterTheServiceTookThemAlong) {
  Advance(seconds(1));
  Delete(At("services", "default", "kubernetes"));
  EXPECT_EQ(Addresses(), "| 10.0.0.1");
  Advance(seconds(10));
  EXPECT_EQ(Addresses(), "10.0.0.1 | 10.0.0.1");
  EXPECT_TRUE(Exists(At("services", "default", "kubernetes")));
}

TEST_F(KubernetesEndpointsTest, ArePutRightAndKeepWhatOthersAdded) {
  const auto spoil = [](codec::Value& object) {
    codec::SetAt(object, {"metadata", "labels"}, codec::Object{{"mine", "yes"}});
    for (const char* field : {"subsets", "endpoints", "ports"}) codec::EraseAt(object, {field});
  };
  Advance(seconds(1));
  Change(Endpoints(), spoil);
  Change(Slice(), spoil);
  EXPECT_EQ(Addresses(), "|");
  Advance(seconds(1));
  EXPECT_EQ(Addresses(), "10.0.0.1 | 10.0.0.1");
  EXPECT_EQ(*codec::FindAt(*Get(Endpoints()), "metadata", "labels"),
            Json("{'mine':'yes','endpointslice.kubernetes.io/skip-mirror':'true'}"));
  EXPECT_EQ(*codec::FindAt(*Get(Slice()), "metadata", "labels"),
            Json("{'mine':'yes','kubernetes.io/service-name':'kubernetes'}"));
}

TEST_F(KubernetesEndpointsTest, ThoseThatAreBeingDeletedAreLeftAlone) {
  Change(Slice(), [](codec::Value& object) { SetFinalizers(object, {"example.com/x"}); });
  Delete(Slice());
  const auto marked = Get(Slice());
  Advance(seconds(11));
  EXPECT_EQ(Get(Slice()), marked);
  Release(Slice());
  EXPECT_FALSE(Exists(Slice()));
  Advance(seconds(1));
  EXPECT_EQ(Addresses(), "10.0.0.1 | 10.0.0.1");
}

TEST_F(KubernetesEndpointsTest, FollowTheServersThatJoinAndLeave) {
  Advance(seconds(1));
  Join("other", "10.0.0.2");
  Join("unreachable", "");
  Advance(seconds(1));
  EXPECT_EQ(Addresses(), "10.0.0.1 10.0.0.2 | 10.0.0.1 10.0.0.2");
  Delete(At("allocation.berth.io/replicas", "", "other"));
  Advance(seconds(1));
  EXPECT_EQ(Addresses(), "10.0.0.1 | 10.0.0.1");
}

TEST_F(KubernetesEndpointsTest, AtAnotherAddressAfterARestart) {
  StartAs("10.0.0.9", 8443);
  EXPECT_EQ(Addresses(), "10.0.0.9 | 10.0.0.9");
  EXPECT_EQ(codec::IntAt(codec::ArrayAt(*Get(Slice()), "ports")[0], "port"), 8443);
}

TEST_F(KubernetesEndpointsTest, AnotherFamilyNeedsAnotherSlice) {
  const std::string uid = UidOf(Slice());
  StartAs("fd00::1");
  for (int i = 0; i < 3; ++i) Advance(seconds(1));
  EXPECT_EQ(Addresses(), "fd00::1 | fd00::1");
  EXPECT_EQ(codec::StringAt(*Get(Slice()), "addressType"), "IPv6");
  EXPECT_NE(UidOf(Slice()), uid);
}

}  // namespace
}  // namespace berth::controllers
