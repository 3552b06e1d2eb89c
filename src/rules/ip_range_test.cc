#include "rules/ip_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "codec/read.h"
#include "rules/node_port_range.h"
#include "rules/range_spec.h"
#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

codec::Value Range(const std::string& spec, const std::string& name = "extra") {
  return Json("{'metadata':{'name':'" + name + "','resourceVersion':'1'},'spec':" + spec + "}");
}

std::vector<std::string> CreateRange(const std::string& spec, const std::string& name = "extra") {
  return Lines(ValidateIpRangeCreate(Range(spec, name)));
}

std::vector<std::string> UpdateRange(const std::string& spec, const std::string& old) {
  return Lines(ValidateIpRangeUpdate(Range(spec), Range(old)));
}

std::vector<std::string> CreatePorts(const std::string& spec) {
  return Lines(ValidateNodePortRangeCreate(Range(spec)));
}

TEST(IpRange, AllThatMayBeSaid) {
  EXPECT_THAT(
      CreateRange(
          "{'range':'10.1.0.0/16','primary':true,'priority':-5,'staticBand':0,'strict':true,"
          "'disabled':true,'excluded':['10.1.0.1','10.1.2.0/24','192.0.2.1'],"
          "'coolDownSeconds':86400}"),
      IsEmpty());
  EXPECT_THAT(CreateRange("{'range':'2001:db8::/64','excluded':['2001:db8::/80']}"), IsEmpty());
}

TEST(IpRange, TheRangeItself) {
  EXPECT_THAT(CreateRange("{}"),
              ElementsAre("spec.range: Required value: the CIDR of the range, (e.g. "
                          "10.9.8.0/24 or 2001:db8::/64)"));
  EXPECT_THAT(CreateRange("{'range':'10.1.0.1/16'}"),
              ElementsAre("spec.range: Invalid value: \"10.1.0.1/16\": must not have bits set "
                          "beyond the prefix length; the CIDR that has this address is "
                          "\"10.1.0.0/16\""));
  EXPECT_THAT(CreateRange("{'range':'10.1.0.0/31'}"),
              ElementsAre(HasSubstr("spec.range: Invalid value: \"10.1.0.0/31\": a /31 has no")));
  EXPECT_THAT(CreateRange("{'range':'10.1.0.0/16'}", "Bad_Name"),
              ElementsAre(HasSubstr("metadata.name: Invalid value: \"Bad_Name\"")));
}

TEST(IpRange, Numbers) {
  EXPECT_THAT(
      CreateRange("{'range':'10.1.0.0/16','staticBand':-1,'coolDownSeconds':86401}"),
      ElementsAre("spec.staticBand: Invalid value: -1: must be greater than or equal to 0",
                  "spec.coolDownSeconds: Invalid value: 86401: must be between 0 and 86400, "
                  "inclusive"));
  EXPECT_THAT(CreateRange("{'range':'10.1.0.0/16','coolDownSeconds':-1}"), SizeIs(1));
}

TEST(IpRange, Excluded) {
  EXPECT_THAT(
      CreateRange("{'range':'10.1.0.0/16','excluded':['10.1.0.1','x','2001:db8::1']}"),
      ElementsAre(HasSubstr("spec.excluded[1]: Invalid value: \"x\": "),
                  "spec.excluded[2]: Invalid value: \"2001:db8::1\": must be of the IP family of "
                  "spec.range, which is IPv4"));
}

