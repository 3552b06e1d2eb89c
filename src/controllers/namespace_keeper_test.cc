#include "controllers/namespace_keeper.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "controllers/testing/controllers_kit.h"

namespace berth::controllers {
namespace {

using registry::Target;

class NamespaceKeeperTest : public testing::ControllersTest {
 protected:
  NamespaceKeeperTest() { Advance(std::chrono::minutes(1)); }

  Target Namespace(std::string name) const { return At("namespaces", "", std::move(name)); }
};

TEST_F(NamespaceKeeperTest, EveryClusterHasThese) {
  EXPECT_EQ(Names("namespaces", ""), "default kube-node-lease kube-public kube-system shop");
}

TEST_F(NamespaceKeeperTest, TheOneThatCanBeDeletedComesBackEmpty) {
  Make(At("coordination.k8s.io/leases", "kube-node-lease", "worker-1"));
  const std::string uid = UidOf(Namespace("kube-node-lease"));
  Delete(Namespace("kube-node-lease"));
  Run();
  EXPECT_TRUE(Exists(Namespace("kube-node-lease"))) << "at once, without any time passing";
  EXPECT_NE(UidOf(Namespace("kube-node-lease")), uid);
  EXPECT_EQ(Names("coordination.k8s.io/leases", "kube-node-lease"), "");
}

TEST_F(NamespaceKeeperTest, OthersStayDeleted) {
  Delete(Namespace("shop"));
  Advance(std::chrono::minutes(2));
  EXPECT_FALSE(Exists(Namespace("shop")));
}

TEST_F(NamespaceKeeperTest, OneThatIsLostInTheStoreComesBack) {
  store_.Delete("/registry/namespaces/kube-public");
  Run();
  EXPECT_TRUE(Exists(Namespace("kube-public")));
}

}  // namespace
}  // namespace berth::controllers
