// Changes of ranges that one of the registered servers could not follow.
#include "allocation/range_replicas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocation/testing/registry_stack.h"

namespace berth::allocation {
namespace {

using allocation::testing::Text;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class RangeReplicasTest : public allocation::testing::RegistryTest {
 protected:
  void Register(const std::string& name, const std::string& gates,
                const std::string& capabilities = "'ranges'") {
    Must(Create(At("allocation.berth.io/replicas", "", ""),
                "{'metadata':{'name':'" + name + "'},'spec':{'version':'0.9','gates':{" + gates +
                    "},'capabilities':[" + capabilities + "]}}"));
  }
  void Unregister(const std::string& name) {
    Must(Delete(At("allocation.berth.io/replicas", "", name)));
  }
  base::Result<registry::Outcome> Make(const std::string& kind, const std::string& name,
                                       const std::string& spec) {
    return Create(At("allocation.berth.io/" + kind, "", ""), Object(name, spec));
  }
  base::Result<registry::Outcome> Change(const std::string& kind, const std::string& name,
                                         const std::string& spec) {
    return Update(At("allocation.berth.io/" + kind, "", name), Object(name, spec));
  }
  static std::string Object(const std::string& name, const std::string& spec) {
    return "{'metadata':{'name':'" + name + "'},'spec':{" + spec + "}}";
  }
  static void ExpectConflict(const base::Result<registry::Outcome>& outcome,
                             const std::string& why) {
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().reason, base::Reason::kConflict);
    EXPECT_THAT(outcome.error().message, HasSubstr(why));
  }
};

TEST_F(RangeReplicasTest, ABandNeedsItsGateOnEveryReplica) {
  Register("able", "'ServiceIPStaticSubrange':'true','ServiceNodePortStaticSubrange':'true'");
  Must(Make("ipranges", "before", "'range':'10.49.0.0/24','strict':true"));
  Register("old", "'ServiceIPStaticSubrange':'false','ServiceNodePortStaticSubrange':'true'");
  const std::string why =
      "replica \"old\" runs with ServiceIPStaticSubrange=false and cannot honour ";
  ExpectConflict(Make("ipranges", "a", "'range':'10.50.0.0/24','strict':true"),
                 why + "spec.strict");
  ExpectConflict(Make("ipranges", "a", "'range':'10.50.0.0/24','staticBand':8"),
                 why + "spec.staticBand");
  Must(Make("ipranges", "a", "'range':'10.50.0.0/24'"));
  ExpectConflict(Change("ipranges", "a", "'range':'10.50.0.0/24','strict':true"), why);
  Must(Change("ipranges", "a", "'range':'10.50.0.0/23','staticBand':0,'strict':true"));
  Must(Change("ipranges", "before", "'range':'10.49.0.0/23','strict':true"));
  Must(Change("ipranges", "before", "'range':'10.49.0.0/23'"));
  Must(Make("nodeportranges", "p", "'range':'20000-21000','strict':true"));
  Unregister("old");
  Must(Change("ipranges", "before", "'range':'10.49.0.0/23','strict':true,'staticBand':20"));
}

TEST_F(RangeReplicasTest, PortsHaveAGateOfTheirOwn) {
  Register("old", "'ServiceNodePortStaticSubrange':'false'");
  ExpectConflict(Make("nodeportranges", "p", "'range':'20000-21000','staticBand':9"),
                 "replica \"old\" runs with ServiceNodePortStaticSubrange=false and cannot honour "
                 "spec.staticBand; start it without that first");
  Must(Make("ipranges", "a", "'range':'10.50.0.0/24','strict':true"));
}

TEST_F(RangeReplicasTest, ASecondFamilyNeedsDualStackOnEveryReplica) {
  Register("old", "'IPv6DualStack':'false'");
  ExpectConflict(Make("ipranges", "six", "'range':'fd00::/112'"),
                 "replica \"old\" runs with IPv6DualStack=false");
  Must(Make("ipranges", "four", "'range':'10.50.0.0/24'"));
}

TEST_F(RangeReplicasTest, AVersionThatCannotFollowChangesIsNamed) {
  Register("ancient", "", "");
  ExpectConflict(Make("ipranges", "a", "'range':'10.50.0.0/24'"),
                 "replica \"ancient\" runs version 0.9, which cannot follow changes of ranges");
  Unregister("ancient");
  Register("new", "", "'ranges','more'");
  EXPECT_THAT(Text(Make("ipranges", "a", "'range':'10.50.0.0/24'")), StartsWith("created"));
}

TEST(ReplicaSkew, NamesTheReplicasOfEachValue) {
  std::vector<ReplicaInfo> replicas;
  for (int i = 0; i < 12; ++i) {
    const std::string on = i == 5 ? "false" : "true";
    replicas.push_back({.name = "r" + std::to_string(i),
                        .version = "1",
                        .traits = {{std::string(kLbNodePortsGate), on}, {"Same", "true"}}});
  }
  const ReplicaSkew skew(replicas);
  EXPECT_THAT(skew.Of("r5"), ::testing::ElementsAre("ServiceLBNodePortControl=false"));
  EXPECT_THAT(skew.Of("r6"), ::testing::ElementsAre("ServiceLBNodePortControl=true"));
  const RangeState ports{.pool = PoolId::kPorts, .kind = alloc::RangeKind::kNodePortRange};
  EXPECT_THAT(skew.About(ports, codec::Object(), {}).message,
              AllOf(HasSubstr("ServiceLBNodePortControl is false on replica \"r5\" and true on "
                              "replicas \"r0\", \"r1\", "),
                    HasSubstr(" and 3 more")));
  EXPECT_EQ(skew.About({.pool = PoolId::kIpv4}, codec::Object(), {}).reason, "");
}

}  // namespace
}  // namespace berth::allocation