TEST(IpRange, ALongListOfExclusionsIsCountedAndNotRead) {
  codec::Array entries(kMostExcluded, "10.1.0.1");
  codec::Value range = Range("{'range':'10.1.0.0/16'}");
  codec::SetAt(range, {"spec", "excluded"}, entries);
  EXPECT_THAT(Lines(ValidateIpRangeCreate(range)), IsEmpty());
  entries.resize(10'000, "x");
  codec::SetAt(range, {"spec", "excluded"}, entries);
  EXPECT_THAT(Lines(ValidateIpRangeCreate(range)),
              ElementsAre("spec.excluded: Too many: 10000: must have at most 4096 items"));
}

TEST(IpRange, WellKnownNamesSayAFamily) {
  EXPECT_THAT(CreateRange("{'range':'10.1.0.0/16'}", "allocator.ipv4.k8s.io"), IsEmpty());
  EXPECT_THAT(CreateRange("{'range':'2001:db8::/64'}", "allocator.ipv6.k8s.io"), IsEmpty());
  EXPECT_THAT(CreateRange("{'range':'2001:db8::/64'}", "allocator.ipv4.k8s.io"),
              ElementsAre("spec.range: Invalid value: \"2001:db8::/64\": must be IPv4: the name "
                          "allocator.ipv4.k8s.io is that of the IPv4 range of the cluster"));
  EXPECT_THAT(CreateRange("{'range':'10.1.0.0/16'}", "allocator.ipv6.k8s.io"),
              ElementsAre(HasSubstr("must be IPv6: the name allocator.ipv6.k8s.io")));
}

TEST(IpRange, MayBecomeAnyOtherOfItsFamily) {
  EXPECT_THAT(UpdateRange("{'range':'10.0.0.0/28'}", "{'range':'10.0.0.0/24'}"), IsEmpty());
  EXPECT_THAT(UpdateRange("{'range':'192.168.0.0/24'}", "{'range':'10.0.0.0/24'}"), IsEmpty());
  EXPECT_THAT(UpdateRange("{'range':'2001:db8::/64'}", "{'range':'10.0.0.0/24'}"),
              ElementsAre("spec.range: Invalid value: \"2001:db8::/64\": must stay IPv4: the IP "
                          "family of a range cannot be changed; create another IPRange for IPv6"));
  EXPECT_THAT(UpdateRange("{'range':'10.0.0.1/24'}", "{'range':'10.0.0.0/24'}"), SizeIs(1));
  EXPECT_THAT(UpdateRange("{'range':'10.0.0.0/24','staticBand':-1}", "{'range':'10.0.0.0/24'}"),
              SizeIs(1));
}

TEST(IpRange, WhatIsThereStaysWritable) {
  // A range that today's rules would refuse can still be labelled, and its finalizers removed.
  EXPECT_THAT(UpdateRange("{'range':'10.0.0.0/32'}", "{'range':'10.0.0.0/32'}"), IsEmpty());
  EXPECT_THAT(Lines(ValidateRangeStatusUpdate(Range("{'range':'x'}"), Range("{'range':'x'}"))),
              IsEmpty());
  codec::Value moved = Range("{'range':'10.0.0.0/24'}");
  codec::SetAt(moved, {"metadata", "name"}, "other");
  EXPECT_THAT(Lines(ValidateIpRangeUpdate(moved, Range("{'range':'10.0.0.0/24'}"))),
              ElementsAre(HasSubstr("metadata.name: Invalid value: \"other\"")));
}

TEST(NodePortRange, AllThatMayBeSaid) {
  EXPECT_THAT(CreatePorts("{'range':'443','priority':9223372036854775807,'strict':true,"
                          "'excluded':['30100','30200-30299'],'coolDownSeconds':5}"),
              IsEmpty());
}

TEST(NodePortRange, WhatIsRefused) {
  EXPECT_THAT(CreatePorts("{}"), ElementsAre("spec.range: Required value: the ports of the range, "
                                             "(e.g. 443 or 30000-32767)"));
  EXPECT_THAT(CreatePorts("{'range':'200-100','staticBand':-3,'excluded':['a'],"
                          "'coolDownSeconds':100000}"),
              ElementsAre(HasSubstr("spec.range: Invalid value: \"200-100\": must not end before"),
                          HasSubstr("spec.staticBand: Invalid value: -3"),
                          HasSubstr("spec.excluded[0]: Invalid value: \"a\""),
                          HasSubstr("spec.coolDownSeconds: Invalid value: 100000")));
  EXPECT_THAT(CreatePorts("{'range':'0-10'}"), ElementsAre(HasSubstr("must not have port 0")));
  EXPECT_THAT(CreatePorts("{'range':'1-65536'}"), ElementsAre(HasSubstr("above 65535")));
}

TEST(NodePortRange, Update) {
  const codec::Value old = Range("{'range':'0-100'}");
  EXPECT_THAT(Lines(ValidateNodePortRangeUpdate(old, old)), IsEmpty());
  EXPECT_THAT(Lines(ValidateNodePortRangeUpdate(Range("{'range':'0-101'}"), old)), SizeIs(1));
  EXPECT_THAT(Lines(ValidateNodePortRangeUpdate(Range("{'range':'1-101'}"), old)), IsEmpty());
}

}  // namespace
}  // namespace berth::rules
