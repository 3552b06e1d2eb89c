// Services that name the ranges of their values, and the errors they get.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "allocation/testing/registry_stack.h"

namespace berth::allocation {
namespace {

using base::Reason;
using codec::StringAt;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class NamedRangesTest : public allocation::testing::RegistryTest {
 protected:
  NamedRangesTest() {
    Must(Create(Range(""),
                "{'metadata':{'name':'allocator.ipv4.k8s.io'},"
                "'spec':{'range':'10.96.0.0/16','primary':true}}"));
    Must(Create(Range(""), "{'metadata':{'name':'blue'},'spec':{'range':'10.7.0.0/24'}}"));
    Must(Create(Range(""), "{'metadata':{'name':'six'},'spec':{'range':'fd00::/64'}}"));
    Must(Create(Ports(""), "{'metadata':{'name':'web'},'spec':{'range':'80-82'}}"));
  }

  registry::Target Range(std::string name) const {
    return At("allocation.berth.io/ipranges", "", name);
  }
  registry::Target Ports(std::string name) const {
    return At("allocation.berth.io/nodeportranges", "", name);
  }

  static std::string Body(const std::string& name, const std::string& ip_range,
                          const std::string& port_range, const std::string& spec) {
    const std::string annotations =
        (ip_range.empty() ? "" : "'allocation.berth.io/ip-range':'" + ip_range + "'") +
        std::string(ip_range.empty() || port_range.empty() ? "" : ",") +
        (port_range.empty() ? "" : "'allocation.berth.io/node-port-range':'" + port_range + "'");
    return "{'metadata':{'name':'" + name + "','annotations':{" + annotations + "}},'spec':{" +
           spec +
           (spec.find("'ports'") == std::string::npos
                ? std::string(spec.empty() ? "" : ",") + "'ports':[{'port':80}]"
                : "") +
           "}}";
  }
  static std::string Values(const codec::Value& service) {
    std::string text;
    for (const codec::Value& ip : codec::ArrayAt(service, "spec", "clusterIPs")) {
      text += (text.empty() ? "" : " ") + std::string(codec::Text(&ip));
    }
    for (const codec::Value& port : codec::ArrayAt(service, "spec", "ports")) {
      const int64_t number = codec::IntAt(port, "nodePort");
      if (number != 0) text += " " + std::to_string(number);
    }
    return text;
  }
  std::string Answer(const base::Result<registry::Outcome>& outcome) {
    if (outcome) return Values(Show(Service(""), *outcome->written.object));
    EXPECT_EQ(outcome.error().reason, Reason::kInvalid);
    return outcome.error().message;
  }
  std::string FromRange(const std::string& ip_range, const std::string& spec = "",
                        registry::CommonOptions options = {}) {
    return Answer(Create(Service(""), Body(Next(), ip_range, "", spec), options));
  }
  std::string FromPorts(const std::string& port_range,
                        const std::string& spec = "'type':'NodePort'") {
    return Answer(Create(Service(""), Body(Next(), "", port_range, spec)));
  }
  std::string Next() { return "s" + std::to_string(++made_); }

  int made_ = 0;
};

TEST_F(NamedRangesTest, EachNameIsForTheFamilyOfItsRange) {
  EXPECT_THAT(FromRange("blue"), StartsWith("10.7.0."));
  EXPECT_THAT(FromRange("six", "'ipFamilies':['IPv6']"), StartsWith("fd00:"));
  EXPECT_THAT(FromRange("blue,six"), StartsWith("10.7.0.")) << "the other one is for later";
  EXPECT_THAT(FromRange("six, blue", "'ipFamilyPolicy':'RequireDualStack'"),
              AllOf(StartsWith("10.7.0."), HasSubstr(" fd00:")));
  EXPECT_EQ(FromRange("blue", "'clusterIP':'10.7.0.9'"), "10.7.0.9");
  EXPECT_THAT(FromPorts("web"), AllOf(StartsWith("10.96."), HasSubstr(" 8")));
}

TEST_F(NamedRangesTest, TheRecordSaysWhichRangeItIsOf) {
  ASSERT_EQ(FromRange("blue", "'clusterIP':'10.7.0.9'"), "10.7.0.9");
  const auto shown = Get(At("allocation.berth.io/ipaddresses", "", "168230921"));
  ASSERT_TRUE(shown);
  EXPECT_EQ(StringAt(*shown, "spec", "ipRangeRef", "name"), "blue");
  ASSERT_THAT(FromPorts("web", "'type':'NodePort','ports':[{'port':80,'nodePort':81}]"),
              EndsWith(" 81"));
  EXPECT_EQ(StringAt(*Get(At("allocation.berth.io/nodeports", "", "81")), "spec",
                     "nodePortRangeRef", "name"),
            "web");
}

TEST_F(NamedRangesTest, WhatIsWrongWithANameIsSaidOfTheAnnotation) {
  const std::string at = "metadata.annotations[allocation.berth.io/ip-range]: Invalid value: ";
  EXPECT_EQ(FromRange("nowhere"), "Service \"s1\" is invalid: " + at +
                                      "\"nowhere\": there is no range \"nowhere\" of addresses");
  EXPECT_THAT(FromRange("web"),
              HasSubstr(at + "\"web\": \"web\" is no range of addresses but of ports"));
  EXPECT_THAT(FromRange("blue,allocator.ipv4.k8s.io"),
              HasSubstr("\"blue\" and \"allocator.ipv4.k8s.io\" are ranges of the same family"));
  EXPECT_THAT(FromRange("six"),
              HasSubstr(at + "\"six\": \"six\" is a range of a family of which the Service gets no "
                             "address; see spec.ipFamilies"));
  EXPECT_THAT(FromRange("blue", "'clusterIP':'10.96.0.9'"),
              HasSubstr(at + "\"blue\": the range \"blue\" (10.7.0.0/24) does not have the address "
                             "10.96.0.9"));
  Must(Update(Range("blue"),
              "{'metadata':{'name':'blue'},'spec':{'range':'10.7.0.0/24','disabled':true}}"));
  EXPECT_THAT(FromRange("blue"), HasSubstr("the range \"blue\" (10.7.0.0/24) is disabled"));
  EXPECT_THAT(FromRange("blue", "", {.dry_run = true}), HasSubstr("is disabled"));
}

TEST_F(NamedRangesTest, TheSameOfPorts) {
  const std::string at =
      "metadata.annotations[allocation.berth.io/node-port-range]: Invalid value: ";
  EXPECT_THAT(FromPorts("nowhere"),
              HasSubstr(at + "\"nowhere\": there is no range \"nowhere\" of ports"));
  EXPECT_THAT(FromPorts("blue"), HasSubstr("\"blue\" is no range of ports but of addresses"));
  EXPECT_THAT(FromPorts("web,blue"), HasSubstr("must be the name of one range"));
  EXPECT_THAT(FromPorts("web", "'type':'NodePort','ports':[{'port':80,'nodePort':30001}]"),
              HasSubstr(at + "\"web\": the range \"web\" (80-82) does not have the port 30001"));
}

TEST_F(NamedRangesTest, AFullOneIsSaidByItsName) {
  for (int i = 0; i < 3; ++i) ASSERT_THAT(FromPorts("web"), StartsWith("10.96."));
  const auto made = Create(Service(""), Body("full", "", "web", "'type':'NodePort'"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reason, Reason::kInvalid);
  EXPECT_THAT(made.error().message, EndsWith("the range \"web\" (80-82) is full"));
  EXPECT_THAT(made.error().warnings, ElementsAre(StartsWith("range 80-82 (web) is full: ")));
}

TEST_F(NamedRangesTest, TheHealthCheckIsOfNoRangeThatIsNamed) {
  const auto made =
      Create(Service(""), Body("lb", "", "web",
                               "'type':'LoadBalancer','externalTrafficPolicy':'Local','ports':"
                               "[{'name':'a','port':1},{'name':'b','port':2},"
                               "{'name':'c','port':3}]"));
  ASSERT_TRUE(made) << allocation::testing::Text(made);
  EXPECT_GE(codec::IntAt(Show(Service(""), *made->written.object), "spec", "healthCheckNodePort"),
            30000);
}

TEST_F(NamedRangesTest, AnUpdateTakesFromThemToo) {
  ASSERT_THAT(FromRange("blue,six"), StartsWith("10.7.0."));
  const std::string both = "'ipFamilyPolicy':'PreferDualStack'";
  EXPECT_THAT(Answer(Update(Service("s1"), Body("s1", "blue,six", "web", both))),
              AllOf(StartsWith("10.7.0."), HasSubstr(" fd00:")));
  EXPECT_THAT(
      Answer(Update(Service("s1"), Body("s1", "blue,six", "web", "'type':'NodePort'," + both))),
      HasSubstr(" 8"));
  EXPECT_THAT(Answer(Update(Service("s1"), Body("s1", "nowhere", "", "'type':'NodePort'," + both))),
              StartsWith("10.7.0."))
      << "what it has it keeps, whatever it names";
}

TEST_F(NamedRangesTest, WhyAValueOfARangeCannotBeHad) {
  Must(Update(Range("blue"),
              "{'metadata':{'name':'blue'},'spec':{'range':'10.7.0.0/24',"
              "'excluded':['10.7.0.128/25']}}"));
  EXPECT_THAT(FromRange("", "'clusterIP':'10.7.0.200'"),
              EndsWith("failed to allocate IP 10.7.0.200: provided IP is excluded from the range "
                       "\"blue\" (10.7.0.0/24)"));
  Must(Update(Range("blue"),
              "{'metadata':{'name':'blue'},'spec':{'range':'10.7.0.0/24','disabled':true}}"));
  EXPECT_THAT(FromRange("", "'clusterIP':'10.7.0.2'"),
              EndsWith("failed to allocate IP 10.7.0.2: provided IP is in the range \"blue\" "
                       "(10.7.0.0/24), which is disabled"));
  Must(Update(Ports("web"),
              "{'metadata':{'name':'web'},'spec':{'range':'80-82','excluded':['81']}}"));
  EXPECT_THAT(FromPorts("", "'type':'NodePort','ports':[{'port':80,'nodePort':81}]"),
              EndsWith("spec.ports[0].nodePort: Invalid value: 81: provided port is excluded from "
                       "the range \"web\" (80-82)"));
  Must(
      Update(Ports("web"), "{'metadata':{'name':'web'},'spec':{'range':'80-82','disabled':true}}"));
  EXPECT_THAT(FromPorts("", "'type':'NodePort','ports':[{'port':80,'nodePort':81}]"),
              EndsWith("81: provided port is in the range \"web\" (80-82), which is disabled"));
}

TEST_F(NamedRangesTest, AServiceCidrThatIsGoingAwayIsAsGoodAsGone) {
  const registry::Target cidr = At("networking.k8s.io/servicecidrs", "", "extra");
  Must(Create(cidr, "{'metadata':{'name':'extra'},'spec':{'cidrs':['10.200.0.0/24']}}"));
  EXPECT_THAT(FromRange("extra"), StartsWith("10.200.0."));
  Must(Delete(cidr));
  EXPECT_THAT(FromRange("", "'clusterIP':'10.200.0.99'"),
              EndsWith("the provided network does not match the current range"));
  EXPECT_THAT(FromRange("extra"), EndsWith("the range \"extra\" (10.200.0.0/24) is being deleted"));
}

}  // namespace
}  // namespace berth::allocation
