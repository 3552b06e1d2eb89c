// A Service takes its Endpoints along when it goes.
#include "allocation/service_endpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocation/testing/registry_stack.h"
#include "registry/deletion.h"

namespace berth::allocation {
namespace {

using allocation::testing::Text;
using ::testing::StartsWith;

class ServiceEndpointsTest : public allocation::testing::RegistryTest {
 protected:
  registry::Target Endpoints(std::string name, std::string name_space = "shop") const {
    return At("endpoints", std::move(name_space), std::move(name));
  }
  registry::Target Slice(std::string name) const {
    return At("discovery.k8s.io/endpointslices", "shop", std::move(name));
  }
  void Serve(const std::string& name, const std::string& metadata = "") {
    Must(Create(Service(""), "{'metadata':{'name':'" + name + "'" + metadata +
                                 "},'spec':{'ports':[{'port':80}]}}"));
  }
  void MakeEndpoints(const registry::Target& target, const std::string& metadata = "") {
    Must(Create(target, "{'metadata':{'name':'" + target.name + "'" + metadata + "}}"));
  }
  bool Exists(const registry::Target& target) const { return Get(target).has_value(); }
};

TEST_F(ServiceEndpointsTest, EndWithTheService) {
  Must(Create(At("namespaces", "", ""), "{'metadata':{'name':'shop-2'}}"));
  Serve("web");
  MakeEndpoints(Endpoints("web"));
  MakeEndpoints(Endpoints("web-2"));
  MakeEndpoints(Endpoints("web", "shop-2"));
  Must(Create(Slice(""), "{'metadata':{'name':'web'},'addressType':'IPv4'}"));
  Must(Delete(Service("web")));
  EXPECT_FALSE(Exists(Endpoints("web")));
  EXPECT_TRUE(Exists(Endpoints("web-2"))) << "those of another Service stay";
  EXPECT_TRUE(Exists(Endpoints("web", "shop-2"))) << "those of another namespace stay";
  EXPECT_TRUE(Exists(Slice("web"))) << "slices belong to whoever made them";
}

TEST_F(ServiceEndpointsTest, ADryRunLeavesThem) {
  Serve("web");
  MakeEndpoints(Endpoints("web"));
  Must(Delete(Service("web"), {}, {.dry_run = true}));
  EXPECT_TRUE(Exists(Endpoints("web")));
}

TEST_F(ServiceEndpointsTest, AServiceThatWaitsKeepsThem) {
  Serve("web", ",'finalizers':['example.com/x']");
  MakeEndpoints(Endpoints("web"));
  Must(Delete(Service("web")));
  EXPECT_TRUE(Exists(Endpoints("web"))) << "the Service is still there";
  Must(Update(Service("web"), "{'metadata':{'name':'web'},'spec':{'ports':[{'port':80}]}}"));
  EXPECT_FALSE(Exists(Service("web")));
  EXPECT_FALSE(Exists(Endpoints("web")));
}

TEST_F(ServiceEndpointsTest, FinalizersOfTheirOwnAreWaitedFor) {
  Serve("web");
  MakeEndpoints(Endpoints("web"), ",'finalizers':['example.com/x']");
  Must(Delete(Service("web")));
  EXPECT_FALSE(Exists(Service("web"))) << "the Service does not wait for its Endpoints";
  ASSERT_TRUE(Exists(Endpoints("web")));
  EXPECT_TRUE(registry::IsBeingDeleted(*Get(Endpoints("web"))));
  const auto marked = Get(Endpoints("web"));
  // A second Service of that name leaves with them as they are.
  Serve("web");
  Must(Delete(Service("web")));
  EXPECT_EQ(Get(Endpoints("web")), marked);
  Must(Update(Endpoints("web"), "{'metadata':{'name':'web'}}"));
  EXPECT_FALSE(Exists(Endpoints("web")));
}

TEST_F(ServiceEndpointsTest, EndpointsThatCannotBeReadDoNotKeepTheService) {
  Serve("web");
  store_.Put("/registry/services/endpoints/shop/web", "nonsense");
  PumpAll();
  EXPECT_THAT(Text(Delete(Service("web"))), StartsWith("deleted"));
  EXPECT_FALSE(Exists(Service("web")));
}

TEST_F(ServiceEndpointsTest, EndpointsThatChangeMeanwhileGoToo) {
  Serve("web");
  MakeEndpoints(Endpoints("web"));
  std::vector<std::string> answers;
  const auto note = [&answers](const base::Result<registry::Outcome>& outcome) {
    answers.push_back(Text(outcome));
  };
  registry_->Update(
      Endpoints("web"), {},
      Always(ParseFor(Endpoints("web"), "{'metadata':{'name':'web','labels':{'a':'1'}}}")), {},
      note);
  registry_->Delete(Service("web"), {}, {}, note);
  PumpAll();
  EXPECT_THAT(answers,
              ::testing::UnorderedElementsAre(StartsWith("updated"), StartsWith("deleted")));
  EXPECT_FALSE(Exists(Endpoints("web")));
}

}  // namespace
}  // namespace berth::allocation
