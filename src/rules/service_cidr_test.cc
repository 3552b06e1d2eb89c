#include "rules/service_cidr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "codec/json.h"
#include "codec/read.h"
#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

codec::Value Cidr(const std::string& cidrs) {
  return Json("{'metadata':{'name':'a.b','resourceVersion':'1'},'spec':{'cidrs':[" + cidrs + "]}}");
}

std::vector<std::string> CreateCidr(const std::string& cidrs) {
  return Lines(ValidateServiceCidrCreate(Cidr(cidrs)));
}

std::vector<std::string> UpdateCidr(const std::string& cidrs, const std::string& old) {
  return Lines(ValidateServiceCidrUpdate(Cidr(cidrs), Cidr(old)));
}

constexpr const char* kTwoOfOneFamily =
    "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";

TEST(ServiceCidr, OneOfEachFamily) {
  EXPECT_THAT(CreateCidr("'10.0.0.0/24'"), IsEmpty());
  EXPECT_THAT(CreateCidr("'2001:db8::/48','203.0.113.8/31'"), IsEmpty());
  EXPECT_THAT(CreateCidr(""),
              ElementsAre("spec.cidrs: Required value: at least one CIDR required"));
  EXPECT_THAT(CreateCidr("'10.0.0.0/24','2001:db8::/64','10.1.0.0/24'"),
              ElementsAre("spec.cidrs: Invalid value: {\"CIDRs\":[\"10.0.0.0/24\","
                          "\"2001:db8::/64\",\"10.1.0.0/24\"]}: may only hold up to 2 values"));
  EXPECT_THAT(
      CreateCidr("'10.0.0.0/24','10.1.0.0/24'"),
      ElementsAre(std::string("spec.cidrs: Invalid value: [\"10.0.0.0/24\",\"10.1.0.0/24\"]: ") +
                  kTwoOfOneFamily));
}

TEST(ServiceCidr, EachIsCanonical) {
  EXPECT_THAT(CreateCidr("'x'"),
              ElementsAre("spec.cidrs[0]: Invalid value: \"x\": must be a valid CIDR value, (e.g. "
                          "10.9.8.0/24 or 2001:db8::/64)"));
  EXPECT_THAT(CreateCidr("'10.0.0.1/24'"),
              ElementsAre("spec.cidrs[0]: Invalid value: \"10.0.0.1/24\": must not have bits set "
                          "beyond the prefix length"));
  EXPECT_THAT(CreateCidr("'2001:DB8::/64'"),
              ElementsAre("spec.cidrs[0]: Invalid value: \"2001:DB8::/64\": must be in canonical "
                          "form (\"2001:db8::/64\")"));
  EXPECT_THAT(CreateCidr("'10.0.0.0/24','bad'"), ElementsAre(HasSubstr("spec.cidrs[1]: Invalid")));
  // Two CIDRs that are invalid in themselves can still be of one family.
  EXPECT_THAT(CreateCidr("'010.0.0.0/24','10.1.0.0/24'"),
              ElementsAre(HasSubstr("spec.cidrs[0]: Invalid value: \"010.0.0.0/24\": must not have "
                                    "leading 0s"),
                          HasSubstr(kTwoOfOneFamily)));
}

TEST(ServiceCidr, Name) {
  EXPECT_THAT(Lines(ValidateServiceCidrCreate(
                  Json("{'metadata':{'name':'Bad_Name'},'spec':{'cidrs':['10.0.0.0/24']}}"))),
              ElementsAre(HasSubstr("metadata.name: Invalid value: \"Bad_Name\": a lowercase RFC "
                                    "1123 subdomain")));
}

