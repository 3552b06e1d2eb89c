#include "rules/ip_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kWeb = "'parentRef':{'resource':'services','namespace':'n','name':'web'}";

codec::Value Address(const std::string& metadata, const std::string& spec) {
  return Json("{'metadata':{" + metadata + "},'spec':{" + spec + "}}");
}

std::vector<std::string> CreateNamed(const std::string& name) {
  return Lines(ValidateIpAddressCreate(Address("'name':'" + name + "'", kWeb)));
}

std::vector<std::string> CreateWith(const std::string& spec) {
  return Lines(ValidateIpAddressCreate(Address("'name':'192.0.2.50'", spec)));
}

std::vector<std::string> UpdateAddress(const std::string& spec, const std::string& old_spec) {
  const std::string metadata = "'name':'192.0.2.50','resourceVersion':'1'";
  return Lines(ValidateIpAddressUpdate(Address(metadata, spec), Address(metadata, old_spec)));
}

TEST(IpAddress, NameIsACanonicalAddress) {
  EXPECT_THAT(CreateNamed("10.0.0.1"), IsEmpty());
  EXPECT_THAT(CreateNamed("2001:db8::1"), IsEmpty());
  constexpr const char* kNone = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
  EXPECT_THAT(CreateNamed("10.0.0"),
              ElementsAre(std::string("metadata.name: Invalid value: \"10.0.0\": ") + kNone));
  EXPECT_THAT(CreateNamed("010.0.0.1"),
              ElementsAre("metadata.name: Invalid value: \"010.0.0.1\": must not have leading 0s"));
  EXPECT_THAT(CreateNamed("::ffff:1.2.3.4"),
              ElementsAre("metadata.name: Invalid value: \"::ffff:1.2.3.4\": must not be an "
                          "IPv4-mapped IPv6 address"));
  EXPECT_THAT(CreateNamed("2001:DB8::1"),
              ElementsAre("metadata.name: Invalid value: \"2001:DB8::1\": must be in canonical "
                          "form (\"2001:db8::1\")"));
}

TEST(IpAddress, GenerateNameIsAnAddressToo) {
  EXPECT_THAT(
      Lines(ValidateIpAddressCreate(Address("'name':'10.0.0.1','generateName':'10.0.0.'", kWeb))),
      ElementsAre(HasSubstr("metadata.generateName: Invalid value: \"10.0.0.\": must be a "
                            "valid IP address")));
  EXPECT_THAT(Lines(ValidateIpAddressCreate(Address("", kWeb))),
              ElementsAre("metadata.name: Required value: name or generateName is required"));
}

TEST(IpAddress, Parent) {
  EXPECT_THAT(CreateWith(""), ElementsAre("spec.parentRef: Required value"));
  EXPECT_THAT(CreateWith("'parentRef':{}"), ElementsAre("spec.parentRef.resource: Required value",
                                                        "spec.parentRef.name: Required value"));
  EXPECT_THAT(CreateWith("'parentRef':{'group':'corp.io','resource':'reservations','name':'r'}"),
              IsEmpty());
  EXPECT_THAT(
      CreateWith(
          "'parentRef':{'group':'Bad_Group','resource':'a/b','namespace':'x%y','name':'..'}"),
      ElementsAre(
          HasSubstr("spec.parentRef.group: Invalid value: \"Bad_Group\": a lowercase RFC 1123"),
          "spec.parentRef.resource: Invalid value: \"a/b\": may not contain '/'",
          "spec.parentRef.name: Invalid value: \"..\": may not be '..'",
          "spec.parentRef.namespace: Invalid value: \"x%y\": may not contain '%'"));
}

TEST(IpAddress, ParentIsImmutable) {
  EXPECT_THAT(UpdateAddress(kWeb, kWeb), IsEmpty());
  EXPECT_THAT(
      UpdateAddress("'parentRef':{'resource':'services','namespace':'n','name':'other'}", kWeb),
      ElementsAre("spec.parentRef: Invalid value: {\"Group\":\"\",\"Resource\":\"services\","
                  "\"Namespace\":\"n\",\"Name\":\"other\"}: field is immutable"));
  EXPECT_THAT(UpdateAddress("", kWeb),
              ElementsAre("spec.parentRef: Required value",
                          "spec.parentRef: Invalid value: null: field is immutable"));
}

TEST(IpAddress, MetadataMayChange) {
  const codec::Value old = Address("'name':'10.0.0.1','resourceVersion':'1'", kWeb);
  EXPECT_THAT(Lines(ValidateIpAddressUpdate(
                  Address("'name':'10.0.0.1','resourceVersion':'1','labels':{'a':'b'},"
                          "'annotations':{'c':'d'},'finalizers':['e.io/f']",
                          kWeb),
                  old)),
              IsEmpty());
}

TEST(IpAddress, ParentServiceIsOneOfTheCoreGroup) {
  const codec::Value address = Address("", kWeb);
  const auto parent = ParentService(address);
  ASSERT_TRUE(parent);
  EXPECT_EQ(parent->name_space, "n");
  EXPECT_EQ(parent->name, "web");
  const auto has_parent = [](const std::string& ref) {
    return ParentService(Address("", "'parentRef':{" + ref + "}")).has_value();
  };
  EXPECT_FALSE(has_parent("'group':'corp.io','resource':'services','namespace':'n','name':'a'"));
  EXPECT_FALSE(has_parent("'resource':'routers','namespace':'n','name':'a'"));
  EXPECT_FALSE(has_parent("'resource':'services','name':'a'"));
  EXPECT_FALSE(has_parent("'resource':'services','namespace':'n'"));
  EXPECT_FALSE(ParentService(Address("", "")));
}

TEST(IpAddress, WhichAServiceHas) {
  const codec::Value service =
      Json("{'spec':{'type':'ClusterIP','clusterIPs':['10.0.0.1','2001:DB8:0::1']}}");
  EXPECT_TRUE(HasClusterIp(service, "10.0.0.1"));
  EXPECT_TRUE(HasClusterIp(service, "2001:db8::1"));
  EXPECT_FALSE(HasClusterIp(service, "10.0.0.2"));
  EXPECT_FALSE(HasClusterIp(service, "None"));
  EXPECT_FALSE(HasClusterIp(Json("{'spec':{'type':'ClusterIP','clusterIPs':['None']}}"), "None"));
  EXPECT_FALSE(
      HasClusterIp(Json("{'spec':{'type':'ExternalName','clusterIPs':['10.0.0.1']}}"), "10.0.0.1"));
}

}  // namespace
}  // namespace berth::rules
