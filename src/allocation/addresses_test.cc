#include "allocation/addresses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocation/ledger/ledger_view.h"
#include "allocation/testing/registry_stack.h"

namespace berth::allocation {
namespace {

using allocation::testing::Text;
using base::Reason;
using codec::IntAt;
using codec::StringAt;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

class AddressesTest : public allocation::testing::RegistryTest {
 protected:
  /// Creates a Service with these members of the spec, and port 80 unless they name ports.
  base::Result<registry::Outcome> Make(const std::string& name, const std::string& spec,
                                       const registry::CommonOptions& options = {}) {
    const bool has_ports = spec.find("'ports'") != std::string::npos;
    const std::string body = "{'metadata':{'name':'" + name + "'},'spec':{" +
                             (has_ports ? "" : "'ports':[{'port':80}]") +
                             (has_ports || spec.empty() ? "" : ",") + spec + "}}";
    return Create(Service(""), body, options);
  }
  codec::Value Made(const std::string& name, const std::string& spec = "") {
    return Show(Service(name), *Must(Make(name, spec)).written.object);
  }
  base::Result<registry::Outcome> Put(const std::string& name, const std::string& spec) {
    return Update(Service(name), "{'metadata':{'name':'" + name + "'},'spec':{" + spec + "}}");
  }
  /// Returns all records: addresses in the order of their text, then ports.
  std::vector<std::string> Records() const {
    std::vector<std::string> names;
    for (const char* prefix :
         {"/registry/ipaddresses/", "/registry/allocation.berth.io/nodeports/"}) {
      for (auto at = follower_->Current()->Seek(prefix); at.Valid(); at.Next()) {
        names.emplace_back(at.Get()->Name());
      }
    }
    return names;
  }
  static std::string Ip(const codec::Value& service) {
    return std::string(StringAt(service, "spec", "clusterIP"));
  }
  static int64_t NodePort(const codec::Value& service, size_t port = 0) {
    return IntAt(codec::ArrayAt(service, "spec", "ports")[port], "nodePort");
  }
};

TEST_F(AddressesTest, AServiceAndItsRecordsAreOneTransaction) {
  const int64_t before = Revision();
  const codec::Value service =
      Made("a", "'type':'LoadBalancer','externalTrafficPolicy':'Local','clusterIP':'10.96.0.10'");
  EXPECT_EQ(Ip(service), "10.96.0.10");
  const int64_t port = NodePort(service);
  const int64_t health = IntAt(service, "spec", "healthCheckNodePort");
  EXPECT_GE(port, 30086) << "from the dynamic band";
  EXPECT_GE(health, 30086);
  EXPECT_THAT(Records(), ::testing::UnorderedElementsAre("10.96.0.10", std::to_string(port),
                                                         std::to_string(health)));
  EXPECT_EQ(Revision(), before + 4) << "three records and the Service, which comes last";
  EXPECT_EQ(StringAt(service, "metadata", "resourceVersion"), std::to_string(Revision()));

  Must(Delete(Service("a")));
  EXPECT_THAT(Records(), SizeIs(0));
  EXPECT_EQ(Revision(), before + 8);
}

TEST_F(AddressesTest, ARecordSaysWhoseItIs) {
  const codec::Value service = Made("a", "'type':'NodePort'");
  const auto address = Get(At("networking.k8s.io/ipaddresses", "", Ip(service)));
  ASSERT_TRUE(address);
  EXPECT_EQ(StringAt(*address, "spec", "parentRef", "resource"), "services");
  EXPECT_EQ(StringAt(*address, "spec", "parentRef", "namespace"), "shop");
  EXPECT_EQ(StringAt(*address, "spec", "parentRef", "name"), "a");
  EXPECT_EQ(StringAt(*address, "metadata", "labels", "ipaddress.kubernetes.io/ip-family"), "IPv4");
  EXPECT_FALSE(codec::HasAt(*address, "metadata", "annotations")) << "how it was chosen is hidden";
  const auto found = follower_->Current()->Find("/registry/ipaddresses/" + Ip(service));
  EXPECT_THAT(std::string(found->Hidden()), HasSubstr("dynamic"));
  const auto port = follower_->Current()->Find("/registry/allocation.berth.io/nodeports/" +
                                               std::to_string(NodePort(service)));
  ASSERT_NE(port, nullptr);
  std::string json;
  port->AppendJson(json);
  EXPECT_THAT(json, HasSubstr(R"("service":{"namespace":"shop","name":"a","uid":")"));
}

TEST_F(AddressesTest, WhatCannotBeHadIsToldInUpstreamsWords) {
  Made("a", "'type':'NodePort','clusterIP':'10.96.0.10','ports':[{'port':80,'nodePort':30009}]");
  const struct {
    const char* spec;
    Reason reason;
    const char* message;
  } cases[] = {
      {"'clusterIP':'10.96.0.10'", Reason::kInvalid,
       "Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"10.96.0.10\"]: failed to "
       "allocate IP 10.96.0.10: provided IP is already allocated"},
      {"'clusterIP':'10.97.0.10'", Reason::kInvalid,
       "Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"10.97.0.10\"]: failed to "
       "allocate IP 10.97.0.10: the provided network does not match the current range"},
      {"'clusterIP':'10.96.0.0'", Reason::kInvalid,
       "Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"10.96.0.0\"]: failed to "
       "allocate IP 10.96.0.0: the provided network does not match the current range"},
      {"'type':'NodePort','ports':[{'port':80,'nodePort':30009}]", Reason::kInvalid,
       "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: 30009: provided port is "
       "already allocated"},
      {"'type':'NodePort','ports':[{'port':80,'nodePort':8080}]", Reason::kInvalid,
       "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: 8080: provided port is "
       "not in the valid range. The range of valid ports is 30000-32767"},
      {"'type':'LoadBalancer','externalTrafficPolicy':'Local','healthCheckNodePort':30009",
       Reason::kInternalError,
       "Internal error occurred: failed to allocate requested HealthCheck NodePort 30009: provided "
       "port is already allocated"},
  };
  const size_t before = Records().size();
  for (const auto& each : cases) {
    const auto made = Make("b", each.spec);
    ASSERT_FALSE(made) << each.spec;
    EXPECT_EQ(made.error().reason, each.reason) << each.spec;
    EXPECT_EQ(made.error().message, each.message);
  }
  EXPECT_EQ(Records().size(), before) << "nothing is taken when anything fails";
}

TEST_F(AddressesTest, ANameThatExistsIsToldBeforeAnAddressThatIsTaken) {
  Made("a", "'clusterIP':'10.96.0.10'");
  EXPECT_EQ(Text(Make("a", "'clusterIP':'10.96.0.10'")), "services \"a\" already exists");
}

TEST_F(AddressesTest, ADryRunShowsWhatCouldBeHadAndTakesNothing) {
  const int64_t before = Revision();
  const auto made = Make("a", "'type':'NodePort'", {.dry_run = true});
  ASSERT_TRUE(made);
  const codec::Value shown = Show(Service("a"), *made->written.object);
  EXPECT_THAT(Ip(shown), StartsWith("10.96."));
  EXPECT_GE(NodePort(shown), 30086);
  EXPECT_THAT(Records(), SizeIs(0));
  EXPECT_EQ(Revision(), before);
  EXPECT_FALSE(
      LedgerView(addresses_.ledger)
          .IsHeld({.pool = PoolId::kIpv4, .value = ip::ParseAddr(Ip(shown)).value().bits()}));
}

TEST_F(AddressesTest, TypeChangesTakeAndGiveInTheSameWrite) {
  const std::string ip = Ip(Made("a", "'type':'NodePort','ports':[{'port':80,'nodePort':30009}]"));
  EXPECT_THAT(Records(), ElementsAre(ip, "30009"));
  Must(Put("a", "'type':'ClusterIP','ports':[{'port':80}]"));
  EXPECT_THAT(Records(), ElementsAre(ip));
  Must(Put("a", "'type':'ExternalName','externalName':'example.com'"));
  EXPECT_THAT(Records(), SizeIs(0));
  Must(Put("a", "'clusterIP':'10.96.0.11','ports':[{'port':80}]"));
  EXPECT_THAT(Records(), ElementsAre("10.96.0.11"));
}

TEST_F(AddressesTest, AFailedUpdateKeepsWhatThereWas) {
  Made("a", "'type':'NodePort','ports':[{'port':80,'nodePort':30009}]");
  Made("b", "'type':'NodePort','ports':[{'port':80,'nodePort':30010}]");
  const std::vector<std::string> before = Records();
  EXPECT_THAT(Text(Put("b", "'type':'NodePort','ports':[{'port':80,'nodePort':30009}]")),
              HasSubstr("provided port is already allocated"));
  EXPECT_EQ(Records(), before);
}

TEST_F(AddressesTest, FinalizersKeepTheValuesUntilTheLastIsGone) {
  Must(Create(Service(""),
              "{'metadata':{'name':'a','finalizers':['ex.io/a']},"
              "'spec':{'clusterIP':'10.96.0.10','ports':[{'port':80}]}}"));
  Must(Delete(Service("a")));
  EXPECT_THAT(Records(), ElementsAre("10.96.0.10"));
  // Some controllers do this through the status.
  Must(Update(Service("a"), "{'metadata':{'name':'a'}}", registry::Door::kStatus));
  EXPECT_FALSE(Get(Service("a")));
  EXPECT_THAT(Records(), SizeIs(0));
}

TEST_F(AddressesTest, WhatIsMadeThroughItsStatusKeepsNothingThatNobodyReserved) {
  Must(Update(Service("a"),
              "{'metadata':{'name':'a'},'spec':{'type':'NodePort','clusterIP':'10.96.0.10',"
              "'clusterIPs':['10.96.0.10'],'ports':[{'port':80,'nodePort':30009}]}}",
              registry::Door::kStatus));
  const auto made = Get(Service("a"));
  ASSERT_TRUE(made);
  EXPECT_EQ(Ip(*made), "");
  EXPECT_EQ(NodePort(*made), 0);
  EXPECT_THAT(Records(), SizeIs(0));
  // The next write of the Service itself takes what the Service lacks.
  Must(Put("a", "'type':'NodePort','ports':[{'port':80,'nodePort':30009}]"));
  EXPECT_THAT(Records(), SizeIs(2));
}

TEST_F(AddressesTest, AReservationIsRespectedAndEnds) {
  const registry::Target reservation = At("networking.k8s.io/ipaddresses", "", "10.96.0.10");
  Must(Create(At("networking.k8s.io/ipaddresses", "", ""),
              "{'metadata':{'name':'10.96.0.10'},"
              "'spec':{'parentRef':{'resource':'devices','name':'printer'}}}"));
  EXPECT_THAT(Text(Make("a", "'clusterIP':'10.96.0.10'")), HasSubstr("already allocated"));
  Must(Delete(reservation));
  Must(Make("a", "'clusterIP':'10.96.0.10'"));
  EXPECT_THAT(Text(Delete(reservation)), HasSubstr("shop/a"));
}

class SmallRangesTest : public AddressesTest {
 protected:
  SmallRangesTest() {
    // Two addresses of one family, and five of the other.
    registry_with_hooks_.reset();
    sequencer_.reset();
    follower_.reset();
    store_.Open();
    allocation::testing::TestAddresses::PutRanges(store_, kinds_, {"10.96.0.0/30", "fd00::/125"},
                                                  "30000-30001");
    small_.emplace(kinds_);
    follower_ = std::make_unique<state::Follower>(
        *store_.engine, resources_, std::vector<state::Listener*>{&small_->ledger},
        state::FollowerOptions(), store_.clock, store_.log);
    sequencer_ = std::make_unique<commit::Sequencer>(
        commit::SequencerParts{*store_.engine, *follower_, resources_, store_.clock, *follower_},
        commit::SequencerOptions());
    registry_with_hooks_ = std::make_unique<allocation::testing::TestRegistry>(
        kinds_, resources_, *sequencer_, small_->ledger, store_.clock);
    registry_ = &registry_with_hooks_->registry;
    PumpAll();
    Must(Create(At("namespaces", "", ""), "{'metadata':{'name':'shop'}}"));
  }
  ~SmallRangesTest() override {
    registry_with_hooks_.reset();
    sequencer_.reset();
    follower_.reset();
  }

  std::optional<allocation::testing::TestAddresses> small_;
};

TEST_F(SmallRangesTest, AFullRangeIsSaidWithWhatHelps) {
  Made("a");
  Made("b");
  const auto made = Make("c", "");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reason, Reason::kInternalError);
  EXPECT_EQ(made.error().message,
            "Internal error occurred: failed to allocate a serviceIP for Service \"c\": range is "
            "full");
  ASSERT_THAT(made.error().warnings, SizeIs(1));
  EXPECT_THAT(made.error().warnings[0],
              StartsWith("range 10.96.0.0/30 (kubernetes) is full: 2 of 2 in the dynamic band are "
                         "taken; "));
  Must(Delete(Service("a")));
  Must(Make("c", ""));
}

TEST_F(SmallRangesTest, ARefusalNamesTheAddressAsItWasWrittenAndItsHolder) {
  const std::string spec = "'clusterIP':'FD00::1'";
  const auto first = Make("a", spec);
  ASSERT_TRUE(first);
  EXPECT_THAT(first->warnings, ElementsAre(HasSubstr("canonical format (\"fd00::1\")")));
  const auto second = Make("b", spec);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message,
              EndsWith("Invalid value: [\"FD00::1\"]: failed to allocate IP "
                       "FD00::1: provided IP is already allocated"));
  EXPECT_THAT(second.error().hints,
              ElementsAre("fd00::1 is held by Service shop/a since 2026-11-15T04:35:00Z"));
  const auto again = Make("a", spec);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().reason, Reason::kAlreadyExists);
  EXPECT_THAT(again.error().warnings, SizeIs(1)) << "nothing is wrong with the object itself";
}