TEST(ServiceCidr, WhatItHasItKeeps) {
  EXPECT_THAT(UpdateCidr("'10.0.0.0/24'", "'10.0.0.0/24'"), IsEmpty());
  EXPECT_THAT(UpdateCidr("'10.1.0.0/24'", "'10.0.0.0/24'"),
              ElementsAre("spec.cidrs[0]: Invalid value: \"10.1.0.0/24\": field is immutable"));
  EXPECT_THAT(UpdateCidr("", "'10.0.0.0/24'"),
              ElementsAre("spec.cidrs: Invalid value: []: field is immutable"));
  EXPECT_THAT(UpdateCidr("'10.0.0.0/24'", "'10.0.0.0/24','2001:db8::/48'"),
              ElementsAre("spec.cidrs: Invalid value: [\"10.0.0.0/24\"]: field is immutable"));
  EXPECT_THAT(UpdateCidr("'2001:db8::/48','10.0.0.0/24'", "'10.0.0.0/24','2001:db8::/48'"),
              ElementsAre("spec.cidrs[0]: Invalid value: \"2001:db8::/48\": field is immutable",
                          "spec.cidrs[1]: Invalid value: \"10.0.0.0/24\": field is immutable"));
}

TEST(ServiceCidr, ASecondFamilyMayBeAdded) {
  EXPECT_THAT(UpdateCidr("'10.0.0.0/24','2001:db8::/48'", "'10.0.0.0/24'"), IsEmpty());
  EXPECT_THAT(UpdateCidr("'10.0.0.0/24','10.1.0.0/24'", "'10.0.0.0/24'"),
              ElementsAre(HasSubstr(kTwoOfOneFamily)));
  EXPECT_THAT(UpdateCidr("'10.0.0.0/24','x'", "'10.0.0.0/24'"),
              ElementsAre(HasSubstr("spec.cidrs[1]: Invalid value: \"x\"")));
  EXPECT_THAT(UpdateCidr("'10.1.0.0/24','2001:db8::/48'", "'10.0.0.0/24'"),
              ElementsAre("spec.cidrs[0]: Invalid value: \"10.1.0.0/24\": field is immutable"));
}

TEST(ServiceCidr, StatusHasItsOwnDoor) {
  const std::string status = "'status':{'conditions':[{'type':'Custom','status':'True'}]}";
  const codec::Value sent = Json("{'spec':{'cidrs':['10.0.0.0/24']}," + status + "}");

  codec::Value made = sent;
  PrepareServiceCidrCreate(made);
  EXPECT_THAT(codec::WriteJson(made), Not(HasSubstr("Custom")));

  codec::Value changed = sent;
  PrepareServiceCidrUpdate(changed, made);
  EXPECT_EQ(changed, made);

  const codec::Value old =
      Json("{'metadata':{'labels':{'a':'b'}},'spec':{'cidrs':['10.0.0.0/24']}}");
  codec::Value through_status = Json(
      "{'metadata':{'labels':{'c':'d'},'annotations':{'e':'f'},'finalizers':['g.io/h'],"
      "'ownerReferences':[{'name':'o'}],'managedFields':[{'manager':'m'}]},"
      "'spec':{'cidrs':['10.1.0.0/24']}," +
      status + "}");
  PrepareServiceCidrStatusUpdate(through_status, old);
  EXPECT_EQ(through_status, Json("{'metadata':{'labels':{'a':'b'},"
                                 "'managedFields':[{'manager':'m'}]},"
                                 "'spec':{'cidrs':['10.0.0.0/24']}," +
                                 status + "}"));
  // Neither conditions nor ranges are checked.
  EXPECT_THAT(Lines(ValidateServiceCidrStatusUpdate(Cidr("'x'"), Cidr("'x'"))), IsEmpty());
}

std::string ReadyOf(const codec::Value& cidr) {
  for (const codec::Value& condition : codec::ArrayAt(cidr, "status", "conditions")) {
    if (codec::StringAt(condition, "type") != "Ready") continue;
    return std::string(codec::StringAt(condition, "status")) + " " +
           std::string(codec::StringAt(condition, "reason")) + ": " +
           std::string(codec::StringAt(condition, "message"));
  }
  return "";
}

codec::Value Prepared(const std::string& cidrs) {
  codec::Value cidr = Cidr(cidrs);
  PrepareServiceCidrCreate(cidr);
  EXPECT_FALSE(HasCidrCondition(cidr));
  SetCidrCondition(cidr, {});
  EXPECT_TRUE(HasCidrCondition(cidr));
  return cidr;
}

