#include "rules/service_cidr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "rules/testing.h"

namespace berth::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

codec::Value Cidr(const std::string& cidrs) {
  return Json("{'metadata':{'name':'a.b','resourceVersion':'1'},'spec':{'cidrs':[" + cidrs + "]}}");
}

std::vector<std::string> Create(const std::string& cidrs) {
  return Lines(ValidateServiceCidrCreate(Cidr(cidrs)));
}

std::vector<std::string> Update(const std::string& cidrs, const std::string& old) {
  return Lines(ValidateServiceCidrUpdate(Cidr(cidrs), Cidr(old)));
}

constexpr const char* kTwoOfOneFamily =
    "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";

TEST(ServiceCidr, OneOfEachFamily) {
  EXPECT_THAT(Create("'10.0.0.0/24'"), IsEmpty());
  EXPECT_THAT(Create("'2001:db8::/48','203.0.113.8/31'"), IsEmpty());
  EXPECT_THAT(Create(""), ElementsAre("spec.cidrs: Required value: at least one CIDR required"));
  EXPECT_THAT(Create("'10.0.0.0/24','2001:db8::/64','10.1.0.0/24'"),
              ElementsAre("spec.cidrs: Invalid value: {\"CIDRs\":[\"10.0.0.0/24\","
                          "\"2001:db8::/64\",\"10.1.0.0/24\"]}: may only hold up to 2 values"));
  EXPECT_THAT(
      Create("'10.0.0.0/24','10.1.0.0/24'"),
      ElementsAre(std::string("spec.cidrs: Invalid value: [\"10.0.0.0/24\",\"10.1.0.0/24\"]: ") +
                  kTwoOfOneFamily));
}

TEST(ServiceCidr, EachIsCanonical) {
  EXPECT_THAT(Create("'x'"),
              ElementsAre("spec.cidrs[0]: Invalid value: \"x\": must be a valid CIDR value, (e.g. "
                          "10.9.8.0/24 or 2001:db8::/64)"));
  EXPECT_THAT(Create("'10.0.0.1/24'"),
              ElementsAre("spec.cidrs[0]: Invalid value: \"10.0.0.1/24\": must not have bits set "
                          "beyond the prefix length"));
  EXPECT_THAT(Create("'2001:DB8::/64'"),
              ElementsAre("spec.cidrs[0]: Invalid value: \"2001:DB8::/64\": must be in canonical "
                          "form (\"2001:db8::/64\")"));
  EXPECT_THAT(Create("'10.0.0.0/24','bad'"), ElementsAre(HasSubstr("spec.cidrs[1]: Invalid")));
  // Two that are bad in themselves can be of one family all the same.
  EXPECT_THAT(Create("'010.0.0.0/24','10.1.0.0/24'"),
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
  EXPECT_THAT(Update("'10.0.0.0/24'", "'10.0.0.0/24'"), IsEmpty());
  EXPECT_THAT(Update("'10.1.0.0/24'", "'10.0.0.0/24'"),
              ElementsAre("spec.cidrs[0]: Invalid value: \"10.1.0.0/24\": field is immutable"));
  EXPECT_THAT(Update("", "'10.0.0.0/24'"),
              ElementsAre("spec.cidrs: Invalid value: []: field is immutable"));
  EXPECT_THAT(Update("'10.0.0.0/24'", "'10.0.0.0/24','2001:db8::/48'"),
              ElementsAre("spec.cidrs: Invalid value: [\"10.0.0.0/24\"]: field is immutable"));
  EXPECT_THAT(Update("'2001:db8::/48','10.0.0.0/24'", "'10.0.0.0/24','2001:db8::/48'"),
              ElementsAre("spec.cidrs[0]: Invalid value: \"2001:db8::/48\": field is immutable",
                          "spec.cidrs[1]: Invalid value: \"10.0.0.0/24\": field is immutable"));
}

TEST(ServiceCidr, ASecondFamilyMayBeAdded) {
  EXPECT_THAT(Update("'10.0.0.0/24','2001:db8::/48'", "'10.0.0.0/24'"), IsEmpty());
  EXPECT_THAT(Update("'10.0.0.0/24','10.1.0.0/24'", "'10.0.0.0/24'"),
              ElementsAre(HasSubstr(kTwoOfOneFamily)));
  EXPECT_THAT(Update("'10.0.0.0/24','x'", "'10.0.0.0/24'"),
              ElementsAre(HasSubstr("spec.cidrs[1]: Invalid value: \"x\"")));
  EXPECT_THAT(Update("'10.1.0.0/24','2001:db8::/48'", "'10.0.0.0/24'"),
              ElementsAre("spec.cidrs[0]: Invalid value: \"10.1.0.0/24\": field is immutable"));
}

TEST(ServiceCidr, StatusHasItsOwnDoor) {
  const std::string status = "'status':{'conditions':[{'type':'Ready','status':'True'}]}";
  const codec::Value plain = Json("{'spec':{'cidrs':['10.0.0.0/24']}}");
  const codec::Value ready = Json("{'spec':{'cidrs':['10.0.0.0/24']}," + status + "}");

  codec::Value made = ready;
  PrepareServiceCidrCreate(made);
  EXPECT_EQ(made, plain);

  codec::Value changed = plain;
  PrepareServiceCidrUpdate(changed, ready);
  EXPECT_EQ(changed, ready);

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
  // Conditions are not looked at, and neither are the ranges.
  EXPECT_THAT(Lines(ValidateServiceCidrStatusUpdate(Cidr("'x'"), Cidr("'x'"))), IsEmpty());
}

}  // namespace
}  // namespace berth::rules
