#include "controllers/range_takeover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "controllers/testing/controllers_kit.h"

namespace berth::controllers {
namespace {

using registry::Target;
using std::chrono::seconds;

/// A server with other range flags than its store has.
class RangeTakeoverTest : public testing::ControllersTest {
 protected:
  RangeTakeoverTest() {
    Must(Create(Range(),
                "{'metadata':{'name':'allocator.ipv4.k8s.io'},"
                "'spec':{'range':'10.96.0.0/16','primary':true}}"));
    // An update gives the ServiceCIDR its finalizer.
    Must(Update(Cidr("kubernetes"),
                "{'metadata':{'name':'kubernetes','labels':{'a':'b'}},"
                "'spec':{'cidrs':['10.96.0.0/16']}}"));
    Must(Create(Cidr(), "{'metadata':{'name':'next'},'spec':{'cidrs':['10.97.0.0/24']}}"));
    Must(Create(At("namespaces", "", ""), "{'metadata':{'name':'default'}}"));
    StartWith({"10.97.0.0/24"});
    Advance(seconds(11));
  }

  void StartWith(const std::vector<std::string>& cidrs) {
    asked_cidrs_.clear();
    for (const std::string& cidr : cidrs) asked_cidrs_.push_back(ip::ParseCidr(cidr).value());
    Restart();
  }
  Target Range(std::string name = "") const {
    return At("allocation.berth.io/ipranges", "", std::move(name));
  }
  Target Cidr(std::string name = "") const {
    return At("networking.k8s.io/servicecidrs", "", std::move(name));
  }
  void Serve(const std::string& name, const std::string& address) {
    Must(Create(Service(""), "{'metadata':{'name':'" + name + "'},'spec':{'clusterIP':'" + address +
                                 "','ports':[{'port':80}]}}"));
  }
  std::string First() const {
    return std::string(codec::StringAt(*Get(Range("allocator.ipv4.k8s.io")), "spec", "range"));
  }
  std::string Kubernetes() const {
    const auto service = Get(At("services", "default", "kubernetes"));
    return service ? std::string(codec::StringAt(*service, "spec", "clusterIP")) : "not found";
  }
  void AdvanceSome() {
    for (int i = 0; i < 5; ++i) Advance(seconds(1));
  }
};

TEST_F(RangeTakeoverTest, NothingHappensToARangeThatIsToStay) {
  EXPECT_EQ(First(), "10.96.0.0/16");
  EXPECT_EQ(Kubernetes(), "10.96.0.1");
}

TEST_F(RangeTakeoverTest, ItWaitsForTheServicesAndTakesKubernetesAlong) {
  Serve("a", "10.96.0.9");
  Must(RegistryTest::Delete(Cidr("kubernetes")));
  AdvanceSome();
  EXPECT_EQ(First(), "10.96.0.0/16");
  EXPECT_EQ(Kubernetes(), "10.96.0.1");
  Delete(Service("a"));
  AdvanceSome();
  EXPECT_EQ(First(), "10.97.0.0/24");
  EXPECT_EQ(Kubernetes(), "10.97.0.1");
  EXPECT_FALSE(codec::HasAt(*Get(Cidr("kubernetes")), "metadata", "deletionTimestamp"));
  const int64_t before = Revision();
  AdvanceSome();
  EXPECT_EQ(Revision(), before) << "that was all";
}

TEST_F(RangeTakeoverTest, ADisabledRangeIsOnItsWayOutToo) {
  Must(Update(Range("allocator.ipv4.k8s.io"),
              "{'metadata':{'name':'allocator.ipv4.k8s.io'},'spec':{'range':'10.96.0.0/16',"
              "'primary':true,'disabled':true}}"));
  AdvanceSome();
  EXPECT_EQ(First(), "10.97.0.0/24");
  EXPECT_EQ(Kubernetes(), "10.97.0.1");
  EXPECT_FALSE(codec::HasAt(*Get(Range("allocator.ipv4.k8s.io")), "spec", "disabled"));
}

TEST_F(RangeTakeoverTest, ItWaitsForTheAddressOfKubernetes) {
  Serve("a", "10.97.0.1");
  Must(RegistryTest::Delete(Cidr("kubernetes")));
  AdvanceSome();
  EXPECT_EQ(First(), "10.96.0.0/16");
  EXPECT_EQ(Kubernetes(), "10.96.0.1");
  Delete(Service("a"));
  AdvanceSome();
  EXPECT_EQ(Kubernetes(), "10.97.0.1");
}

TEST_F(RangeTakeoverTest, WithoutFlagsTheServiceCidrStaysAsItIs) {
  StartWith({});
  Must(RegistryTest::Delete(Cidr("kubernetes")));
  AdvanceSome();
  EXPECT_EQ(First(), "10.96.0.0/16");
  EXPECT_TRUE(codec::HasAt(*Get(Cidr("kubernetes")), "metadata", "deletionTimestamp"));
}

TEST_F(RangeTakeoverTest, WithoutItsFinalizerTheServiceCidrIsCreatedAgain) {
  StartWith({});
  Must(RegistryTest::Delete(Cidr("kubernetes")));
  AdvanceSome();
  const std::string uid = UidOf(Cidr("kubernetes"));
  Release(Cidr("kubernetes"));
  AdvanceSome();
  ASSERT_TRUE(Exists(Cidr("kubernetes")));
  EXPECT_NE(UidOf(Cidr("kubernetes")), uid);
  EXPECT_FALSE(codec::HasAt(*Get(Cidr("kubernetes")), "metadata", "deletionTimestamp"));
  EXPECT_EQ(codec::Texts(codec::ArrayAt(*Get(Cidr("kubernetes")), "spec", "cidrs")),
            std::vector<std::string>{"10.96.0.0/16"});
}

}  // namespace
}  // namespace berth::controllers