TEST(ServiceCidr, HasItsFinalizerFromTheFirstMoment) {
  const codec::Value cidr = Prepared("'10.0.0.0/24'");
  EXPECT_TRUE(HasCidrFinalizer(cidr));
  EXPECT_EQ(ReadyOf(cidr), "True : Kubernetes Service CIDR is ready");
  codec::Value first = cidr;
  SetAt(first, {"metadata", "name"}, "kubernetes");
  SetAt(first, {"status"}, codec::Object());
  SetCidrCondition(first, {});
  EXPECT_EQ(ReadyOf(first), "True : Kubernetes default Service CIDR is ready");
  EXPECT_EQ(ReadyOf(Prepared("'2001:db8::/48'")), "True : Kubernetes Service CIDR is ready");
}

TEST(ServiceCidr, WithoutAnyAddressItIsNotReady) {
  for (const char* useless : {"203.0.113.7/32", "203.0.113.8/31", "0.0.0.0/0", "2001:db8::1/128"}) {
    EXPECT_EQ(ReadyOf(Prepared("'" + std::string(useless) + "'")),
              "False NoUsableAddress: " + std::string(useless) +
                  " has no address that a Service can have");
  }
  EXPECT_EQ(ReadyOf(Prepared("'203.0.113.8/31','2001:db8::/64'")),
            "True : 203.0.113.8/31 has no address that a Service can have");
}

TEST(ServiceCidr, ASecondCidrMayMakeItReady) {
  const codec::Value old = Prepared("'203.0.113.8/31'");
  codec::Value next = Cidr("'203.0.113.8/31','2001:db8::/64'");
  PrepareServiceCidrUpdate(next, old);
  EXPECT_THAT(ReadyOf(next), HasSubstr("True"));
}

TEST(ServiceCidr, AnUpdateKeepsTheFinalizerUnlessItIsBeingDeleted) {
  const codec::Value old = Prepared("'10.0.0.0/24'");
  codec::Value next = Cidr("'10.0.0.0/24'");
  PrepareServiceCidrUpdate(next, old);
  EXPECT_TRUE(HasCidrFinalizer(next));
  EXPECT_EQ(ReadyOf(next), ReadyOf(old));

  codec::Value leaving = old;
  codec::SetAt(leaving, {"metadata", "deletionTimestamp"}, "2026-11-15T04:35:00Z");
  codec::Value last = leaving;
  RemoveCidrFinalizer(last);
  PrepareServiceCidrUpdate(last, leaving);
  EXPECT_FALSE(HasCidrFinalizer(last));
}

TEST(ServiceCidr, OthersFinalizersAndConditionsStay) {
  codec::Value cidr = Prepared("'10.0.0.0/24'");
  codec::SetAt(cidr, {"metadata", "finalizers"},
               codec::Array{"ex.io/a", "networking.k8s.io/service-cidr-finalizer"});
  RemoveCidrFinalizer(cidr);
  EXPECT_EQ(codec::ArrayAt(cidr, "metadata", "finalizers"), codec::Array{"ex.io/a"});

  codec::SetAt(cidr, {"status", "conditions"}, codec::Array{codec::Object{{"type", "Custom"}}});
  EXPECT_FALSE(IsCidrTerminating(cidr));
  SetCidrTerminating(cidr, {});
  EXPECT_TRUE(IsCidrTerminating(cidr));
  EXPECT_EQ(codec::ArrayAt(cidr, "status", "conditions").size(), 2U);
  EXPECT_THAT(ReadyOf(cidr), HasSubstr("False Terminating: There are still IPAddresses"));
  codec::SetAt(cidr, {"metadata", "name"}, "kubernetes");
  SetCidrTerminating(cidr, {});
  EXPECT_THAT(ReadyOf(cidr),
              HasSubstr("False Terminating: The default ServiceCIDR is being replaced"));
}

}  // namespace
}  // namespace berth::rules
