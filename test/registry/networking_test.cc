// IPAddresses and ServiceCIDRs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocation/testing/registry_stack.h"
#include "codec/json.h"
#include "codec/testing_text.h"

namespace berth::registry {
namespace {

using allocation::testing::RegistryTest;
using allocation::testing::Text;
using base::Reason;
using codec::StringAt;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class IpAddressTest : public RegistryTest {
 protected:
  Target Ip(std::string name) const {
    return At("networking.k8s.io/ipaddresses", "", std::move(name));
  }
  static std::string Body(const std::string& metadata) {
    return "{'metadata':{" + metadata +
           "},'spec':{'parentRef':{'resource':'services','namespace':'shop','name':'web'}}}";
  }
  void MakeIp(const std::string& name, const std::string& more = "") {
    Must(Create(Ip(""), Body("'name':'" + name + "'" + more)));
  }

  /// Stores a Service as another server would, so that the snapshot does not show it yet.
  void StoreService(const std::string& spec) {
    store_.Put(
        resources_.Key(Kind("services").row->resource, "shop", "web"),
        codec::WriteJson(codec::Json("{'kind':'Service','apiVersion':'v1','metadata':{'name':'web',"
                                     "'namespace':'shop'},'spec':{" +
                                     spec + "}}")));
  }
  void RemoveService() {
    store_.Delete(resources_.Key(Kind("services").row->resource, "shop", "web"));
  }
  std::string Key(const std::string& name) const {
    return resources_.Key(Kind("networking.k8s.io/ipaddresses").row->resource, "", name);
  }
  std::string Stored(const std::string& name) const {
    const auto entry = store::GetNow(*store_.engine, Key(name));
    return *entry ? (*entry)->value : "nothing";
  }
  std::string Shown(const std::string& name) const {
    std::string json;
    if (const auto found = follower_->Current()->Find(Key(name))) found->AppendJson(json);
    return json;
  }
};

TEST_F(IpAddressTest, CannotBeDeletedWhileAServiceHasIt) {
  MakeIp("10.0.0.7");
  StoreService("'clusterIPs':['10.0.0.7']");
  PumpAll();
  const auto refused = Delete(Ip("10.0.0.7"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::kConflict);
  EXPECT_EQ(refused.error().message,
            "Operation cannot be fulfilled on ipaddresses.networking.k8s.io \"10.0.0.7\": the "
            "Service \"shop/web\" has this address; to free the address, delete the Service or "
            "change it so that it has another one or none");
  EXPECT_EQ(refused.error().details->name, "10.0.0.7");
  EXPECT_EQ(Text(Delete(Ip("10.0.0.7"), {}, {.dry_run = true})), refused.error().message);
  EXPECT_EQ(Text(Delete(Ip("10.0.0.8"))), "ipaddresses.networking.k8s.io \"10.0.0.8\" not found");

  RemoveService();
  PumpAll();
  EXPECT_THAT(Text(Delete(Ip("10.0.0.7"))), StartsWith("deleted"));
}

TEST_F(IpAddressTest, ThatItsParentDoesNotHaveCanBeDeleted) {
  for (const char* spec :
       {"'clusterIPs':['10.0.0.8']", "'clusterIPs':['None']",
        "'type':'ExternalName','externalName':'x.io','clusterIPs':['10.0.0.7']"}) {
    MakeIp("10.0.0.7");
    StoreService(spec);
    PumpAll();
    EXPECT_THAT(Text(Delete(Ip("10.0.0.7"))), StartsWith("deleted")) << spec;
  }
}

TEST_F(IpAddressTest, IsKeptForAServiceThatGotItAMomentAgo) {
  MakeIp("2001:db8::7");
  StoreService("'clusterIPs':['2001:DB8:0::7']");
  EXPECT_THAT(Text(Delete(Ip("2001:db8::7"))), HasSubstr("has this address"));
  EXPECT_TRUE(Get(Ip("2001:db8::7")));
}

TEST_F(IpAddressTest, CannotBeDeletedByItsLastFinalizerEither) {
  MakeIp("10.0.0.7", ",'finalizers':['ex.io/a']");
  ASSERT_THAT(Text(Delete(Ip("10.0.0.7"))), StartsWith("updated"));
  StoreService("'clusterIPs':['10.0.0.7']");
  PumpAll();
  EXPECT_THAT(Text(Update(Ip("10.0.0.7"), Body("'name':'10.0.0.7','labels':{'a':'b'},"
                                               "'finalizers':['ex.io/a']"))),
              StartsWith("updated"));
  EXPECT_THAT(Text(Update(Ip("10.0.0.7"), Body("'name':'10.0.0.7'"))),
              HasSubstr("the Service \"shop/web\" has this address"));
  EXPECT_TRUE(codec::HasAt(*Get(Ip("10.0.0.7")), "metadata", "finalizers"));
  RemoveService();
  PumpAll();
  EXPECT_THAT(Text(Update(Ip("10.0.0.7"), Body("'name':'10.0.0.7'"))), StartsWith("deleted"));
}

TEST_F(IpAddressTest, ThatAServiceHasIsNotMarkedAsDeletedEither) {
  MakeIp("10.0.0.7", ",'finalizers':['ex.io/a']");
  StoreService("'clusterIPs':['10.0.0.7']");
  PumpAll();
  EXPECT_THAT(Text(Delete(Ip("10.0.0.7"))), HasSubstr("has this address"));
  EXPECT_FALSE(codec::HasAt(*Get(Ip("10.0.0.7")), "metadata", "deletionTimestamp"));
}

TEST_F(IpAddressTest, MetadataCanBeChangedTheParentCannot) {
  MakeIp("10.0.0.7");
  EXPECT_THAT(Text(Update(Ip("10.0.0.7"),
                          Body("'name':'10.0.0.7','labels':{'a':'b'},'annotations':{'c':'d'}"))),
              StartsWith("updated"));
  EXPECT_EQ(StringAt(*Get(Ip("10.0.0.7")), "metadata", "labels", "a"), "b");
  EXPECT_THAT(Text(Update(Ip("10.0.0.7"),
                          "{'metadata':{'name':'10.0.0.7'},'spec':{'parentRef':{'resource':"
                          "'services','namespace':'shop','name':'other'}}}")),
              HasSubstr("\"Name\":\"other\"}: field is immutable"));
  EXPECT_EQ(Text(Update(Ip("10.0.0.8"), Body("'name':'10.0.0.8'"))),
            "ipaddresses.networking.k8s.io \"10.0.0.8\" not found");
}

TEST_F(IpAddressTest, GenerateNameIsTheName) {
  const std::string body = Body("'generateName':'10.0.0.7'");
  Must(Create(Ip(""), body));
  EXPECT_EQ(StringAt(*Get(Ip("10.0.0.7")), "metadata", "generateName"), "10.0.0.7");
  const auto again = Create(Ip(""), body);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "ipaddresses.networking.k8s.io \"10.0.0.7\" already exists");
  EXPECT_EQ(again.error().details->retry_after_seconds, 1);
}

constexpr const char* kChosen = "internal.allocation.berth.io/chosen";

TEST_F(IpAddressTest, HowItWasChosenIsKeptAndNotShown) {
  const auto put = [this](const std::string& annotations) {
    store_.Put(Key("10.0.0.7"),
               codec::WriteJson(codec::Json(
                   "{'kind':'IPAddress','apiVersion':'networking.k8s.io/v1','metadata':{'name':"
                   "'10.0.0.7','uid':'u','annotations':{" +
                   annotations +
                   "}},'spec':{'parentRef':{'resource':'services','namespace':'shop','name':"
                   "'web'}}}")));
    PumpAll();
  };
  put(std::string("'") + kChosen + "':'static'");
  EXPECT_THAT(Shown("10.0.0.7"), AllOf(HasSubstr("10.0.0.7"), Not(HasSubstr("annotations"))));

  // A client's write keeps it, whatever the write says.
  Must(Update(Ip("10.0.0.7"), Body(std::string("'name':'10.0.0.7','finalizers':['ex.io/a'],"
                                               "'annotations':{'a':'b','") +
                                   kChosen + "':'dynamic'}")));
  EXPECT_THAT(Shown("10.0.0.7"), AllOf(HasSubstr(R"("a":"b")"), Not(HasSubstr("chosen"))));
  EXPECT_THAT(Stored("10.0.0.7"),
              AllOf(HasSubstr(kChosen), HasSubstr("static"), Not(HasSubstr("dynamic"))));
  EXPECT_THAT(Text(Update(Ip("10.0.0.7"), Body("'name':'10.0.0.7','finalizers':['ex.io/a'],"
                                               "'annotations':{'a':'b'}"))),
              StartsWith("unchanged"));
  ASSERT_THAT(Text(Delete(Ip("10.0.0.7"))), StartsWith("updated"));
  EXPECT_THAT(Stored("10.0.0.7"), HasSubstr("static"));
  const auto last = Update(Ip("10.0.0.7"), Body("'name':'10.0.0.7'"));
  ASSERT_THAT(Text(last), StartsWith("deleted"));
}

TEST_F(IpAddressTest, AClientCannotSayHowItWasChosen) {
  MakeIp("10.0.0.7", std::string(",'annotations':{'") + kChosen + "':'dynamic'}");
  EXPECT_THAT(Stored("10.0.0.7"), Not(HasSubstr("chosen")));
  EXPECT_THAT(Shown("10.0.0.7"), Not(HasSubstr("chosen")));
}

class ServiceCidrTest : public RegistryTest {
 protected:
  Target Cidr(std::string name) const {
    return At("networking.k8s.io/servicecidrs", "", std::move(name));
  }
  static std::string Body(const std::string& cidrs, const std::string& status = "") {
    return "{'metadata':{'name':'a'},'spec':{'cidrs':[" + cidrs + "]},'status':{" + status + "}}";
  }
};

constexpr const char* kCustom = "'conditions':[{'type':'Custom','status':'True'}]";

std::string FirstCondition(const codec::Value& cidr) {
  const codec::Array& conditions = codec::ArrayAt(cidr, "status", "conditions");
  return conditions.empty() ? "" : std::string(codec::StringAt(conditions[0], "type"));
}

TEST_F(ServiceCidrTest, ItsStatusHasADoorOfItsOwn) {
  EXPECT_THAT(Text(Create(Cidr(""), Body(""))), HasSubstr("at least one CIDR required"));
  Must(Create(Cidr(""), Body("'10.0.0.0/24'", kCustom)));
  EXPECT_EQ(FirstCondition(*Get(Cidr("a"))), "");
  EXPECT_THAT(Text(Update(Cidr("a"), Body("'10.1.0.0/24'"))),
              HasSubstr("spec.cidrs[0]: Invalid value: \"10.1.0.0/24\": field is immutable"));
  EXPECT_THAT(Text(Update(Cidr("a"), Body("'10.0.0.0/24','2001:db8::/64'", kCustom))),
              StartsWith("updated"));
  EXPECT_EQ(FirstCondition(*Get(Cidr("a"))), "");

  EXPECT_THAT(Text(Update(Cidr("a"), Body("'x'", kCustom), Door::kStatus)), StartsWith("updated"));
  const codec::Value now = *Get(Cidr("a"));
  EXPECT_EQ(codec::ArrayAt(now, "spec", "cidrs").size(), 2U);
  EXPECT_EQ(FirstCondition(now), "Custom");
  EXPECT_EQ(Text(Update(Cidr("b"), "{'metadata':{'name':'b'},'spec':{'cidrs':['10.0.0.0/24']}}")),
            "servicecidrs.networking.k8s.io \"b\" not found");
}

}  // namespace
}  // namespace berth::registry
