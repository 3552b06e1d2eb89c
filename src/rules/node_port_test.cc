#include "rules/node_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "codec/read.h"
#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

codec::Value Port(const std::string& spec, const std::string& name = "30080") {
  codec::Value port =
      Json("{'metadata':{'name':'" + name + "','resourceVersion':'1'},'spec':" + spec + "}");
  DefaultNodePort(port);
  return port;
}

std::vector<std::string> CreatePort(const std::string& spec, const std::string& name = "30080") {
  return Lines(ValidateNodePortCreate(Port(spec, name)));
}

TEST(NodePort, IsNamedByItsNumber) {
  EXPECT_EQ(ReadNodePortName("1"), 1);
  EXPECT_EQ(ReadNodePortName("65535"), 65535);
  for (const char* name :
       {"", "0", "00", "080", "65536", "99999999999", "-1", "+1", "80x", " 80"}) {
    EXPECT_EQ(ReadNodePortName(name), std::nullopt) << name;
  }
  EXPECT_THAT(CreatePort("{}"), IsEmpty());
  for (const char* name : {"0", "080", "65536", "web"}) {
    EXPECT_THAT(CreatePort("{}", name),
                ElementsAre(std::string("metadata.name: Invalid value: \"") + name +
                            "\": must be the number of a port, from 1 to 65535 and without leading "
                            "0s, (e.g. 30080)"));
  }
}

TEST(NodePort, IsReservedForNobodyOrForAService) {
  EXPECT_THAT(CreatePort("{'reservedFor':{'namespace':'shop','name':'web'}}"), IsEmpty());
  EXPECT_THAT(CreatePort("{'reservedFor':{'namespace':'shop','name':'web'},'holdSeconds':86400}"),
              IsEmpty());
  EXPECT_THAT(CreatePort("{'reservedFor':{}}"),
              ElementsAre("spec.reservedFor.namespace: Required value",
                          "spec.reservedFor.name: Required value"));
  EXPECT_THAT(CreatePort("{'reservedFor':{'namespace':'a/b','name':'W'}}"),
              ElementsAre(HasSubstr("spec.reservedFor.namespace: Invalid value: \"a/b\""),
                          HasSubstr("spec.reservedFor.name: Invalid value: \"W\"")));
}

TEST(NodePort, AHoldNeedsAnOwnerAndEnds) {
  EXPECT_THAT(CreatePort("{'holdSeconds':60}"),
              ElementsAre("spec.reservedFor: Required value: a hold is for a Service: name it, or "
                          "leave holdSeconds out to reserve without an end"));
  for (const char* seconds : {"0", "-1", "86401"}) {
    EXPECT_THAT(CreatePort(std::string("{'reservedFor':{'namespace':'shop','name':'web'},"
                                       "'holdSeconds':") +
                           seconds + "}"),
                ElementsAre(std::string("spec.holdSeconds: Invalid value: ") + seconds +
                            ": must be between 1 and 86400, inclusive"));
  }
}

TEST(NodePort, NamesItsRange) {
  EXPECT_EQ(Port("{'nodePortRangeRef':{'name':'low'}}"),
            Port("{'nodePortRangeRef':{'apiGroup':'allocation.berth.io','kind':'NodePortRange',"
                 "'name':'low'}}"));
  EXPECT_EQ(Port("{}"), Json("{'metadata':{'name':'30080','resourceVersion':'1'},'spec':{}}"));
  EXPECT_THAT(CreatePort("{'nodePortRangeRef':{'name':'low'}}"), IsEmpty());
  EXPECT_THAT(
      CreatePort("{'nodePortRangeRef':{'apiGroup':'v1','kind':'IPRange'}}"),
      ElementsAre("spec.nodePortRangeRef.apiGroup: Unsupported value: \"v1\": supported values: "
                  "\"allocation.berth.io\"",
                  "spec.nodePortRangeRef.kind: Unsupported value: \"IPRange\": supported values: "
                  "\"NodePortRange\"",
                  "spec.nodePortRangeRef.name: Required value"));
}