TEST_F(SmallRangesTest, BothFamiliesOrNone) {
  Made("a");
  Made("b");
  const size_t before = Records().size();
  EXPECT_THAT(Text(Make("c", "'ipFamilyPolicy':'RequireDualStack'")), HasSubstr("range is full"));
  EXPECT_EQ(Records().size(), before);
  const codec::Value six = Made("d", "'ipFamilies':['IPv6']");
  EXPECT_THAT(Ip(six), StartsWith("fd00::"));
}

TEST_F(SmallRangesTest, NodePortsRunOutInTheirOwnWords) {
  Made("a", "'type':'NodePort'");
  EXPECT_EQ(Text(Make("b",
                      "'type':'NodePort','ports':[{'name':'x','port':1},{'name':'y',"
                      "'port':2}]")),
            "Internal error occurred: failed to allocate a nodePort: range is full");
  Made("b",
       "'type':'NodePort','ports':[{'name':'x','port':1,'protocol':'TCP'},"
       "{'name':'y','port':1,'protocol':'UDP'}]");
  EXPECT_EQ(Text(Make("c",
                      "'ipFamilies':['IPv6'],'type':'LoadBalancer',"
                      "'allocateLoadBalancerNodePorts':false,'externalTrafficPolicy':'Local'")),
            "Internal error occurred: failed to allocate a HealthCheck NodePort 0: range is full");
}

TEST_F(SmallRangesTest, TheLastOneGoesToOneOfManyAtOnce) {
  Made("a");
  std::vector<std::string> answers;
  for (int i = 0; i < 5; ++i) {
    const std::string name = "s" + std::to_string(i);
    registry_->Create(Service(""),
                      ParseFor(Service(""), "{'metadata':{'name':'" + name +
                                                "'},'spec':{'ports':[{'port':80}]}}"),
                      {}, [&](const base::Result<registry::Outcome>& outcome) {
                        answers.push_back(Text(outcome));
                      });
  }
  EXPECT_THAT(answers, SizeIs(0)) << "a refusal waits for what is in flight";
  PumpAll();
  ASSERT_THAT(answers, SizeIs(5));
  EXPECT_EQ(std::count_if(answers.begin(), answers.end(),
                          [](const std::string& text) { return text.starts_with("created"); }),
            1);
}

}  // namespace
}  // namespace berth::allocation