TEST(NodePort, StatusIsNeverTheClients) {
  codec::Value made = Port("{}");
  SetAt(made, {"status"}, Json("{'state':'Allocated','service':{'name':'x'}}"));
  PrepareNodePortCreate(made);
  EXPECT_EQ(*made.Find("status"), Json("{'state':'Reserved'}"));
  made = Port("{'holdSeconds':5}");
  PrepareNodePortCreate(made);
  EXPECT_EQ(*made.Find("status"), Json("{'state':'Pending'}"));

  const codec::Value old = made;
  codec::Value next = old;
  SetAt(next, {"status", "state"}, "Free");
  PrepareNodePortUpdate(next, old);
  EXPECT_EQ(next, old);
}

TEST(NodePort, SaysSinceWhenEvenIfAnOlderVersionWroteIt) {
  codec::Value port = Json(
      "{'metadata':{'name':'30080','creationTimestamp':'2026-11-15T04:35:00Z'},"
      "'status':{'state':'Allocated'}}");
  DecorateNodePort(port);
  EXPECT_EQ(StringAt(port, "status", "since"), "2026-11-15T04:35:00Z");
  SetAt(port, {"status", "since"}, "2026-11-16T00:00:00Z");
  DecorateNodePort(port);
  EXPECT_EQ(StringAt(port, "status", "since"), "2026-11-16T00:00:00Z");
}

TEST(NodePort, SpecStaysAsItIs) {
  const codec::Value old = Port("{'reservedFor':{'namespace':'shop','name':'web'}}");
  codec::Value next = old;
  SetAt(next, {"metadata", "labels"}, Json("{'a':'b'}"));
  EXPECT_THAT(Lines(ValidateNodePortUpdate(next, old)), IsEmpty());
  EXPECT_THAT(Lines(ValidateNodePortUpdate(
                  Port("{'reservedFor':{'namespace':'shop','name':'api'},'holdSeconds':9,"
                       "'nodePortRangeRef':{'name':'low'}}"),
                  old)),
              ElementsAre(HasSubstr("spec.nodePortRangeRef: Invalid value: "),
                          "spec.reservedFor: Invalid value: {\"namespace\":\"shop\",\"name\":"
                          "\"api\"}: field is immutable",
                          "spec.holdSeconds: Invalid value: 9: field is immutable"));
  EXPECT_THAT(Lines(ValidateNodePortUpdate(Port("{}"), old)),
              ElementsAre("spec.reservedFor: Invalid value: null: field is immutable"));
}

TEST(NodePort, TheRangeItWasGivenNeedNotBeNamedAgain) {
  const codec::Value old = Port("{'nodePortRangeRef':{'name':'low'}}");
  codec::Value next = Port("{}");
  PrepareNodePortUpdate(next, old);
  EXPECT_EQ(StringAt(next, "spec", "nodePortRangeRef", "name"), "low");
  EXPECT_THAT(Lines(ValidateNodePortUpdate(next, old)), IsEmpty());
}

TEST(NodePort, KnowsWhoHasIt) {
  EXPECT_FALSE(ServiceOfNodePort(Port("{'reservedFor':{'namespace':'shop','name':'web'}}")));
  const codec::Value taken =
      Json("{'status':{'service':{'namespace':'shop','name':'web','uid':'u'}}}");
  const auto owner = ServiceOfNodePort(taken);
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->name_space, "shop");
  EXPECT_EQ(owner->name, "web");

  const codec::Value service = Json(
      "{'metadata':{'namespace':'shop','name':'web'},'spec':{'type':'LoadBalancer',"
      "'externalTrafficPolicy':'Local','healthCheckNodePort':30081,"
      "'ports':[{'port':80,'nodePort':30080}]}}");
  EXPECT_TRUE(HasNodePort(service, "30080"));
  EXPECT_TRUE(HasNodePort(service, "30081"));
  EXPECT_FALSE(HasNodePort(service, "30082"));
  EXPECT_FALSE(HasNodePort(service, "x"));
  EXPECT_EQ(
      NodePortHeldByService(service),
      "the Service \"shop/web\" has this port; to free the port, delete the Service or change "
      "it so that it has another one or none");
}

}  // namespace
}  // namespace berth::rules
